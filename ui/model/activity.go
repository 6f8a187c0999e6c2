package model

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
)

// keptRuns is how many ended runs stay with their plan and calls. Older ones are
// in the journal.
const keptRuns = 100

// Activity is what the runs are doing and did: it folds the stream of their
// events, the resident's list of those that are active, and rows of the journal.
// The zero value is ready. It is not safe for concurrent use.
type Activity struct {
	runs   map[string]*Run
	active []*Run // newest first
	ended  []*Run // the last to begin first, at most keptRuns
	past   []*Run // from the journal, newest first
	inPast map[string]bool
	found  bool // past is what a search found
	stale  bool // events were missed
}

// Run is one request to a model, as far as it is known.
type Run struct {
	ID, Door, Client, Session, Model string

	Began    time.Time
	Active   bool
	Duration time.Duration // of a run that has ended
	Outcome  journal.Outcome
	Reason   string
	Rounds   int
	Tokens   int64    // known when it has ended and comes from the journal
	CostUSD  *float64 // nil: not known

	Plan  []loop.Step // nil: none, or of a past run
	Calls []Call      // in their order

	index    map[string]int // of Calls, by their ids
	recorded bool           // it is in the journal with its outcome
	heard    time.Time      // of its last event
}

// Call is one tool call of a run.
type Call struct {
	ID       string // in the journal
	Server   string // "" until it is known
	Tool     string // as the model sees it
	Brief    string // the arguments in one short line
	Round    int
	State    CallState
	Began    time.Time
	Duration time.Duration // of the execution, when it has ended
	Approver string        // who decided; "" when nobody had to
	Reason   string
}

// Change is what an event changed.
type Change struct {
	Run   string
	Call  int  // the index of the call that changed; -1: none did
	Added bool // that call is new
	Plan  bool
	List  bool // a run began or ended: the list of runs is another
	// Stale says that events were missed: Sync sets it right. It is said once
	// until then.
	Stale bool
}

// Apply takes in an event. It costs the same however much there is already,
// but for the end of a run.
func (a *Activity) Apply(e loop.Event) Change {
	c := Change{Run: e.Run, Call: -1}
	if e.Run == "" {
		return c
	}
	run := a.runs[e.Run]
	missed := e.Lost > 0
	if run == nil {
		run = a.begin(e.Run, e.Time)
		run.Door, run.Client, run.Session, run.Model = e.Door, e.Client, e.Session, e.Model
		c.List, missed = true, missed || e.Kind != loop.RunStarted
	}
	c.Stale = missed && !a.stale
	a.stale = a.stale || missed
	run.heard = e.Time
	run.Rounds = max(run.Rounds, e.Round)
	switch e.Kind {
	case loop.PlanChanged:
		run.Plan, c.Plan = e.Plan, true
	case loop.CallRequested, loop.CallWaiting, loop.CallRunning, loop.CallFinished:
		c.Call, c.Added = run.applyCall(e)
	case loop.RunFinished:
		a.end(run, journal.Outcome(e.Outcome), e.Reason, e.Duration)
		c.List = true
	}
	return c
}

// begin adds an active run.
func (a *Activity) begin(id string, at time.Time) *Run {
	run := &Run{ID: id, Began: at, Active: true, index: map[string]int{}}
	if a.runs == nil {
		a.runs = map[string]*Run{}
	}
	a.runs[id] = run
	a.active = insert(a.active, run)
	return run
}

// insert puts a run into a list whose newest is first.
func insert(list []*Run, run *Run) []*Run {
	at, _ := slices.BinarySearchFunc(list, run, func(a, b *Run) int { return b.Began.Compare(a.Began) })
	return slices.Insert(list, at, run)
}

// end moves a run to those that have ended.
func (a *Activity) end(run *Run, outcome journal.Outcome, reason string, took time.Duration) {
	run.Outcome, run.Reason, run.Duration = outcome, reason, took
	if !run.Active {
		return
	}
	run.Active = false
	for i := range run.Calls {
		if c := &run.Calls[i]; !c.State.Ended() {
			c.State = unfinished(c.State)
		}
	}
	a.active = slices.DeleteFunc(a.active, func(r *Run) bool { return r == run })
	a.ended = insert(a.ended, run)
	if len(a.ended) > keptRuns {
		oldest := a.ended[keptRuns]
		a.ended = a.ended[:keptRuns]
		delete(a.runs, oldest.ID)
		a.letGo(oldest)
	}
}

// unfinished is the end of a call whose run ended without telling it: what was
// running may have run.
func unfinished(s CallState) CallState {
	switch s {
	case CallRunning:
		return CallUnknown
	case CallWaiting:
		return CallWithdrawn
	default:
		return CallCancelled
	}
}

