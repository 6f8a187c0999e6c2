package model

import (
	"cmp"
	"slices"
	"time"

	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
)

// Session is what a program did that belongs together, whatever door it came by:
// its turns, which are runs, and its calls. A run or a call of a program that
// names no session is one by itself.
type Session struct {
	Key string
	ID  string // as its program names it; ""

	Door, Client string
	CWD          string // the latest that the door with the best knowledge has told
	Turns        []*Run // as far as they are known, in no order
	callList            // the calls that no run made

	began, last  time.Time
	rank, placed int             // how well the doors know that told Client and CWD
	brief        journal.Session // as the journal lists it
	live         bool            // events have told of it
	whole        bool            // all that the journal has of it was read
	owed         bool            // it is to be read, for what the list shows to be right
}

// doorRanks are the doors that know their client, and where it works, better than
// by what a request to a model says.
var doorRanks = map[string]int{"mcp": 1, "hook": 2}

// name takes over whose session it is.
func (s *Session) name(door, client, cwd string) {
	rank := doorRanks[door]
	if client != "" && (s.Client == "" || rank > s.rank) {
		s.Client, s.rank = client, rank
	}
	if cwd != "" && (s.CWD == "" || rank >= s.placed) {
		s.CWD, s.placed = cwd, rank
	}
	s.Door = cmp.Or(s.Door, door)
}

// lasted notes when something began.
func (s *Session) lasted(e loop.Event, began bool) {
	if began || s.last.IsZero() {
		s.spanned(e.Time)
	}
}

func (s *Session) spanned(at time.Time) {
	if s.began.IsZero() || at.Before(s.began) {
		s.began = at
	}
	if at.After(s.last) {
		s.last = at
	}
}

// list takes over what the journal lists of the session.
func (s *Session) list(brief journal.Session) {
	s.brief = brief
	s.name("", brief.Client, "")
	s.CWD = cmp.Or(s.CWD, brief.CWD)
	s.spanned(brief.Began)
	s.spanned(brief.Last)
	s.owed = !s.whole && (brief.Open > 0 || s.live && len(s.Turns)+len(s.Calls) > 0)
}

// inBrief is what is to be kept of a session whose rows are not.
func (s *Session) inBrief() journal.Session {
	b := s.brief
	counts := s.Counts()
	b.Turns, b.Calls, b.Denied, b.Open = counts.Turns, counts.Calls, counts.Denied, 0
	b.Ended = s.ended()
	if run := s.latest(); run != nil {
		b.Model, b.Outcome, b.Error = run.Model, run.Outcome, run.Reason
	} else if len(s.Calls) == 1 && s.ID == "" {
		b.Outcome = callStates[s.Calls[0].State].outcome
	}
	return b
}

// Rows chooses what the journal has of the session.
func (s *Session) Rows() journal.Filter {
	switch {
	case s.ID != "":
		return journal.Filter{Session: s.ID}
	case len(s.Turns) > 0:
		return journal.Filter{Run: s.Turns[0].ID}
	case len(s.Calls) > 0:
		return journal.Filter{Call: s.Calls[0].ID}
	default:
		return s.brief.Rows()
	}
}

// Active reports whether anything goes on in the session.
func (s *Session) Active() bool {
	return slices.ContainsFunc(s.Turns, func(r *Run) bool { return r.Active }) ||
		slices.ContainsFunc(s.Calls, func(c Call) bool { return !c.State.Ended() })
}

// ActiveRuns returns the ids of the runs that go on.
func (s *Session) ActiveRuns() []string {
	var ids []string
	for _, run := range s.Turns {
		if run.Active {
			ids = append(ids, run.ID)
		}
	}
	return ids
}

// latest is the turn that began last; nil when none is known.
func (s *Session) latest() *Run {
	var last *Run
	for _, run := range s.Turns {
		if last == nil || run.Began.After(last.Began) {
			last = run
		}
	}
	return last
}

