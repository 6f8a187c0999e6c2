package models

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxEvent is the longest event of a stream that is accepted, in bytes.
const maxEvent = 32 << 20

var errLongEvent = fmt.Errorf("one event of the stream is longer than %d bytes", maxEvent)

// Events reads the data of server-sent events, one at a time, as the HTML
// specification defines them (CR LF too, comments and other fields skipped,
// several data lines joined). It is not safe for concurrent use.
type Events struct {
	r    *bufio.Reader
	data []byte
}

// NewEvents returns a reader of r's events.
func NewEvents(r io.Reader) *Events { return &Events{r: bufio.NewReaderSize(r, 16<<10)} }

// eventPool keeps readers of streams that are over, for their buffers.
type eventPool struct{ pool sync.Pool }

func (p *eventPool) get(r io.Reader) *Events {
	e, ok := p.pool.Get().(*Events)
	if !ok {
		return NewEvents(r)
	}
	e.r.Reset(r)
	return e
}

// put takes a reader that nobody uses any more, nor the data it has returned.
func (p *eventPool) put(e *Events) {
	if cap(e.data) > 64<<10 {
		e.data = nil // one long event need not be paid for ever after
	}
	e.r.Reset(nil)
	p.pool.Put(e)
}

// Next returns the next event's data, valid until the call after. It returns
// io.EOF at the end; an event cut off by the end counts as io.ErrUnexpectedEOF.
func (e *Events) Next() ([]byte, error) {
	e.data = e.data[:0]
	some := false
	for {
		line, err := e.line()
		if err != nil {
			if errors.Is(err, io.EOF) && (some || len(line) > 0) {
				// A last event without its blank line is complete when its
				// data is: servers do end that way.
				return e.lastEvent(line, some)
			}
			return nil, err
		}
		if len(line) == 0 {
			if some {
				return e.data, nil
			}
			continue
		}
		some = e.take(line, some)
		if len(e.data) > maxEvent {
			return nil, errLongEvent
		}
	}
}

func (e *Events) lastEvent(line []byte, some bool) ([]byte, error) {
	if !e.take(line, some) {
		return nil, io.EOF
	}
	return e.data, nil
}

// take adds a line to the event; some says whether the event has data already,
// and the result whether it has now.
func (e *Events) take(line []byte, some bool) bool {
	value, ok := dataField(line)
	if !ok {
		return some
	}
	if some {
		e.data = append(e.data, '\n')
	}
	e.data = append(e.data, value...)
	return true
}

// Buffered reports whether a whole event can be read without waiting.
func (e *Events) Buffered() bool {
	n := e.r.Buffered()
	if n == 0 {
		return false
	}
	peek, _ := e.r.Peek(n)
	return bytes.Contains(peek, []byte("\n\n")) || bytes.Contains(peek, []byte("\r\n\r\n"))
}

// line returns the next line without its end.
func (e *Events) line() ([]byte, error) {
	line, err := e.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = e.longLine(line)
	}
	if err != nil {
		return line, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

func (e *Events) longLine(start []byte) ([]byte, error) {
	long := bytes.Clone(start)
	for {
		more, err := e.r.ReadSlice('\n')
		long = append(long, more...)
		if len(long) > maxEvent {
			return nil, errLongEvent
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return long, err
		}
	}
}

func dataField(line []byte) ([]byte, bool) {
	value, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return nil, false
	}
	return bytes.TrimPrefix(value, []byte(" ")), true
}