// applyCall takes in an event of a call, and returns where the call is and
// whether it is new.
func (r *Run) applyCall(e loop.Event) (at int, added bool) {
	at, added = r.call(cmp.Or(e.Record, e.Call), e.Time)
	c := &r.Calls[at]
	c.Tool, c.Round = cmp.Or(c.Tool, e.Tool), max(c.Round, e.Round)
	if len(e.Arguments) > 0 {
		c.Brief = brief(e.Arguments)
	}
	switch e.Kind {
	case loop.CallWaiting:
		c.advance(CallWaiting)
		if e.Request != nil {
			c.Server = e.Request.Server
		}
	case loop.CallRunning:
		c.advance(CallRunning)
		c.Approver = e.Approver
	case loop.CallFinished:
		c.Tool = cmp.Or(e.Tool, c.Tool)
		c.State, c.Duration, c.Reason, c.Approver = endOf(journal.Outcome(e.Outcome)), e.Duration, e.Reason, e.Approver
	}
	return at, added
}

// advance never goes back: what is told late is old.
func (c *Call) advance(s CallState) { c.State = max(c.State, s) }

// call returns where the call with that id is; it is added when it is new.
func (r *Run) call(id string, at time.Time) (i int, added bool) {
	if i, known := r.index[id]; known {
		return i, false
	}
	r.Calls = append(r.Calls, Call{ID: id, Began: at})
	r.index[id] = len(r.Calls) - 1
	return len(r.Calls) - 1, true
}

// Find returns a run that is active, ended a short while ago, or was listed from
// the journal; nil when it is none of these.
func (a *Activity) Find(id string) *Run {
	if run := a.runs[id]; run != nil {
		return run
	}
	if i := slices.IndexFunc(a.past, func(r *Run) bool { return r.ID == id }); i >= 0 {
		return a.past[i]
	}
	return nil
}

// Busy reports whether any run is active: only then does an elapsed time change.
func (a *Activity) Busy() bool { return len(a.active) > 0 }

// Elapsed is how long the run has taken, or took.
func (r *Run) Elapsed(now time.Time) time.Duration {
	if r.Active {
		return max(now.Sub(r.Began), 0)
	}
	return r.Duration
}

// State says in a word how the run is, and what that means.
func (r *Run) State() (string, Tone) {
	switch {
	case r.Active && r.waits():
		return "Waiting for you", Asking
	case r.Active:
		return "Running", Busy
	case r.Outcome == "" && r.recorded:
		return "Running elsewhere", Busy // in a process that is not this resident
	case r.Outcome == "", r.Outcome == journal.Unknown:
		return "Unknown", Bad
	case r.Outcome == journal.OK:
		return "Done", Good
	case r.stopped():
		return "Stopped by you", Quiet
	case r.Outcome == journal.Cancelled:
		return "Cancelled", Quiet
	case r.Outcome == "stopped_rounds":
		return "Stopped at the limit of rounds", Asking
	case r.Outcome == "stopped_loop":
		return "Stopped in a loop", Asking
	default:
		return "Failed", Bad
	}
}

// stopped reports whether a person ended the run.
func (r *Run) stopped() bool {
	return r.Outcome == journal.Cancelled && strings.Contains(r.Reason, approvals.ErrStopped.Error())
}

// waits reports whether a call waits for a person. Calls that have ended stand
// before those that go on, but for those of the last round.
func (r *Run) waits() bool {
	for i := len(r.Calls) - 1; i >= 0 && r.Calls[i].Round >= r.Calls[len(r.Calls)-1].Round; i-- {
		if r.Calls[i].State == CallWaiting {
			return true
		}
	}
	return false
}

// Progress is the share of the plan that is done or skipped, from 0 to 1, and
// how many of how many steps that is.
func (r *Run) Progress() (share float64, done, of int) {
	for _, step := range r.Plan {
		if step.Status == "completed" || step.Status == "skipped" {
			done++
		}
	}
	if of = len(r.Plan); of > 0 {
		share = float64(done) / float64(of)
	}
	return share, done, of
}

// briefRunes is how long a call's arguments are in one line.
const briefRunes = 160

// brief puts arguments into one short line: "path: /a/b · text: hello".
func brief(arguments json.RawMessage) string {
	parsed := gjson.ParseBytes(arguments[:min(len(arguments), 64<<10)])
	if !parsed.IsObject() {
		return clip(parsed.String(), briefRunes)
	}
	var b strings.Builder
	parsed.ForEach(func(key, value gjson.Result) bool {
		if b.Len() > 0 {
			b.WriteString(" · ")
		}
		b.WriteString(clip(key.String(), briefRunes) + ": " + clip(value.String(), briefRunes))
		return b.Len() < briefRunes
	})
	return clip(b.String(), briefRunes)
}

// clip puts text into one line of at most n characters, in which nothing hides.
func clip(text string, n int) string {
	if len(text) > 8*n {
		text = strings.ToValidUTF8(text[:8*n], "") // so much is enough for n characters
	}
	runes := []rune(approvals.Visible(strings.Join(strings.Fields(text), " ")))
	if len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return string(runes)
}
