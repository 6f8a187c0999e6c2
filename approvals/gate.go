package approvals

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"
	"time"
)

// DefaultTimeout is how long a request waits for an answer when nothing else is set.
const DefaultTimeout = 5 * time.Minute

// approverGrace is how long Ask waits for an approver whose context has ended,
// so that what it shows is gone when Ask returns. One that ignores its context
// is left behind, and what it says later never counts.
const approverGrace = 100 * time.Millisecond

// ErrShuttingDown is the cause to cancel contexts with when the program stops:
// requests that wait are then withdrawn as "shutting down" instead of "the
// caller went away".
var ErrShuttingDown = errors.New("shutting down")

// ErrStopped is the cause to cancel a run's context with when a person stops it.
var ErrStopped = errors.New("stopped by the person")

// ErrSettled is the cause to cancel an approver's context with when somebody
// else has answered.
var ErrSettled = errors.New("it was decided elsewhere")

var errNotAnswered = errors.New("nobody answered in time")

// GateOptions says how a Gate decides.
type GateOptions struct {
	// Require is approvals.require: when false, whatever no rule denies is
	// allowed, as "allow_all".
	Require  bool
	Approver Approver      // nil: there is nobody to ask, and what no rule allows is denied
	Person   Approver      // asked about what has AlwaysAsk; nil: Approver, unless that answers from a setting
	Rules    *Rules        // nil: nothing is remembered beyond this Gate
	Timeout  time.Duration // zero: DefaultTimeout
	Logger   *slog.Logger  // nil: discard
}

// Settings are the parts of GateOptions that can change while a Gate is in use.
type Settings struct {
	Require  bool
	Approver Approver
	Person   Approver      // asked about what has AlwaysAsk; nil: that is denied
	Timeout  time.Duration // zero: DefaultTimeout
}

// settings is one immutable generation of Settings.
type settings struct {
	Settings
	replaced chan struct{} // closed when a newer generation is in force
}

// approver returns who answers req.
func (s *settings) approver(req Request) Approver {
	if req.AlwaysAsk {
		return s.Person
	}
	return s.Approver
}

// Gate decides whether a call may run: remembered rules first, then the
// approver. It is the one place where "unclear" becomes "denied". A nil or
// zero Gate denies everything. It is safe for concurrent use.
type Gate struct {
	rules    *Rules
	log      *slog.Logger
	settings atomic.Pointer[settings]
}

// NewGate returns a Gate. It starts nothing.
func NewGate(opts GateOptions) *Gate {
	g := &Gate{rules: opts.Rules, log: opts.Logger}
	if g.rules == nil {
		g.rules = NewRules(nil, nil)
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if opts.Person == nil {
		opts.Person = personIn(opts.Approver)
	}
	g.Configure(Settings{Require: opts.Require, Approver: opts.Approver, Person: opts.Person, Timeout: opts.Timeout})
	return g
}

// personIn returns a, or nil when a answers from a setting and so is no person.
func personIn(a Approver) Approver {
	switch a.(type) {
	case AllowAll, DenyAll, Static, *AllowAll, *DenyAll, *Static:
		return nil
	default:
		return a
	}
}

// Configure swaps the settings in one step. What is waiting is examined again:
// it is put to the new approver when that is another one. A waiting request
// keeps the deadline it was shown with.
func (g *Gate) Configure(s Settings) {
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	old := g.settings.Swap(&settings{Settings: s, replaced: make(chan struct{})})
	if old != nil {
		close(old.replaced)
	}
}

// Rules returns the remembered decisions this Gate consults.
func (g *Gate) Rules() *Rules { return g.rules }

// Ask decides whether req may run, waiting for an answer if it must, at most
// until the time-out (or req.Deadline when that is sooner) and no longer than
// ctx lasts. The answer always has an outcome, an approver and, unless it
// allows, a reason. Ask never panics, whatever the approver does.
func (g *Gate) Ask(ctx context.Context, req Request) Decision {
	return g.AskTelling(ctx, req, nil)
}

// AskTelling is Ask, and calls waiting when the answer is up to a person: once,
// before that person is asked, with the request as it is shown. What a rule, a
// setting or nobody's presence decides is not waited for. waiting may be nil.
func (g *Gate) AskTelling(ctx context.Context, req Request, waiting func(Request)) (d Decision) {
	if g == nil || g.settings.Load() == nil {
		return denial(ByNone, "nobody to ask")
	}
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("deciding panicked", "id", req.ID, "server", req.Server, "tool", req.Tool, "panic", p)
			d = denial(ByError, "deciding failed")
		}
	}()
	req = g.complete(req)
	d = g.decide(ctx, req, waiting)
	d.ID = req.ID
	g.log.Debug("decided", "id", req.ID, "server", req.Server, "tool", req.Tool,
		"outcome", d.Outcome, "approver", d.Approver, "rule", d.Rule)
	return d
}

