package servers

import (
	"context"
	"time"
)

// longSilence is after how long a connection on which nothing came is looked at
// before it is used. Routers, proxies and load balancers forget connections after
// minutes without traffic, and servers their sessions; a call would find out
// only by its time-out, and then nobody knows whether it ran. Looking when there
// is a call, rather than every so often, wakes nobody while nothing is to do.
const longSilence = 2 * time.Minute

// hear notes that something came from the server.
func (sess *session) hear() { sess.heard.Store(int64(time.Since(sess.began))) }

// silent reports whether nothing came for long, and nothing was to come: a server
// that works on a call may be too busy to say that it is there.
func (sess *session) silent() bool {
	if time.Since(sess.began)-time.Duration(sess.heard.Load()) < longSilence {
		return false
	}
	if sess.remote != nil && sess.stateless() {
		return false // each request is a connection of its own, to be made anew if need be
	}
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return len(sess.flights) == 0
}

// probeOnce probes the server of a silent session. Calls that come together ask once.
func (s *server) probeOnce(ctx context.Context, sess *session) error {
	sess.mu.Lock()
	asked, first := sess.asked, sess.asked == nil
	if first {
		asked = make(chan struct{})
		sess.asked = asked
	}
	sess.mu.Unlock()
	if !first {
		select {
		case <-asked:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.probe(context.WithoutCancel(ctx), sess) // for the others, too
	sess.mu.Lock()
	sess.asked = nil
	sess.mu.Unlock()
	close(asked)
	return nil
}
