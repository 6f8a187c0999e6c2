package httpapi

import (
	"pointsman/gateway/models"
	"pointsman/gateway/responses"
)

// parseResponses reads a request of the Responses API.
func parseResponses(data []byte) (*speech, error) {
	asked, err := responses.ParseRequest(data)
	if err != nil {
		return nil, err
	}
	return &speech{
		body: asked.Body, theirs: asked.Theirs, responses: true, wire: newResponseEvents(asked),
		whole: func(reply []byte) []byte { return responses.Object(asked, reply) },
	}, nil
}

// responseEvents is the wire of the Responses API: server-sent events that are
// named, the last of which tells how the response ended.
type responseEvents struct {
	writer *responses.Writer
	buffer []byte // of the call that is being made
}

func newResponseEvents(asked *responses.Request) *responseEvents {
	e := &responseEvents{}
	e.writer = responses.NewWriter(asked, e.add)
	return e
}

// add adds one event to the buffer.
func (e *responseEvents) add(kind string, data []byte) {
	e.buffer = append(append(append(e.buffer, "event: "...), kind...), '\n')
	e.buffer = serverSent{}.Event(e.buffer, data)
}

// into has the writer write into a buffer.
func (e *responseEvents) into(buffer []byte, write func()) []byte {
	e.buffer = buffer
	write()
	buffer, e.buffer = e.buffer, nil
	return buffer
}

func (*responseEvents) ContentType() string { return serverSent{}.ContentType() }

func (e *responseEvents) Event(buffer, payload []byte) []byte {
	return e.into(buffer, func() { e.writer.Take(payload) })
}

func (*responseEvents) Waiting(buffer []byte) []byte { return serverSent{}.Waiting(buffer) }

func (e *responseEvents) End(buffer []byte) []byte { return e.into(buffer, e.writer.End) }

func (e *responseEvents) Failure(buffer []byte, err *models.Error) []byte {
	return e.into(buffer, func() { e.writer.Fail(err) })
}
