package gateway

import (
	"sync"
	"time"
)

// Woke is to be called when the machine has woken from sleep: connections that
// may be dead are given up or looked at, before a call finds out.
func (g *Gateway) Woke() {
	g.log.Info("the machine was asleep; the connections are looked at")
	g.client.CloseIdleConnections()
	g.host.Check()
}

// asleepAfter is how far the time of day must have run ahead of our own clock to
// be taken for a sleep: more than a clock is ever corrected by.
const asleepAfter = 30 * time.Second

// clocks find out that the machine has slept, without waking to look: our own
// clock stands still meanwhile, the time of day does not. (On Windows it does
// not stand still; there, calls find dead connections by themselves.) The zero
// value is ready.
type clocks struct {
	mu   sync.Mutex // guards the fields below
	wall time.Time
	own  time.Duration
}

// slept reports whether the machine has slept since the last call. wall is the
// time of day now, own what has passed on our own clock since some fixed moment.
func (c *clocks) slept(wall time.Time, own time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.wall.IsZero()
	ahead := wall.Round(0).Sub(c.wall) - (own - c.own)
	c.wall, c.own = wall.Round(0), own
	return !first && ahead > asleepAfter
}
