package desktop

import (
	"context"
	"sync"
	"time"

	"pointsman/ui/model"
)

// missingPatience is how long a panel may take to come up, at login say, until
// its absence is something to tell.
const missingPatience = 3 * time.Second

// missing is the tray that is not there. Without one the window opens by itself,
// once, and says so.
type missing struct {
	turn chan struct{} // size 1: something to look at

	mu     sync.Mutex // guards the field below
	reason string     // "" while the tray is there
}

// set notes why there is no tray; "": there is one.
func (m *missing) set(reason string) {
	m.mu.Lock()
	m.reason = reason
	m.mu.Unlock()
	select {
	case m.turn <- struct{}{}:
	default: // it is about to look
	}
}

func (m *missing) why() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reason
}

// run opens the window when the tray has been missing for a while, until ctx
// ends.
func (m *missing) run(ctx context.Context, d *Desktop) {
	var patience <-chan time.Time
	for told := false; ; {
		select {
		case <-m.turn:
			d.announce()
			patience = nil
			if m.why() != "" && !told && d.opts.Show != nil {
				patience = time.After(missingPatience)
			}
		case <-patience:
			patience, told = nil, true
			if err := d.opts.Show(ctx, model.Open); err != nil && ctx.Err() == nil {
				d.log.Error("opening the window in the place of the tray", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