// Planned returns the latest turn that has a plan, or an empty one.
func (s *Session) Planned() *Run {
	last := &Run{}
	for _, run := range s.Turns {
		if run.Plan != nil && (last.Plan == nil || run.Began.After(last.Began)) {
			last = run
		}
	}
	return last
}

// State says in a word how the session is, and what that means.
func (s *Session) State() (string, Tone) {
	switch run := s.latest(); {
	case s.Counts().Waiting > 0:
		return CallWaiting.Word(), Asking
	case s.Active():
		return "Running", Busy
	case run != nil:
		return run.State()
	case s.ID == "" && len(s.Calls) == 1:
		return s.Calls[0].State.Word(), s.Calls[0].State.Tone()
	case len(s.Calls) > 0:
		return "Done", Good
	default:
		return s.briefState()
	}
}

// briefState is the state of a session of which the list alone is known.
func (s *Session) briefState() (string, Tone) {
	b := s.brief
	switch {
	case b.Open > 0:
		return "Running", Busy
	case b.Turns > 0:
		return (&Run{Outcome: b.Outcome, Reason: b.Error, recorded: true}).State()
	case b.Call != "":
		end := endOf(b.Outcome)
		return end.Word(), end.Tone()
	default:
		return "Done", Good
	}
}

// Counts are how many turns and calls a session has.
type Counts struct {
	Turns, Calls, Denied int
	Waiting              int // calls, for a person
	Tokens               int64
	CostUSD              *float64 // nil: not known of all turns
}

// Counts counts what is known of the session.
func (s *Session) Counts() Counts {
	c := Counts{Turns: len(s.Turns)}
	c.add(s.Calls)
	var usd float64
	priced := true
	for _, run := range s.Turns {
		c.add(run.Calls)
		c.Tokens += run.Tokens
		if run.CostUSD != nil {
			usd += *run.CostUSD
		} else if run.Tokens > 0 {
			priced = false
		}
	}
	if priced && c.Tokens > 0 {
		c.CostUSD = &usd
	}
	if !s.whole {
		c.Turns, c.Calls, c.Denied = max(c.Turns, s.brief.Turns), max(c.Calls, s.brief.Calls), max(c.Denied, s.brief.Denied)
	}
	return c
}

func (c *Counts) add(calls []Call) {
	c.Calls += len(calls)
	for i := range calls {
		switch calls[i].State {
		case CallDenied:
			c.Denied++
		case CallWaiting:
			c.Waiting++
		}
	}
}

// Elapsed is how long the session has lasted, or did.
func (s *Session) Elapsed(now time.Time) time.Duration {
	if s.Active() {
		return max(now.Sub(s.began), 0)
	}
	return max(s.ended().Sub(s.began), 0)
}

// ended is when the last had ended that has.
func (s *Session) ended() time.Time {
	last := s.brief.Ended
	later := func(began time.Time, took time.Duration) {
		if at := began.Add(took); at.After(last) {
			last = at
		}
	}
	for _, run := range s.Turns {
		later(run.Began, run.Duration)
	}
	for i := range s.Calls {
		later(s.Calls[i].Began, s.Calls[i].Duration)
	}
	return last
}

// Row is one row of a session's timeline: a turn, or a call.
type Row struct {
	Turn *Run  // nil for a call
	Call *Call // nil for a turn; it is the session's own until that changes
}

// ID tells the rows of a timeline apart.
func (r Row) ID() string {
	if r.Turn != nil {
		return "turn " + r.Turn.ID
	}
	return r.Call.ID
}

func (r Row) began() time.Time {
	if r.Turn != nil {
		return r.Turn.Began
	}
	return r.Call.Began
}

// Timeline is all that is known of the session, in order of time.
func (s *Session) Timeline() []Row {
	var rows []Row
	for _, run := range s.Turns {
		rows = append(rows, Row{Turn: run})
		for i := range run.Calls {
			rows = append(rows, Row{Call: &run.Calls[i]})
		}
	}
	for i := range s.Calls {
		rows = append(rows, Row{Call: &s.Calls[i]})
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.began().Compare(b.began()) })
	return rows
}
