package model

import (
	"cmp"
	"slices"
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
			run = a.begin(row.Run, row.Since)
		}
		if run.Active { // its end may have been told while the list was on its way
			run.sync(row, asked)
		}
	}
	slices.SortFunc(a.active, func(x, y *Run) int { return y.Began.Compare(x.Began) })
	for _, run := range slices.Clone(a.active) {
		if !told[run.ID] && run.heard.Before(asked) {
			a.end(run, "", "", asked.Sub(run.Began)) // its outcome is in the journal: see AddPast
		}
	}
}

func (r *Run) sync(row loop.Active, asked time.Time) {
	r.Door, r.Client, r.Session, r.Model, r.Began = row.Door, row.Client, row.Session, row.Model, row.Since
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
	if row.Request != nil {
		c.Server = row.Request.Server
	}
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

// Record takes over what the journal has of a run's calls. It reports whether
// the run was there.
func (a *Activity) Record(run string, rows []journal.Call) bool {
	r := a.Find(run)
	if r == nil {
		return false
	}
	for _, row := range rows {
		i, _ := r.call(row.ID, row.Time)
		r.Calls[i].learn(row)
	}
	r.sortCalls()
	return true
}

// learn takes over a row of the journal. Where a call is that goes on, its
// events tell better.
func (c *Call) learn(row journal.Call) {
	c.Server, c.Tool, c.Round, c.Brief = row.Server, cmp.Or(row.Offered, row.Tool), row.Round, brief(row.Arguments)
	c.Approver, c.Reason = cmp.Or(row.Approver, c.Approver), cmp.Or(row.Error, row.Reason, c.Reason)
	switch {
	case row.Outcome != "":
		c.State, c.Duration = endOf(row.Outcome), time.Duration(row.DurationMS)*time.Millisecond
	case row.Approved != nil && *row.Approved && !c.State.Ended():
		c.advance(CallRunning)
	}
}

// sortCalls puts the calls in their order again. A journal's row begins a moment
// after its call was requested, so rounds go first.
func (r *Run) sortCalls() {
	slices.SortStableFunc(r.Calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), a.Began.Compare(b.Began))
	})
	for i := range r.Calls {
		r.index[r.Calls[i].ID] = i
	}
}
