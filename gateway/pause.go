package gateway

import "sync"

// pausedReason is what a model is told while the tools are paused.
const pausedReason = "tools are paused"

// Pause denies every call of a tool from now on, also one that is approved
// while it waits for a person, until Pause(false). It does not end calls that
// run already. A new gateway is not paused.
func (g *Gateway) Pause(paused bool) {
	if g.paused.Swap(paused) == paused {
		return
	}
	g.log.Info("pausing the tools", "paused", paused)
	g.notices.notify()
}

// Paused reports whether the tools are paused.
func (g *Gateway) Paused() bool { return g.paused.Load() }

// whyPaused returns why no call may run now, or "".
func (g *Gateway) whyPaused() string {
	if g.paused.Load() {
		return pausedReason
	}
	return ""
}

// Subscribe returns a channel that receives after what Status tells may have
// changed (several changes may arrive as one), but for what waits at the desk,
// which has a subscription of its own; and a function that ends the
// subscription.
func (g *Gateway) Subscribe() (<-chan struct{}, func()) { return g.notices.subscribe() }

// Announce tells whoever has subscribed that something has changed which is shown
// beside the Status, such as the desktop that the gateway is on.
func (g *Gateway) Announce() { g.notices.notify() }

// notices tell subscribers that something changed, and not what: who is told
// takes a fresh look. The zero value is ready.
type notices struct {
	mu   sync.Mutex // guards the field below
	subs map[chan struct{}]struct{}
}

func (n *notices) subscribe() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.subs == nil {
		n.subs = map[chan struct{}]struct{}{}
	}
	n.subs[ch] = struct{}{}
	return ch, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.subs, ch)
	}
}

func (n *notices) notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for ch := range n.subs {
		select {
		case ch <- struct{}{}:
		default: // already told, and has not looked yet
		}
	}
}
