package model

import (
	"strings"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
)

// Run is one request to a model, a turn of its session, as far as it is known.
type Run struct {
	ID, Door, Client, Model string

	Began    time.Time
	Active   bool
	Duration time.Duration // of a run that has ended
	Outcome  journal.Outcome
	Reason   string
	Rounds   int
	Tokens   int64    // known when it has ended and comes from the journal
	CostUSD  *float64 // nil: not known

	Plan []loop.Step // nil: none, or of a past run

	callList

	session  *Session
	recorded bool      // it is in the journal with its outcome
	heard    time.Time // of its last event
}

// PastRun is a run as the journal has it, without its calls: see Record.
func PastRun(row journal.Run) *Run {
	r := &Run{ID: row.ID, Door: row.Door, Client: row.Client, Model: row.Model, Began: row.Time}
	r.learn(row)
	return r
}

// learn takes over what only the journal knows of a run that has ended.
func (r *Run) learn(row journal.Run) {
	r.recorded = true
	if !row.Time.IsZero() {
		r.Began = row.Time // it may have been heard of late
	}
	r.Rounds = max(r.Rounds, row.Rounds)
	if row.Outcome == "" {
		return
	}
	r.Outcome, r.Reason, r.Duration = row.Outcome, row.Error, time.Duration(row.DurationMS)*time.Millisecond
	r.Tokens, r.CostUSD = row.PromptTokens+row.CompletionTokens, row.CostUSD
}

// resume makes a run active that was read from the journal while it went on, now
// that the resident tells of it, and reports whether it was one.
func (r *Run) resume() bool {
	open := !r.Active && r.recorded && r.Outcome == "" && r.heard.IsZero()
	r.Active = r.Active || open
	return open
}

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
		return CallWaiting.Word(), Asking
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
