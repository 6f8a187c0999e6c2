package mcpapi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/servers"
)

// bar tells a client how its call gets on, when it wants to be told: that it
// waits for a person, and then what the server reports.
type bar struct {
	errand *errand

	mu      sync.Mutex // guards the fields below
	ended   bool
	stop    context.CancelFunc // ends the telling that the call waits; nil when it does not
	stopped chan struct{}
}

// tick is how often a client is told that its call still waits for a person: it
// starts the client's time-out anew.
const tick = 5 * time.Second

func newBar(e *errand) *bar { return &bar{errand: e} }

// waiting tells that a person has to decide, now and from time to time. The
// numbers grow, as they must, and stay below what a server reports later.
func (b *bar) waiting(req approvals.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || b.stop != nil {
		return
	}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(b.errand.ctx)
	b.stopped = make(chan struct{})
	go func() {
		defer close(b.stopped)
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for n := 1; ; n++ {
			left := max(0, time.Until(req.Deadline)).Round(time.Second)
			b.errand.notify(float64(n)/1e6, 0, fmt.Sprintf("%s waits for approval in Pointsman (%s left)", req.Offered, left))
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// running ends the telling that the call waits, before anything else is told.
func (b *bar) running() {
	b.mu.Lock()
	stop, stopped := b.stop, b.stopped
	b.stop = nil
	b.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
}

// progress passes on what the server reports.
func (b *bar) progress(p servers.Progress) {
	b.mu.Lock()
	ended := b.ended
	b.mu.Unlock()
	if !ended {
		b.errand.notify(p.Progress, p.Total, p.Message)
	}
}

// end makes sure that nothing is told after the call's result.
func (b *bar) end() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.running()
}
