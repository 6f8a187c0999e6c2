package servers

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
)

// maxMarked is how long a line of a stream of events may be, in bytes, and still
// be marked. A longer one, a large result most likely, passes as it comes.
const maxMarked = 256 << 10

type flightKey struct{}

// withFlight says for which flight a request is sent.
func withFlight(ctx context.Context, id int64) context.Context {
	return context.WithValue(ctx, flightKey{}, id)
}

func isEventStream(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// markStream has the messages of a stream of events marked as they are read, with
// the flight whose request opened the stream. open has room for each request among
// them that waits for our answer.
func (m *marker) markStream(ctx context.Context, resp *http.Response, open chan<- struct{}) {
	if !isEventStream(resp) {
		return
	}
	flight, _ := ctx.Value(flightKey{}).(int64)
	resp.Body = &eventStream{Closer: resp.Body, in: bufio.NewReaderSize(resp.Body, 4<<10), mark: m, flight: flight, ctx: resp.Request.Context(), open: open}
}

// eventStream reads server-sent events and marks the messages in them. A message
// that is spread over several data lines is left as it is, as is one that is
// longer than maxMarked.
type eventStream struct {
	io.Closer
	in     *bufio.Reader
	mark   *marker
	flight int64
	ctx    context.Context // of the request that opened the stream
	open   chan<- struct{}

	line    []byte // what was read of the line so far
	ready   []byte // what is to be handed out next
	through bool   // the rest of this line passes unseen
	err     error  // why there is no more
}

func (e *eventStream) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.fill()
	}
	n := copy(p, e.ready)
	e.ready = e.ready[n:]
	return n, nil
}

// fill reads up to the end of a line, or as much as is buffered.
func (e *eventStream) fill() {
	part, err := e.in.ReadSlice('\n')
	ended := err == nil
	if err != nil && err != bufio.ErrBufferFull {
		e.err = err
	}
	if e.through {
		e.ready, e.through = append(e.ready[:0], part...), !ended
		return
	}
	e.line = append(e.line, part...)
	switch {
	case ended:
		e.admit(e.line)
		e.ready, e.line = e.marked(e.line), nil
	case len(e.line) > maxMarked || e.err != nil:
		e.admit(e.line)
		e.ready, e.line, e.through = e.line, nil, true
	}
}

// admit waits, before a request of the server's, until fewer than maxUnanswered of
// them wait for our answer.
func (e *eventStream) admit(line []byte) {
	if !bytes.Contains(line, []byte(`"method"`)) || !bytes.Contains(line, []byte(`"id"`)) {
		return
	}
	select {
	case e.open <- struct{}{}:
	case <-e.ctx.Done():
	}
}

// marked returns a line, marked if it holds a whole message that is to be.
func (e *eventStream) marked(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	body := bytes.TrimSpace(data)
	if !ok || !bytes.Contains(body, []byte(`"method"`)) {
		return line
	}
	out := append([]byte("data: "), e.mark.message(body, e.flight)...)
	return append(out, line[len(bytes.TrimRight(line, "\r\n")):]...)
}
