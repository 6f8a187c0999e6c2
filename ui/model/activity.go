package model

import (
	"cmp"
	"time"

	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
)

// keptSessions is how many sessions in which nothing goes on keep their turns and
// calls. Those of others are in the journal.
const keptSessions = 100

// Activity is what programs are doing and did, by sessions: it folds the stream of
// events, the resident's list of the runs that are active, and rows of the
// journal. The zero value is ready. It is not safe for concurrent use.
type Activity struct {
	sessions map[string]*Session // by their keys
	order    []*Session          // all of them; see Rows
	runs     map[string]*Run     // those that are in sessions
	listed   map[string]bool     // keys of what the journal has listed
	shown    string              // see Show
	found    bool                // what is listed is what a search found
	stale    bool                // events were missed
}

// Change is what an event changed.
type Change struct {
	Session string // its key
	Call    string // the id of the call that changed; "": none did
	Plan    bool
	List    bool // something began or ended in a session: the list of them is another
	// Stale says that events were missed: Sync sets it right. It is said once
	// until then.
	Stale bool
}

// Apply takes in an event. It costs the same however much there is already,
// but for the end of a run.
func (a *Activity) Apply(e loop.Event) Change {
	s := a.session(keyOf(e.Session, e.Run, e.Record), e.Session)
	s.owed = s.owed || !s.live && !s.whole && !s.brief.Last.IsZero()
	s.live = true
	s.name(e.Door, e.Client, e.CWD)
	c := Change{Session: s.Key, Stale: e.Lost > 0 && !a.stale}
	a.stale = a.stale || e.Lost > 0
	if e.Run == "" {
		c.Call = cmp.Or(e.Record, e.Call)
		began := s.applyCall(e)
		c.List = began || e.Kind == loop.CallFinished
		s.lasted(e, began)
		return c
	}
	run := a.runs[e.Run]
	if run == nil {
		run = a.begin(s, e.Run, e.Time)
		c.List = true
		if e.Kind != loop.RunStarted && !a.stale {
			a.stale, c.Stale = true, true
		}
	} else if run.resume() {
		c.List = true
	}
	run.Door, run.Client, run.Model = e.Door, e.Client, e.Model
	run.heard = e.Time
	run.Rounds = max(run.Rounds, e.Round)
	switch e.Kind {
	case loop.RunStarted:
		s.lasted(e, true)
	case loop.PlanChanged:
		run.Plan, c.Plan = e.Plan, true
	case loop.CallRequested, loop.CallWaiting, loop.CallRunning, loop.CallFinished:
		c.Call = cmp.Or(e.Record, e.Call)
		s.lasted(e, run.applyCall(e))
	case loop.RunFinished:
		a.end(run, journal.Outcome(e.Outcome), e.Reason, e.Duration)
		c.List = true
	}
	return c
}

// keyOf is the key of the session of a run or a call: what is of no session is one
// by itself.
func keyOf(session, run, call string) string {
	switch {
	case session != "":
		return "session " + session
	case run != "":
		return "run " + run
	default:
		return "call " + call
	}
}

// session returns the session with a key; it is added when it is new.
func (a *Activity) session(key, id string) *Session {
	s := a.sessions[key]
	if s != nil {
		return s
	}
	s = &Session{Key: key, ID: id}
	if a.sessions == nil {
		a.sessions = map[string]*Session{}
	}
	a.sessions[key] = s
	a.order = append(a.order, s)
	return s
}

// begin adds an active run to a session.
func (a *Activity) begin(s *Session, id string, at time.Time) *Run {
	run := &Run{ID: id, Began: at, Active: true}
	a.add(s, run)
	return run
}

func (a *Activity) add(s *Session, run *Run) {
	run.session = s
	if a.runs == nil {
		a.runs = map[string]*Run{}
	}
	a.runs[run.ID] = run
	s.Turns = append(s.Turns, run)
}

// end ends a run.
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
	a.letGo()
}

// letGo forgets the turns and calls of the sessions that have been quiet for the
// longest, where they are too many.
func (a *Activity) letGo() {
	if len(a.runs) <= keptSessions {
		return
	}
	a.sort()
	kept := 0
	for _, s := range a.order {
		if len(s.Turns)+len(s.Calls) == 0 || s.Active() || s.Key == a.shown {
			continue
		}
		if kept++; kept > keptSessions {
			a.forget(s)
		}
	}
}

// forget keeps of a session no more than what the list shows.
func (a *Activity) forget(s *Session) {
	s.brief = s.inBrief()
	for _, run := range s.Turns {
		delete(a.runs, run.ID)
	}
	s.Turns, s.callList, s.whole, s.owed = nil, callList{}, false, false
}

// Find returns a session by its key; nil when it is not known.
func (a *Activity) Find(key string) *Session { return a.sessions[key] }

// Show says which session is before the user: it keeps its turns and calls.
func (a *Activity) Show(key string) { a.shown = key }

// Owed returns a session that has to be read from the journal (see Record) for
// what is shown of it to be right; nil when there is none.
func (a *Activity) Owed() *Session {
	for _, s := range a.order {
		if s.owed {
			return s
		}
	}
	return nil
}

// Busy reports whether anything goes on: only then does an elapsed time change.
func (a *Activity) Busy() bool {
	for _, s := range a.order {
		if s.Active() {
			return true
		}
	}
	return false
}

// Searched reports whether the list shows what a search found.
func (a *Activity) Searched() bool { return a.found }
