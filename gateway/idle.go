package gateway

import "time"

// idleAfter is how long no run may be active until the gateway counts as idle:
// longer than a client takes between two requests of one task.
const idleAfter = 5 * time.Second

// ended counts a run that has ended.
func (g *Gateway) ended() {
	active := g.active.Add(-1)
	g.notices.notify()
	if active == 0 {
		g.idleLater()
	}
}

// idleLater starts the wait for being idle.
func (g *Gateway) idleLater() {
	if g.idle != nil {
		g.idle.Reset(idleAfter)
	}
}

// tellIdle is run by the timer.
func (g *Gateway) tellIdle() {
	if g.active.Load() == 0 && g.stopping.Err() == nil {
		g.opts.OnIdle()
	}
}

// stoppedTimer returns a timer that runs f when it is reset.
func stoppedTimer(f func()) *time.Timer {
	t := time.AfterFunc(time.Hour, f)
	t.Stop()
	return t
}
