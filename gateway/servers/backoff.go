package servers

import (
	"math/rand/v2"
	"time"
)

const (
	firstDelay   = time.Second // before the first attempt to reconnect; doubles with each
	longestDelay = 5 * time.Minute
	steadyAfter  = time.Minute // a connection that held this long is a fresh start
	quickCrashes = 5           // in a row, after which a server rests
)

// outcome is how an attempt to connect, and the connection if there was one,
// came to an end that we did not bring about.
type outcome struct {
	held    time.Duration // zero: it was never connected
	crashed bool          // a process of ours was started, and failed
}

// backoff knows how a server's attempts went. The zero value is a fresh start.
type backoff struct {
	failures int // in a row, none followed by a steady connection
	crashes  int // the same, of processes alone
}

func (b *backoff) note(o outcome) {
	if o.held >= steadyAfter {
		*b = backoff{}
		b.failures++
		return
	}
	b.failures++
	if o.crashed {
		b.crashes++
	}
}

// exhausted reports whether there should be no further attempt. Somebody else's
// server may come back at any time; a program that crashes whenever it is
// started does not mend itself.
func (b *backoff) exhausted() bool { return b.crashes >= quickCrashes }

// delay returns how long to wait before the next attempt: longer each time, and
// never quite the same, so that many servers do not come back at one moment.
func (b *backoff) delay() time.Duration {
	d := longestDelay
	if shift := b.failures - 1; shift < 9 { // 2^9 seconds are more than the longest
		d = min(firstDelay<<max(shift, 0), longestDelay)
	}
	return min(d+rand.N(d/4), longestDelay)
}