// complete fills what the caller left empty.
func (g *Gate) complete(req Request) Request {
	now := time.Now()
	req.ID = cmp.Or(req.ID, newID())
	if req.Created.IsZero() {
		req.Created = now
	}
	latest := now.Add(g.settings.Load().Timeout)
	if req.Deadline.IsZero() || req.Deadline.After(latest) {
		req.Deadline = latest
	}
	return req
}

func (g *Gate) decide(ctx context.Context, req Request, waiting func(Request)) Decision {
	// Subscribed before the first look, so that no rule is missed in between.
	rulesChanged, unsubscribe := g.rules.Subscribe()
	defer unsubscribe()
	bound, cancel := context.WithDeadlineCause(ctx, req.Deadline, errNotAnswered)
	defer cancel()
	for {
		if ctx.Err() != nil {
			return ended(ctx)
		}
		s := g.settings.Load()
		if d, ok := g.settled(s, req); ok {
			return d
		}
		if waiting != nil && takesTime(s.approver(req)) {
			waiting(req)
			waiting = nil
		}
		if d, ok := g.consult(bound, s, req, rulesChanged); ok {
			return d
		}
	}
}

// settled returns the decision that needs no approver, if there is one.
func (g *Gate) settled(s *settings, req Request) (Decision, bool) {
	if rule, ok := g.rules.Match(req); ok {
		return rule.decision(), true
	}
	if !s.Require && !req.AlwaysAsk {
		return Decision{Outcome: Allowed, Approver: ByAllowAll}, true
	}
	if isNil(s.approver(req)) {
		return denial(ByNone, "nobody to ask"), true
	}
	return Decision{}, false
}

// consult asks the approver of s. It returns false when the settings or rules
// changed so that the request must be looked at anew.
func (g *Gate) consult(bound context.Context, s *settings, req Request, rulesChanged <-chan struct{}) (Decision, bool) {
	c := new(claim)
	ctx, cancel := context.WithCancelCause(withClaim(bound, c))
	answers := make(chan answer, 1)
	go func() { answers <- askSafely(ctx, s.approver(req), req) }()
	w := &waiting{gate: g, claim: c, answers: answers, settings: s, rulesChanged: rulesChanged}
	d, ok := w.wait(bound, req)
	cancel(ErrSettled)
	w.part()
	return d, ok
}

// waiting is one request put to one approver.
type waiting struct {
	gate         *Gate
	claim        *claim
	answers      <-chan answer
	answered     bool // the approver's goroutine has ended
	settings     *settings
	rulesChanged <-chan struct{}
}

// wait returns the decision, or false when the request must be looked at anew.
func (w *waiting) wait(bound context.Context, req Request) (Decision, bool) {
	for {
		select {
		case a := <-w.answers:
			w.answered = true
			if bound.Err() != nil && w.claim.take() {
				return ended(bound), true // it came, but too late
			}
			return w.gate.accept(a, req), true
		case <-bound.Done():
			return w.close(req, ended(bound), true)
		case <-w.rulesChanged:
			if w.gate.rules.matches(req) {
				return w.close(req, Decision{}, false)
			}
		case <-w.settings.replaced:
			next := w.gate.settings.Load()
			if !next.Require && !req.AlwaysAsk || !sameApprover(w.settings.approver(req), next.approver(req)) {
				return w.close(req, Decision{}, false)
			}
			w.settings = next
		}
	}
}

