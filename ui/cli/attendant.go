package cli

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
)

// desk is where requests for approval wait. A *control.Client is one.
type desk interface {
	// Watch calls report with what waits, now and after every change.
	Watch(ctx context.Context, report func([]approvals.Request)) error
	// Answer reports whether the answer was the one that counted.
	Answer(ctx context.Context, id string, d approvals.Decision) (bool, error)
	// Ending says why a request does not wait any more; "" when that is not known.
	Ending(ctx context.Context, id string) (string, error)
}

// ownDesk is the desk of a gateway in this process.
type ownDesk struct{ *approvals.Desk }

func (d ownDesk) Watch(ctx context.Context, report func([]approvals.Request)) error {
	changed, unsubscribe := d.Subscribe()
	defer unsubscribe()
	for {
		report(d.Pending())
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (d ownDesk) Answer(_ context.Context, id string, decision approvals.Decision) (bool, error) {
	return d.Resolve(id, decision), nil
}

func (d ownDesk) Ending(_ context.Context, id string) (string, error) { return d.Desk.Ending(id), nil }

const (
	// answerPatience is how long an answer may take until it has reached the desk.
	answerPatience = 10 * time.Second
	// endingPatience is the same for the question why something has ended.
	endingPatience = time.Second
)

// attendant puts what waits at a desk to the person at a terminal, one request
// at a time, in the order of arrival. A request that is decided elsewhere
// leaves the terminal.
type attendant struct {
	terminal *approvals.Terminal
	mine     func(approvals.Request) bool     // nil: all are
	tell     func(format string, args ...any) // shows the person a line

	// questions is where servers' questions wait; nil: they are asked elsewhere.
	questions *elicit.Desk

	present atomic.Bool   // Run is at work
	seated  chan struct{} // closed when present became true
}

// newAttendant returns an attendant of a terminal; nil: there is nobody.
func newAttendant(terminal *approvals.Terminal, tell func(format string, args ...any)) *attendant {
	return &attendant{terminal: terminal, tell: tell, seated: make(chan struct{})}
}

// attends reports whether somebody sits at the terminal.
func (t *attendant) attends() bool { return t.present.Load() }

// Run asks until ctx ends, the terminal's input ends or the desk is gone. It
// owns the goroutines that read the terminal and watch the desk. It is called
// once.
func (t *attendant) Run(ctx context.Context, d desk) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel(nil)
	ended := make(chan error, 1)
	work.Go(func() { ended <- t.terminal.Run(ctx) })
	<-t.terminal.Started()
	t.present.Store(true)
	close(t.seated)
	defer t.present.Store(false)
	waiting := make(chan []approvals.Request)
	work.Go(func() {
		cancel(d.Watch(ctx, func(list []approvals.Request) {
			select {
			case waiting <- list:
			case <-ctx.Done():
			}
		}))
	})
	if t.questions != nil {
		work.Go(func() { t.askQuestions(ctx, t.questions) })
	}
	r := &round{attendant: t, desk: d, asked: map[string]bool{}}
	return r.run(ctx, waiting, ended)
}

// round is one Run of an attendant.
type round struct {
	*attendant
	desk  desk
	queue []approvals.Request
	asked map[string]bool // and still in the queue
	now   *asking         // nil: nobody is asked anything
}

// asking is the request that is before the person.
type asking struct {
	id     string
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when that is over
}

func (r *round) run(ctx context.Context, waiting <-chan []approvals.Request, ended <-chan error) error {
	over := false // the input has ended: what waits is denied, and that is all
	var failed error
	for {
		if r.now == nil {
			r.now = r.next(ctx)
		}
		if r.now == nil && over {
			return failed
		}
		select {
		case r.queue = <-waiting:
			forget(r.asked, r.queue)
			if r.now != nil && !r.asked[r.now.id] {
				r.now.cancel(whyEnded(ctx, r.desk, r.now.id))
			}
		case <-r.now.finished():
			r.now = nil
		case failed = <-ended:
			over, ended = true, nil
			r.present.Store(false)
		case <-ctx.Done():
			if r.now != nil {
				<-r.now.done
			}
			return context.Cause(ctx)
		}
	}
}

// finished tells when there is an answer; never, when nothing is asked.
func (a *asking) finished() <-chan struct{} {
	if a == nil {
		return nil
	}
	return a.done
}

// next puts the first request that has not been asked yet to the person.
func (r *round) next(ctx context.Context) *asking {
	for _, req := range r.queue {
		if r.asked[req.ID] || r.mine != nil && !r.mine(req) {
			continue
		}
		r.asked[req.ID] = true
		askCtx, cancel := context.WithCancelCause(ctx)
		a := &asking{id: req.ID, cancel: cancel, done: make(chan struct{})}
		go func() { // run waits for it
			defer close(a.done)
			defer cancel(nil)
			r.ask(ctx, askCtx, req)
		}()
		return a
	}
	return nil
}

// ask puts a request to the person, and takes the answer to the desk. An answer
// that was given is taken there although the request may have ended: the desk
// knows whether it counts. One that does not arrive is no reason to ask nothing
// more. With running, which is Run's, the terminal's input ends: that is no
// answer.
func (r *round) ask(running, ctx context.Context, req approvals.Request) {
	decision, err := r.terminal.Ask(ctx, req)
	if err != nil || running.Err() != nil {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerPatience)
	defer cancel()
	counted, err := r.desk.Answer(bounded, req.ID, decision)
	switch {
	case err != nil:
		r.tell("The answer did not arrive: %v", err)
	case !counted:
		r.tell("That call was not waiting any more: %v.", whyEnded(bounded, r.desk, req.ID))
	}
}

// whyEnded is why a request does not wait any more, as the cause to end asking
// about it.
func whyEnded(ctx context.Context, d desk, id string) error {
	ctx, cancel := context.WithTimeout(ctx, endingPatience)
	defer cancel()
	reason, err := d.Ending(ctx, id)
	if err != nil || reason == "" {
		return approvals.ErrSettled
	}
	return &approvals.Ended{Reason: approvals.Visible(reason)}
}

// forget drops from asked what is not waiting any more.
func forget(asked map[string]bool, queue []approvals.Request) {
	still := map[string]bool{}
	for _, req := range queue {
		still[req.ID] = true
	}
	for id := range asked {
		if !still[id] {
			delete(asked, id)
		}
	}
}
