// Package journal is the record of what ran: each tool call with its decision
// and outcome, and each run. A call's row is on disk before the call runs, so
// not even kill -9 leaves a call without a trace.
//
// The record is one SQLite file that several processes may use at a time. A
// Journal owns one goroutine, its writer, which ends with Close. Callers queue;
// the writer commits what is queued together: at once when a call waits for its
// row, within 2 ms when a call has ended, otherwise within 40 ms. So a run that is over by then costs one row in a
// shared statement, and nobody forwards a request slower for it.
//
//	j, err := journal.Open(path, journal.Options{Redact: secrets.Redact})
//	…
//	err = j.Begin(ctx, journal.Call{ID: id, Server: "fs", Tool: "write_file"})
//	// the call runs
//	err = j.Finish(ctx, id, journal.End{Outcome: journal.OK})
package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// linger is how long the writer lets runs gather before it commits them.
	linger = 40 * time.Millisecond
	// lingerCall is the same when a call's end is among them: whoever looks into
	// the file next expects it there.
	lingerCall = 2 * time.Millisecond
	// maxQueue bounds what waits for the writer. When it is full, callers wait.
	maxQueue = 32768
	// maxResult is how much of a result is kept, in bytes.
	maxResult = 4 << 20
)

// ErrClosed is what writing to a closed Journal returns.
var ErrClosed = errors.New("the journal is closed")

// Options says what is recorded and how long it is kept.
type Options struct {
	KeepDays int    // rows older than this go; zero: kept
	MaxMB    int    // the oldest rows go when the record is larger; zero: no bound
	Results  string // redacted | none; empty: redacted

	// Redact takes credentials out of text. It is required: a record that
	// forgets to redact must not exist.
	Redact func(string) string
	// RedactJSON does so for arguments and returns JSON. Nil: Redact on their text.
	RedactJSON func(json.RawMessage) json.RawMessage

	Logger *slog.Logger     // nil: discard
	Now    func() time.Time // the clock rows are timed and aged by; nil: time.Now
}

func (o Options) complete() (Options, error) {
	if o.Redact == nil {
		return o, errors.New("no redaction was given")
	}
	if o.RedactJSON == nil {
		redact := o.Redact
		o.RedactJSON = func(raw json.RawMessage) json.RawMessage { return json.RawMessage(redact(string(raw))) }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	switch o.Results {
	case "", "redacted", "none":
		return o, nil
	default:
		return o, fmt.Errorf("journal.results is %q: use redacted or none", o.Results)
	}
}

// Journal writes the record, and reads it through its Reader. It is safe for
// concurrent use.
type Journal struct {
	*Reader
	opts     Options
	db       *sql.DB
	conn     *sql.Conn // the writer's alone once it runs
	stmts    *statements
	failing  bool // the writer's: the last transaction failed
	presence *presence
	setAside string

	wake  chan struct{} // size 1: there is something to write
	soon  chan struct{} // size 1: a call's end is among it
	hurry chan struct{} // size 1: somebody waits for it
	stop  chan struct{} // closed by Close
	done  chan struct{} // closed when the writer has ended

	mu      sync.Mutex // guards the fields below
	room    *sync.Cond // the queue was emptied, or closed
	queue   []op
	writing bool               // what was queued is on its way to disk
	open    map[string]*runRow // runs that have started and not finished
	closed  bool
}

// op is one thing to write: a run's row, or a call's.
type op struct {
	run  *runRow
	exec func(context.Context, *statements) error
	done chan error // size 1; receives when it is on disk, or why not
}

// Open opens the record at path, creating it when there is none, and starts its
// writer. Calls and runs that a process which is gone left without an outcome
// become "unknown". A file that is not a readable record is kept beside it, as
// SetAside tells, and a new one is begun.
func Open(path string, opts Options) (*Journal, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, fmt.Errorf("opening the journal %q: %w", path, err)
	}
	j := &Journal{
		opts:  opts,
		wake:  make(chan struct{}, 1),
		soon:  make(chan struct{}, 1),
		hurry: make(chan struct{}, 1),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
		open:  make(map[string]*runRow),
	}
	j.room = sync.NewCond(&j.mu)
	if err := j.connect(path); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the journal %q: %w", path, err), j.disconnect())
	}
	go j.write()
	return j, nil
}

// connect opens the file, marks this process as one of its writers and settles
// what dead ones left.
func (j *Journal) connect(path string) error {
	ctx := context.Background()
	var err error
	if j.db, j.setAside, err = openSound(ctx, path, j.opts); err != nil {
		return err
	}
	if j.presence, err = enter(path); err != nil {
		return err
	}
	if j.conn, err = j.db.Conn(ctx); err != nil {
		return err
	}
	if err := settleGone(ctx, j.conn, path); err != nil {
		return err
	}
	if j.stmts, err = prepare(ctx, j.conn); err != nil {
		return err
	}
	j.Reader, err = newReader(path)
	if err == nil {
		j.Reader.written = j.written
	}
	return err
}

// SetAside returns where Open moved a file that was damaged, or "".
func (j *Journal) SetAside() string { return j.setAside }

// Close writes what is queued and closes the record. Calls without an outcome
// become "unknown". It may be called twice.
func (j *Journal) Close() error {
	j.mu.Lock()
	first := !j.closed
	j.closed = true
	j.room.Broadcast()
	j.mu.Unlock()
	if !first {
		<-j.done
		return nil
	}
	close(j.stop)
	<-j.done
	if err := j.disconnect(); err != nil {
		return fmt.Errorf("closing the journal: %w", err)
	}
	return nil
}

// disconnect closes what connect opened.
func (j *Journal) disconnect() error {
	var errs []error
	if j.Reader != nil {
		errs = append(errs, j.Reader.Close())
	}
	if j.stmts != nil {
		errs = append(errs, j.stmts.close())
	}
	if j.conn != nil {
		errs = append(errs, j.conn.Close())
	}
	if j.db != nil {
		errs = append(errs, j.db.Close())
	}
	if j.presence != nil {
		errs = append(errs, j.presence.leave())
	}
	return errors.Join(errs...)
}

// enqueueLocked hands o to the writer. It waits for room; false means that the
// journal was closed. The caller holds mu.
func (j *Journal) enqueueLocked(o op) bool {
	for len(j.queue) >= maxQueue && !j.closed {
		nudge(j.hurry)
		j.room.Wait()
	}
	if j.closed {
		return false
	}
	j.queue = append(j.queue, o)
	if len(j.queue) == 1 {
		nudge(j.wake)
	}
	return true
}

// commit queues exec and waits until it is on disk, together with everything
// that was queued before it. It does not stop for a context: whoever gives up
// half way would not know what is recorded. SQLite's own time-out bounds it.
func (j *Journal) commit(exec func(context.Context, *statements) error) error {
	done := make(chan error, 1)
	j.mu.Lock()
	ok := j.enqueueLocked(op{exec: exec, done: done})
	j.mu.Unlock()
	if !ok {
		return ErrClosed
	}
	nudge(j.hurry)
	return <-done
}

// written waits until what was recorded so far is on disk, or ctx ends. Whoever
// reads then sees what it was told before.
func (j *Journal) written(ctx context.Context) {
	done := make(chan error, 1)
	j.mu.Lock()
	ok := (j.writing || len(j.queue) > 0) && j.enqueueLocked(op{done: done})
	j.mu.Unlock()
	if !ok {
		return
	}
	nudge(j.hurry)
	select {
	case <-done: // why it is not, the log tells
	case <-ctx.Done():
	}
}

// nudge signals without blocking; one signal that is not yet seen is enough.
func nudge(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
