// Package relay carries the messages of one MCP client, one a line, to whichever
// gateway answers: the resident, or one in this process. The client sees one
// server from beginning to end, also when the gateway behind goes away and
// another takes its place.
//
// What was in flight then fails, saying so: a call may have run, so none is ever
// sent again. With the client's next message a gateway is looked for, is told
// what the first one was told (initialize, subscriptions), and goes on.
//
// Run owns every goroutine and ends them, but for one: a read of In that cannot
// be interrupted ends with In's next line, or with the process.
package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"pointsman/gateway/mcpapi/lines"
)

// maxLine is how long a message of the client may be, in bytes.
const maxLine = 64 << 20

// grace is how long answers may take that are due when the client sends no more:
// a script closes its end as soon as it has asked.
const grace = 500 * time.Millisecond

// Options are what a relay is made of.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Dial opens a stream to a gateway. It is called in the beginning, and with the
	// client's next message after a stream was lost.
	Dial   func(ctx context.Context) (io.ReadWriteCloser, error)
	Logger *slog.Logger
}

// relay carries one client's messages.
type relay struct {
	opts    Options
	ctx     context.Context
	end     context.CancelCauseFunc
	readers sync.WaitGroup
	quiet   chan struct{} // size 1: nothing is in flight any more

	dialing sync.Mutex // held while a stream is opened; before mu

	writing sync.Mutex // held while a line is written to the client

	mu      sync.Mutex        // guards the fields below
	up      *upstream         // nil when there is none
	streams int               // that were opened
	flight  map[string]string // by id, the method of each request that the client waits for
	opening []message         // what every gateway has to be told in the beginning
}

// errFinished ends a relay whose client sends no more.
var errFinished = errors.New("the client sends no more")

// Run carries messages until the client closes its end (nil), ctx ends, or the
// client takes no more.
func Run(ctx context.Context, opts Options) error {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	r := &relay{opts: opts, flight: map[string]string{}, quiet: make(chan struct{}, 1)}
	r.ctx, r.end = context.WithCancelCause(ctx)
	defer r.end(nil)
	r.readers.Go(func() { _, _ = r.stream() }) // ahead of need; whoever needs it sees why it fails
	go r.read()
	<-r.ctx.Done()
	r.hangUp()
	r.readers.Wait()
	if err := context.Cause(r.ctx); !errors.Is(err, errFinished) {
		return err
	}
	return nil
}

// hangUp closes the stream to the gateway. No other is opened any more.
func (r *relay) hangUp() {
	r.dialing.Lock()
	defer r.dialing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.up != nil {
		r.up.close()
	}
}

// read takes the client's messages.
func (r *relay) read() {
	in := lines.NewReader(r.opts.In, maxLine)
	for r.ctx.Err() == nil {
		line, err := in.Next()
		if errors.Is(err, lines.ErrTooLong) {
			r.refuse("null", codeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxLine))
			continue
		}
		if len(line) > 0 && r.ctx.Err() == nil {
			r.take(bytes.TrimSpace(bytes.Clone(line)))
		}
		if err != nil {
			r.awaitAnswers()
			if err == io.EOF {
				err = errFinished
			}
			r.end(err)
		}
	}
}

// awaitAnswers waits, not for long, for the answers that are due.
func (r *relay) awaitAnswers() {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for r.due() {
		select {
		case <-r.quiet:
		case <-timer.C:
			return
		case <-r.ctx.Done():
			return
		}
	}
}

// due reports whether answers are. That to listening comes with its end.
func (r *relay) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, method := range r.flight {
		if method != methodListen {
			return true
		}
	}
	return false
}

// ended is a line with its end, to be written at once.
func ended(line []byte) []byte { return slices.Concat(line, []byte{'\n'}) }

// write sends a line to the client. That it takes none ends the relay.
func (r *relay) write(line []byte) {
	r.writing.Lock()
	defer r.writing.Unlock()
	if _, err := r.opts.Out.Write(ended(line)); err != nil {
		r.end(fmt.Errorf("writing to the client: %w", err))
	}
}