// close ends the wait with d and ok, unless an answer was already promised to
// count: then that is on its way, and is the decision.
func (w *waiting) close(req Request, d Decision, ok bool) (Decision, bool) {
	if w.claim.take() {
		return d, ok
	}
	select {
	case a := <-w.answers:
		w.answered = true
		return w.gate.accept(a, req), true
	case <-time.After(approverGrace):
		return denial(ByError, "the approver did not deliver its answer"), true
	}
}

// part waits a moment for the approver's goroutine.
func (w *waiting) part() {
	if w.answered {
		return
	}
	select {
	case <-w.answers:
	case <-time.After(approverGrace):
		w.gate.log.Warn("an approver ignores that its request has ended")
	}
}

// accept turns what an approver said into a decision, and remembers it when it
// says so.
func (g *Gate) accept(a answer, req Request) Decision {
	if a.err != nil {
		g.log.Warn("asking the approver", "id", req.ID, "err", a.err)
		return denial(ByError, "the approver failed")
	}
	d := a.decision
	if err := check(d, req); err != nil {
		g.log.Warn("the approver answered nonsense", "id", req.ID, "err", err)
		return denial(ByInvalid, "the approver's answer was not valid: "+err.Error())
	}
	if d.Outcome != Allowed {
		d.Arguments = nil
		d.Reason = cmp.Or(d.Reason, defaultReason(d))
	}
	if d.Scope != nil {
		rule, err := g.rules.Remember(req, d)
		if err != nil {
			g.log.Error("remembering a decision; it holds for this call only", "id", req.ID, "err", err)
		}
		d.Rule = rule.ID
	}
	return d
}

// answer is what an approver said.
type answer struct {
	decision Decision
	err      error
}

func askSafely(ctx context.Context, a Approver, req Request) (ans answer) {
	defer func() {
		if p := recover(); p != nil {
			ans = answer{err: fmt.Errorf("approver panicked: %v", p)}
		}
	}()
	d, err := a.Ask(ctx, req)
	return answer{d, err}
}

// ended says why ctx ended, as a decision.
func ended(ctx context.Context) Decision {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errNotAnswered):
		return Decision{Outcome: NotAnswered, Approver: ByNone, Reason: errNotAnswered.Error()}
	case errors.Is(cause, ErrShuttingDown):
		return Decision{Outcome: Withdrawn, Approver: ByNone, Reason: ErrShuttingDown.Error()}
	case errors.Is(cause, ErrStopped):
		return Decision{Outcome: Withdrawn, Approver: ByNone, Reason: ErrStopped.Error()}
	default:
		return Decision{Outcome: Withdrawn, Approver: ByNone, Reason: callerWent}
	}
}

const callerWent = "the caller went away"

// defaultReason says why it is no when the approver does not.
func defaultReason(d Decision) string {
	switch {
	case d.Outcome == NotAnswered:
		return errNotAnswered.Error()
	case d.Outcome == Withdrawn:
		return callerWent
	case d.Approver == ByStatic:
		return "it is not on the list of tools that may run"
	case d.Approver == ByDenyAll:
		return "no risky call may run"
	case d.Approver == ByRule:
		return "a remembered decision denies it"
	default:
		return "the person said no"
	}
}

func denial(by, reason string) Decision {
	return Decision{Outcome: Denied, Approver: by, Reason: reason}
}

// sameApprover reports whether a and b are certainly the same approver.
func sameApprover(a, b Approver) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	return va.IsValid() && vb.IsValid() && va.Type() == vb.Type() && va.Comparable() && va.Equal(vb)
}

// takesTime reports whether a may wait for a person before it answers.
func takesTime(a Approver) bool {
	switch a := a.(type) {
	case AllowAll, DenyAll, Static:
		return false
	case *Desk:
		return a.attended()
	default:
		return true
	}
}

// isNil reports whether a is nil or holds a nil pointer, a common slip that
// must not look like somebody to ask.
func isNil(a Approver) bool {
	v := reflect.ValueOf(a)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// newID returns a short random name: 60 bits, enough for what waits at a time
// and for a journal. It is no secret.
func newID() string { return strings.ToLower(rand.Text()[:12]) }
