package servers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"
)

// errCallEnded is why a question is taken back that no call waits for any more.
var errCallEnded = errors.New("the call has ended")

// flight is a call of ours that its server has yet to answer.
type flight struct {
	// Fixed when it begins.
	id   int64
	call Call
	ctx  context.Context // ends with it

	held    atomic.Int32  // questions of the server's that somebody has yet to answer
	changed chan struct{} // size 1: held has changed
}

// beginFlight begins a flight. end must be called at its end.
func (sess *session) beginFlight(ctx context.Context, call Call) (f *flight, end func()) {
	f = &flight{id: sess.lastFlight.Add(1), call: call, changed: make(chan struct{}, 1)}
	var cancel context.CancelCauseFunc
	f.ctx, cancel = context.WithCancelCause(ctx)
	sess.mu.Lock()
	sess.flights[f.id] = f
	sess.mu.Unlock()
	return f, func() {
		sess.mu.Lock()
		delete(sess.flights, f.id)
		sess.mu.Unlock()
		cancel(errCallEnded)
	}
}

// inFlight returns the flights that something the server sent may be about: the one
// with the id that the protocol told, or else all, the oldest first.
func (sess *session) inFlight(id int64) []*flight {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	if f := sess.flights[id]; f != nil {
		return []*flight{f}
	}
	flights := make([]*flight, 0, len(sess.flights))
	for _, id := range slices.Sorted(maps.Keys(sess.flights)) {
		flights = append(flights, sess.flights[id])
	}
	return flights
}

func callsOf(flights []*flight) []Call {
	calls := make([]Call, len(flights))
	for i, f := range flights {
		calls[i] = f.call
	}
	return calls
}

// hold keeps the time-outs of flights from running while a question that they may
// have caused is answered: people have a time of their own. The context it
// returns ends with the last of the flights.
func hold(ctx context.Context, flights []*flight) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var left atomic.Int32
	left.Store(int32(len(flights)))
	stops := make([]func() bool, len(flights))
	for i, f := range flights {
		f.add(1)
		stops[i] = context.AfterFunc(f.ctx, func() {
			if left.Add(-1) == 0 {
				cancel(errCallEnded)
			}
		})
	}
	return ctx, func() {
		for i, f := range flights {
			stops[i]()
			f.add(-1)
		}
		cancel(nil)
	}
}

// run has the time-out of the call begin anew, unless somebody has yet to answer a
// question.
func (f *flight) run(timer *time.Timer, timeout time.Duration) {
	if f.held.Load() > 0 {
		timer.Stop()
		return
	}
	timer.Reset(timeout)
}

func (f *flight) add(n int32) {
	f.held.Add(n)
	select {
	case f.changed <- struct{}{}:
	default: // it is about to look
	}
}
