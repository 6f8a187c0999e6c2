package approvals

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// DeskOptions says how a Desk works.
type DeskOptions struct {
	// Attended reports whether anybody could answer: a window can be shown, or
	// the command line may answer. Without anybody a request is denied at once
	// instead of waiting for its deadline. It is asked when a request arrives;
	// what waits already keeps waiting. Nil: nobody ever can.
	Attended func() bool
}

// Desk is the queue of requests that wait for a person. Each waits on its own,
// and is shown in the order of arrival. It starts no goroutine, and is safe for
// concurrent use.
type Desk struct {
	attended func() bool
	changed  signal

	mu      sync.Mutex // guards the fields below
	queue   []*waiter  // in the order of arrival
	endings []ending   // the last ones, oldest first
	closed  bool
}

// ending is how a request left the desk, in words for a person.
type ending struct{ id, reason string }

// keptEndings is how many endings a desk remembers: enough for whoever shows
// what waits to learn why it does not any more.
const keptEndings = 64

// waiter is one request at the desk.
type waiter struct {
	req    Request
	claim  *claim
	answer chan Decision // size 1: who answers never blocks
}

// NewDesk returns an empty desk.
func NewDesk(opts DeskOptions) *Desk {
	if opts.Attended == nil {
		opts.Attended = func() bool { return false }
	}
	return &Desk{attended: opts.Attended}
}

// Ask puts req on the desk and blocks until it is resolved, ctx ends (which is
// an error) or the desk closes. It bounds nothing itself: the Gate does.
func (d *Desk) Ask(ctx context.Context, req Request) (Decision, error) {
	if !d.attended() {
		return denial(ByNone, "nobody to ask"), nil
	}
	w := &waiter{req: req, claim: claimOf(ctx), answer: make(chan Decision, 1)}
	if err := d.add(w); err != nil {
		return Decision{}, err
	}
	d.changed.notify()
	select {
	case dec := <-w.answer:
		return dec, nil
	case <-ctx.Done():
		if !d.remove(w, endingOf(ctx)) {
			return <-w.answer, nil // resolved before ctx ended
		}
		d.changed.notify()
		return Decision{}, context.Cause(ctx)
	}
}

func (d *Desk) add(w *waiter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		w.answer <- shutdown()
		return nil
	}
	if w.req.ID == "" || d.indexLocked(w.req.ID) >= 0 {
		return fmt.Errorf("request %q: the desk needs an id of its own for each", w.req.ID)
	}
	d.queue = append(d.queue, w)
	return nil
}

// remove takes w off the desk, for a reason, and reports whether it was still
// there.
func (d *Desk) remove(w *waiter, reason string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.queue, w)
	if i < 0 {
		return false
	}
	d.queue = slices.Delete(d.queue, i, i+1)
	d.noteLocked(w.req.ID, reason)
	return true
}

func (d *Desk) noteLocked(id, reason string) {
	if len(d.endings) == keptEndings {
		d.endings = slices.Delete(d.endings, 0, 1)
	}
	d.endings = append(d.endings, ending{id, reason})
}

// Ending says, in words for a person, why the request with that id does not
// wait any more: that it was answered, that nobody did so in time, or that it
// was withdrawn. It is "" for one that waits, never did, or left long ago.
func (d *Desk) Ending(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range slices.Backward(d.endings) {
		if e.id == id && d.indexLocked(id) < 0 {
			return e.reason
		}
	}
	return ""
}

func (d *Desk) indexLocked(id string) int {
	return slices.IndexFunc(d.queue, func(w *waiter) bool { return w.req.ID == id })
}

// Resolve answers the request with that id. The first answer wins: Resolve
// reports whether this one did. It did not when the request was never there,
// was answered before, timed out or was withdrawn.
func (d *Desk) Resolve(id string, dec Decision) bool {
	dec.Approver = cmp.Or(dec.Approver, ByDesk)
	if !d.resolve(id, dec) {
		return false
	}
	d.changed.notify()
	return true
}

func (d *Desk) resolve(id string, dec Decision) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.indexLocked(id)
	if i < 0 || !d.queue[i].claim.take() {
		return false
	}
	d.queue[i].answer <- dec
	d.queue = slices.Delete(d.queue, i, i+1)
	d.noteLocked(id, ErrSettled.Error())
	return true
}

// Pending returns what waits, in the order of arrival.
func (d *Desk) Pending() []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	reqs := make([]Request, len(d.queue))
	for i, w := range d.queue {
		reqs[i] = w.req
	}
	return reqs
}

// Subscribe returns a channel that receives after what Pending returns has
// changed (several changes may arrive as one), and a function that ends the
// subscription.
func (d *Desk) Subscribe() (<-chan struct{}, func()) { return d.changed.subscribe() }

// Close withdraws all that waits, and everything that comes later. It may be
// called twice.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	for _, w := range d.queue {
		w.claim.take() // if it ended otherwise, nobody listens
		w.answer <- shutdown()
		d.noteLocked(w.req.ID, endingFor(ErrShuttingDown))
	}
	d.queue = nil
	d.mu.Unlock()
	d.changed.notify()
}

func shutdown() Decision {
	return Decision{Outcome: Withdrawn, Approver: ByDesk, Reason: ErrShuttingDown.Error()}
}
