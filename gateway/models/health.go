package models

import (
	"sync"
	"time"
)

// State is whether a deployment may be asked.
type State string

// The states.
const (
	Healthy    State = "healthy"
	Cooling    State = "cooling"      // it kept failing
	Limited    State = "rate_limited" // it asked for a pause, or has used up its rpm or tpm
	KeyRefused State = "auth_failed"  // it refused our key
	Trying     State = "trying"       // its pause is over, and one request finds out
)

// defaultAllowedFails is LiteLLM's own allowed_fails. Where the user has set
// none, failures count only when they are most of what came of a minute.
const defaultAllowedFails = 3

// rateWindow is what rpm, tpm and allowed_fails count in.
const rateWindow = time.Minute

// policy says when a deployment is left alone, and for how long.
type policy struct {
	allowedFails *int          // failures in a minute that are borne; nil: defaultAllowedFails, if most fail
	cooldown     time.Duration // zero: nobody is left alone, whatever happens
}

// limits are what a deployment takes in a minute; zero: any number.
type limits struct{ requests, tokens int64 }

// health is how one deployment has been doing. It belongs to all Routers that
// have the deployment, since it outlives a change of the configuration.
type health struct {
	mu        sync.Mutex // guards the fields below
	state     State      // not Trying: that is probing; "" is Healthy
	until     time.Time  // of a state other than Healthy
	probing   bool
	inFlight  int
	requests  int64 // begun, in all
	failures  int64 // in all
	last      *Failure
	responses offer     // what requests have found out
	window    time.Time // when the counts below began
	begun     int64
	answered  int64
	failed    int64
	tokens    int64
}

// Failure is how a deployment failed last.
type Failure struct {
	Code    Code      `json:"code"`
	Message string    `json:"message"`
	Time    time.Time `json:"time"`
}

// roll begins a new minute when the old one is over.
func (h *health) roll(now time.Time) {
	if now.Sub(h.window) >= rateWindow {
		h.window, h.begun, h.answered, h.failed, h.tokens = now, 0, 0, 0, 0
	}
}

// stateLocked returns the state, and until when it keeps requests away; zero
// when it does not.
func (h *health) stateLocked(now time.Time, l limits) (State, time.Time) {
	current := now.Sub(h.window) < rateWindow
	switch {
	case h.probing:
		return Trying, now.Add(time.Second)
	case h.state != "" && h.state != Healthy && now.Before(h.until):
		return h.state, h.until
	case current && (l.requests > 0 && h.begun >= l.requests || l.tokens > 0 && h.tokens >= l.tokens):
		return Limited, h.window.Add(rateWindow)
	case h.state == "":
		return Healthy, time.Time{}
	default:
		return h.state, time.Time{}
	}
}

// free reports whether a request may go there now, and how many are there.
func (h *health) free(now time.Time, l limits) (ok bool, inFlight int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, until := h.stateLocked(now, l)
	return until.IsZero(), h.inFlight
}

// standing returns the state, until when it keeps requests away (zero when it
// does not), and the last failure.
func (h *health) standing(now time.Time, l limits) (State, time.Time, *Failure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	state, until := h.stateLocked(now, l)
	return state, until, h.last
}

// enter lets a request in, if one may go there now. After a pause it is one
// alone, which finds out for all.
func (h *health) enter(now time.Time, l limits) (*visit, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, until := h.stateLocked(now, l); !until.IsZero() {
		return nil, false
	}
	h.roll(now)
	v := &visit{health: h, probe: h.state != "" && h.state != Healthy}
	h.probing = v.probe
	h.inFlight++
	h.requests++
	h.begun++
	return v, true
}

// visit is one request at a deployment. It is used by one goroutine.
type visit struct {
	health  *health
	probe   bool
	left    bool
	settled bool
}

// leave ends the visit; it may be called more than once. One that was not
// settled, as when the caller has gone, decides nothing.
func (v *visit) leave() {
	if v == nil || v.left {
		return
	}
	v.left = true
	h := v.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inFlight--
	if v.probe && !v.settled {
		h.probing = false
	}
}

