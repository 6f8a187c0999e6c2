package httpapi

import (
	"net/http"

	"pointsman/gateway/loop"
	"pointsman/gateway/models"
)

// speech is a request in the words of one of OpenAI's APIs, and how it is answered.
type speech struct {
	body      *models.Body // as the loop takes it
	theirs    []string     // see loop.Request
	responses bool         // see models.Route
	wire      wire         // of a streamed answer
	// whole makes a plain answer of a chat completion.
	whole func(reply []byte) []byte
}

// conversation serves an API whose requests parse reads.
func (h *Handler) conversation(parse func(data []byte) (*speech, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		said, req, err := h.hear(w, r, parse)
		if err != nil {
			writeError(w, models.AsError(err))
			return
		}
		if said.body.Get("stream").Bool() {
			h.stream(w, r, req, said.wire)
			return
		}
		if reply, ok := h.run(w, r, req); ok {
			writeRaw(w, http.StatusOK, said.whole(reply))
		}
	}
}

// hear reads a request and makes a run of it.
func (h *Handler) hear(w http.ResponseWriter, r *http.Request, parse func(data []byte) (*speech, error)) (*speech, loop.Request, error) {
	data, err := h.readBody(w, r)
	if err != nil {
		return nil, loop.Request{}, err
	}
	said, err := parse(data)
	if err != nil {
		return nil, loop.Request{}, err
	}
	req, err := h.request(r, said.body)
	if err != nil {
		return nil, loop.Request{}, err
	}
	req.Theirs, req.Route.Responses = said.theirs, said.responses
	return said, req, nil
}

// parseChat reads the request of a chat completion.
func parseChat(data []byte) (*speech, error) {
	body, err := models.ParseBody(data)
	if err != nil {
		return nil, models.Invalid("", "%v", err)
	}
	return &speech{body: body, wire: serverSent{}, whole: func(reply []byte) []byte { return reply }}, nil
}
