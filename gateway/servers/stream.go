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

// markStream has the messages of a stream of events marked as they are read, with
// the flight whose request opened the stream.
func (m *marker) markStream(ctx context.Context, resp *http.Response) {
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "text/event-stream" {
		return
	}
	flight, _ := ctx.Value(flightKey{}).(int64)
	resp.Body = &eventStream{Closer: resp.Body, in: bufio.NewReaderSize(resp.Body, 4<<10), mark: m, flight: flight}
}

// eventStream reads server-sent events and marks the messages in them. A message
// that is spread over several data lines is left as it is, as is one that is
// longer than maxMarked.
type eventStream struct {
	io.Closer
	in     *bufio.Reader
	mark   *marker
	flight int64

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
		e.ready, e.line = e.marked(e.line), nil
	case len(e.line) > maxMarked || e.err != nil:
		e.ready, e.line, e.through = e.line, nil, true
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
