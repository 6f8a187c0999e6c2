package httpapi

import (
	"net/http"
	"sync"
	"time"

	"pointsman/gateway/models"
)

// keepAlive is how long a stream may be silent before a comment is sent: the
// client sees that a tool runs or a person decides, and goes on waiting.
const keepAlive = 10 * time.Second

// writePatience is how long a client may stop reading before it is given up.
const writePatience = time.Minute

// wire is how a streamed answer looks on the wire. Its methods add to a buffer,
// and are called by one goroutine at a time.
type wire interface {
	ContentType() string
	// Event adds what a client gets for one event of the loop's stream.
	Event(buffer, payload []byte) []byte
	// Waiting adds what tells the client that we are still there.
	Waiting(buffer []byte) []byte
	// End adds what ends a stream that went well, Failure one that broke.
	End(buffer []byte) []byte
	Failure(buffer []byte, err *models.Error) []byte
}

// serverSent is OpenAI's wire: server-sent events.
type serverSent struct{}

func (serverSent) ContentType() string { return "text/event-stream" }

// Event adds an event. Line breaks would end its data.
func (serverSent) Event(buffer, payload []byte) []byte {
	return append(append(append(buffer, "data: "...), models.OneLine(payload)...), "\n\n"...)
}

func (serverSent) Waiting(buffer []byte) []byte { return append(buffer, ": waiting\n\n"...) }

func (serverSent) End(buffer []byte) []byte { return append(buffer, "data: [DONE]\n\n"...) }

func (s serverSent) Failure(buffer []byte, err *models.Error) []byte {
	return s.Event(buffer, err.JSON())
}

// eventWriter writes a streamed answer. The headers go out with the first event,
// or after keepAlive, whichever comes first.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	wire    wire
	refuse  func(*models.Error) // answers in the place of a stream that has not begun

	mu     sync.Mutex // guards the fields below and all writing
	begun  bool
	ended  bool
	last   time.Time // of the last write
	until  time.Time // when a write that does not end is given up
	timer  *time.Timer
	buffer []byte
}

func newEventWriter(w http.ResponseWriter, on wire, refuse func(*models.Error)) *eventWriter {
	e := &eventWriter{w: w, control: http.NewResponseController(w), wire: on, refuse: refuse, last: time.Now()}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = time.AfterFunc(keepAlive, e.comment)
	return e
}

// Begin takes the provider's headers; see loop.Sink.
func (e *eventWriter) Begin(header http.Header) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.begun {
		passHeaders(e.w.Header(), header)
	}
}

// Data takes one event; see loop.Sink.
func (e *eventWriter) Data(payload []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buffer = e.wire.Event(e.buffer, payload)
	return nil
}

// Flush sends what Data has taken; see loop.Sink.
func (e *eventWriter) Flush() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.flushLocked()
}

func (e *eventWriter) flushLocked() error {
	if len(e.buffer) == 0 || e.ended {
		return nil
	}
	e.beginLocked()
	e.last = time.Now()
	if e.until.Sub(e.last) < writePatience {
		e.until = e.last.Add(writePatience + time.Second) // a second more, to set it once in a second
		_ = e.control.SetWriteDeadline(e.until)           // not all writers can
	}
	_, err := e.w.Write(e.buffer)
	e.buffer = e.buffer[:0]
	if err != nil {
		return err
	}
	return e.control.Flush()
}

func (e *eventWriter) beginLocked() {
	if e.begun {
		return
	}
	e.begun = true
	header := e.w.Header()
	header.Set("Content-Type", e.wire.ContentType())
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	e.w.WriteHeader(http.StatusOK)
}

// comment is run by the timer. It tells the client that we are still there.
func (e *eventWriter) comment() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	if silent := time.Since(e.last); silent < keepAlive {
		e.timer.Reset(keepAlive - silent)
		return
	}
	e.buffer = e.wire.Waiting(e.buffer)
	if e.flushLocked() == nil {
		e.timer.Reset(keepAlive)
	}
}

// done ends a stream that went well.
func (e *eventWriter) done() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buffer = e.wire.End(e.buffer)
	_ = e.flushLocked() // a client that has gone cannot be told
}

// fail ends a stream that broke: as an error reply when nothing has been sent,
// else in the stream.
func (e *eventWriter) fail(err *models.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.begun {
		e.ended = true
		e.w.Header().Del("Cache-Control")
		e.refuse(err)
		return
	}
	e.buffer = e.wire.Failure(e.buffer, err)
	_ = e.flushLocked() // a client that has gone cannot be told
}

// close stops the timer. Nothing is written after it has returned.
func (e *eventWriter) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	e.timer.Stop()
}