// answer notes that the deployment answers. It reports whether that makes it fit
// to be asked again.
func (v *visit) answer(now time.Time) (changed bool) {
	h := v.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.roll(now)
	h.answered++
	changed = v.probe && !v.settled
	if changed {
		h.probing, h.state, h.until, h.failed = false, Healthy, time.Time{}, 0
	}
	v.settled = true
	return changed
}

// fail notes how the request failed. That a request was wrong says nothing
// against who was asked. It reports whether that changes if the deployment may be
// asked.
func (v *visit) fail(e *Error, p policy, now time.Time) (changed bool) {
	if !e.movesOn() {
		return v.answer(now)
	}
	h := v.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.roll(now)
	h.last = &Failure{Code: e.Code, Message: e.Message, Time: now}
	probe := v.probe && !v.settled
	v.settled = true
	if probe {
		h.probing = false
	}
	if e.unasked() {
		return false
	}
	until := h.until
	h.failed++
	h.failures++
	if probe && h.state == Limited { // its pause is over, and is no reason for the next
		h.state, h.until, probe = Healthy, time.Time{}, false
	}
	switch {
	case p.cooldown <= 0:
	case e.Code == AuthFailed:
		h.pause(KeyRefused, now.Add(p.cooldown))
	case e.Code == RateLimited && e.RetryAfter > 0:
		h.pause(Limited, now.Add(e.RetryAfter))
	case probe, h.failedTooOften(p):
		h.pause(Cooling, now.Add(p.cooldown))
	}
	return !until.Equal(h.until)
}

// pause keeps requests away until then; a pause is not made shorter.
func (h *health) pause(state State, until time.Time) {
	if until.After(h.until) {
		h.state, h.until = state, until
	}
}

func (h *health) failedTooOften(p policy) bool {
	if p.allowedFails != nil {
		return h.failed > int64(*p.allowedFails)
	}
	return h.failed > defaultAllowedFails && h.failed > h.answered
}

// spend counts tokens that a request has used.
func (h *health) spend(tokens int64, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.roll(now)
	h.tokens += tokens
}

// forgive lets requests through again to a deployment that refused our key:
// there may be another.
func (h *health) forgive() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == KeyRefused {
		h.state, h.until = Healthy, time.Time{}
	}
}

// idle reports whether nothing would be lost with h.
func (h *health) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inFlight == 0 && (h.state == "" || h.state == Healthy)
}

// maxHealths is how many deployments are remembered: callers may ask for any
// model of a provider.
const maxHealths = 1000

// healths are how the deployments have been doing, by their identity.
type healths struct {
	mu     sync.Mutex // guards the fields below
	known  map[string]*Deployment
	groups map[string]*Group // of one deployment, by the name that was asked for
}

// group returns the group that was made for a name, or nil.
func (b *healths) group(name string) *Group {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.groups[name]
}

// keep remembers the group that was made for a name.
func (b *healths) keep(name string, g *Group) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.groups == nil || len(b.groups) >= maxHealths {
		b.groups = map[string]*Group{}
	}
	b.groups[name] = g
}

// adopt gives d the health that its like had, or a new one.
func (b *healths) adopt(d *Deployment) {
	key := d.identity()
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		d.health = known.health
		return
	}
	if b.known == nil {
		b.known = map[string]*Deployment{}
	}
	if len(b.known) >= maxHealths {
		b.groups = nil // they hold what is forgotten here
		for key, known := range b.known {
			if known.health.idle() {
				delete(b.known, key)
			}
		}
	}
	d.health = &health{}
	b.known[key] = d
}

// share gives d the health of its like in another book.
func (b *healths) share(d *Deployment, h *health) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil {
		b.known = map[string]*Deployment{}
	}
	d.health = h
	b.known[d.identity()] = d
}

// all returns the deployments that are remembered.
func (b *healths) all() map[string]*Deployment {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]*Deployment, len(b.known))
	for key, d := range b.known {
		out[key] = d
	}
	return out
}
