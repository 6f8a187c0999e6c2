package approvals

import "sync"

// A signal tells any number of subscribers that something changed. It carries
// no data and queues nothing: a subscriber that is told takes a fresh look, so
// a slow one misses intermediate states but never the last. The zero value is
// ready.
type signal struct {
	mu   sync.Mutex
	subs map[chan struct{}]struct{}
}

// subscribe returns a channel that receives after each change (several changes
// may arrive as one) and a function that ends the subscription.
func (s *signal) subscribe() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs == nil {
		s.subs = make(map[chan struct{}]struct{})
	}
	s.subs[ch] = struct{}{}
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subs, ch)
	}
}

func (s *signal) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.subs {
		select {
		case ch <- struct{}{}:
		default: // already told, and has not looked yet
		}
	}
}
