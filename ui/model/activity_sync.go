package model

import (
	"cmp"
	"time"

	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
)

// Sync sets the runs right by the resident's list of those that are active,
// which was asked for at a time: what was heard of since then counts more than
// the list. The events must have been opened before that.
func (a *Activity) Sync(active []loop.Active, asked time.Time) {
	a.stale = false
	told := map[string]bool{}
	for _, row := range active {
		told[row.Run] = true
		run := a.runs[row.Run]
		if run == nil {
			run = a.begin(a.session(keyOf(row.Session, row.Run, ""), row.Session), row.Run, row.Since)
		}
		if run.resume(); run.Active { // its end may have been told while the list was on its way
			run.sync(row, asked)
			run.session.live = true
			run.session.name(row.Door, row.Client, "")
			run.session.spanned(row.Since)
		}
	}
	for _, run := range a.runs {
		if run.Active && !told[run.ID] && run.heard.Before(asked) {
			a.end(run, "", "", asked.Sub(run.Began)) // its outcome is in the journal: see Record
		}
	}
	for _, s := range a.order {
		if s.live && s.whole { // calls may have been missed
			s.whole, s.owed = false, true
		}
	}
}

func (r *Run) sync(row loop.Active, asked time.Time) {
	r.Door, r.Client, r.Model, r.Began = row.Door, row.Client, row.Model, row.Since
	r.Rounds = max(r.Rounds, row.Rounds)
	if r.Plan == nil || r.heard.Before(asked) {
		r.Plan = row.Plan
	}
	for _, c := range row.Calls {
		i, _ := r.call(cmp.Or(c.Record, c.Call), c.Since)
		r.Calls[i].sync(c)
	}
	r.sortCalls()
}

// sync takes over what the list says of a call, unless it is further already.
func (c *Call) sync(row loop.ActiveCall) {
	c.Began, c.Round, c.Tool = row.Since, row.Round, cmp.Or(c.Tool, row.Tool)
	if c.Brief == "" {
		c.Brief = brief(row.Arguments)
	}
	c.ask(row.Request)
	if c.State.Ended() {
		return
	}
	c.Approver = cmp.Or(row.Approver, c.Approver)
	switch {
	case row.Finished:
		c.State, c.Duration, c.Reason = endOf(journal.Outcome(row.Outcome)), row.Duration, row.Reason
	case row.Running:
		c.advance(CallRunning)
	case row.Request != nil:
		c.advance(CallWaiting)
	}
}

// Record takes over all that the journal has of a session. It reports whether the
// session is there.
func (a *Activity) Record(key string, runs []journal.Run, calls []journal.Call) bool {
	s := a.sessions[key]
	if s == nil {
		return false
	}
	for _, row := range runs {
		s.name(row.Door, row.Client, row.CWD)
		s.spanned(row.Time)
		run := a.runs[row.ID]
		if run == nil {
			a.add(s, PastRun(row))
		} else if !run.Active {
			run.learn(row)
		}
	}
	for _, row := range calls {
		s.name(row.Door, row.Client, row.CWD)
		s.spanned(row.Time)
		if run := a.runs[row.Run]; run != nil {
			run.record(row)
		} else {
			s.record(row)
		}
	}
	s.sortCalls()
	for _, run := range s.Turns {
		run.sortCalls()
	}
	s.whole, s.owed = true, false
	return true
}
