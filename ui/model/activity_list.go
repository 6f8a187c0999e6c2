package model

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"pointsman/gateway/journal"
)

// ListRow is a row of the list of runs: a run, or a heading over runs.
type ListRow struct {
	Heading string // "" for a run
	Run     *Run
}

// ResetPast forgets what was listed from the journal. found says whether what
// comes next is what a search found: then the list shows nothing else.
func (a *Activity) ResetPast(found bool) {
	a.past, a.inPast, a.found = nil, nil, found
}

// AddPast adds the next runs from the journal, in its order.
func (a *Activity) AddPast(page []journal.Run) {
	if a.inPast == nil {
		a.inPast = map[string]bool{}
	}
	for _, row := range page {
		if a.inPast[row.ID] {
			continue
		}
		a.inPast[row.ID] = true
		a.past = append(a.past, PastRun(row))
		if run := a.runs[row.ID]; run != nil && !run.Active {
			run.learn(row)
		}
	}
}

// letGo keeps of an ended run what the journal has of it, unless a search is
// shown: it may not be among what is searched for.
func (a *Activity) letGo(run *Run) {
	if a.found || a.inPast[run.ID] {
		return
	}
	if a.inPast == nil {
		a.inPast = map[string]bool{}
	}
	a.inPast[run.ID] = true
	kept := *run
	kept.Plan, kept.Calls, kept.index, kept.recorded = nil, nil, map[string]int{}, true
	a.past = insert(a.past, &kept)
}

// PastRun is a run as the journal has it, without its calls: see Record.
func PastRun(row journal.Run) *Run {
	r := &Run{ID: row.ID, Door: row.Door, Client: row.Client, Session: row.Session, Model: row.Model,
		Began: row.Time, index: map[string]int{}}
	r.learn(row)
	return r
}

// learn takes over what only the journal knows of a run that has ended.
func (r *Run) learn(row journal.Run) {
	r.recorded = true
	r.Rounds = max(r.Rounds, row.Rounds)
	if row.Outcome == "" {
		return
	}
	r.Outcome, r.Reason, r.Duration = row.Outcome, row.Error, time.Duration(row.DurationMS)*time.Millisecond
	r.Tokens, r.CostUSD = row.PromptTokens+row.CompletionTokens, row.CostUSD
}

// Rows are the rows of the list: what is active, then day by day what was, each
// newest first.
func (a *Activity) Rows(now time.Time) []ListRow {
	rows := make([]ListRow, 0, len(a.active)+len(a.ended)+len(a.past)+8)
	if !a.found && len(a.active) > 0 {
		rows = append(rows, ListRow{Heading: "Now"})
		for _, run := range a.active {
			rows = append(rows, ListRow{Run: run})
		}
	}
	day := ""
	for run := range a.listed {
		if heading := dayHeading(run.Began, now); heading != day {
			day = heading
			rows = append(rows, ListRow{Heading: day})
		}
		rows = append(rows, ListRow{Run: run})
	}
	return rows
}

// listed yields what has ended, newest first: what the events told and what the
// journal has, each once. Of what a search found it yields active runs, too.
func (a *Activity) listed(yield func(*Run) bool) {
	ended := a.ended
	if a.found {
		ended = nil
	}
	for _, run := range a.past {
		for len(ended) > 0 && !ended[0].Began.Before(run.Began) {
			if !yield(ended[0]) {
				return
			}
			ended = ended[1:]
		}
		if told := a.runs[run.ID]; told != nil {
			if !a.found {
				continue // it stands under Now, or among those that have ended
			}
			run = told
		}
		if !yield(run) {
			return
		}
	}
	for _, run := range ended {
		if !yield(run) {
			return
		}
	}
}

// dayHeading names a day as it is seen now, where now is: "Today", "Yesterday",
// "Monday 2 March", "2 March 2025".
func dayHeading(at, now time.Time) string {
	at = at.In(now.Location())
	switch days := daysApart(at, now); {
	case days <= 0:
		return "Today"
	case days == 1:
		return "Yesterday"
	case at.Year() == now.Year():
		return at.Format("Monday 2 January")
	default:
		return at.Format("2 January 2006")
	}
}

// daysApart counts the midnights from a to b, both in one location.
func daysApart(a, b time.Time) int {
	noon := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, time.UTC)
	}
	return int(noon(b).Sub(noon(a)) / (24 * time.Hour))
}

// Search is what the list of runs is narrowed to. The zero Search is nothing.
type Search struct {
	Text, Server, Tool string
	Outcome            journal.Outcome
	Days               DayRange
}

// Empty reports whether the search narrows nothing.
func (s Search) Empty() bool { return s == Search{} }

// DayRange is a span of days, in words for a person.
type DayRange string

// The spans. AnyDay is the zero value.
const (
	AnyDay     DayRange = ""
	Today      DayRange = "Today"
	Yesterday  DayRange = "Yesterday"
	Last7Days  DayRange = "Last 7 days"
	Last30Days DayRange = "Last 30 days"
)

// DayRanges are the spans that can be searched, but for AnyDay.
func DayRanges() []DayRange { return []DayRange{Today, Yesterday, Last7Days, Last30Days} }

// span returns the beginning of the span and its end, either zero when it is
// open there.
func (d DayRange) span(now time.Time) (since, until time.Time) {
	midnight := func(ago int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()-ago, 0, 0, 0, 0, now.Location())
	}
	switch d {
	case Today:
		return midnight(0), time.Time{}
	case Yesterday:
		return midnight(1), midnight(0)
	case Last7Days:
		return midnight(6), time.Time{}
	case Last30Days:
		return midnight(29), time.Time{}
	default:
		return time.Time{}, time.Time{}
	}
}

// Filter is what the journal is asked for.
func (s Search) Filter(now time.Time) journal.Filter {
	since, until := s.Days.span(now)
	return journal.Filter{Since: since, Until: until, Server: s.Server, Tool: s.Tool, Outcome: s.Outcome, Text: s.Text, Deep: true}
}

// Elapsed says a duration to a person, in at most two parts: "400 ms", "2.5 s",
// "3 min 5 s", "2 h 10 min".
func Elapsed(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return strconv.FormatFloat(float64(d.Milliseconds()/100)/10, 'f', 1, 64) + " s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
}

// longestName is how many characters of a name are shown where there is one line.
const longestName = 80

// OneLine is a name that somebody else chose, fit for one line: it is not too
// long, and nothing in it hides.
func OneLine(name string) string { return clip(name, longestName) }

// Clipped is a text of another program's in one line, of bounded length.
func Clipped(text string) string { return clip(text, longestText) }

// Searched reports whether the list shows what a search found.
func (a *Activity) Searched() bool { return a.found }

// RunTitle names a run: who asked.
func RunTitle(r *Run) string { return OneLine(cmp.Or(r.Client, r.Door, "a program without a name")) }

// RunLine says the rest of a run in one line: when, how it is, by which model.
func RunLine(r *Run, state string, now time.Time) string {
	at := r.Began.In(now.Location()).Format("15:04")
	return join(at, state, OneLine(r.Model), plan(r))
}

func plan(r *Run) string {
	if _, done, of := r.Progress(); of > 0 {
		return fmt.Sprintf("step %d of %d", min(done+1, of), of)
	}
	return ""
}

// RunDetail says in one line how a run is, for how long, by which model, and
// what it took.
func RunDetail(r *Run, state string, now time.Time) string {
	parts := []string{state, Elapsed(r.Elapsed(now)), OneLine(r.Model), r.Began.In(now.Location()).Format("2 Jan 15:04")}
	if r.Rounds > 0 {
		parts = append(parts, CountOf(r.Rounds, "round"))
	}
	if r.Tokens > 0 {
		parts = append(parts, CountOf(r.Tokens, "token"), cost(r.CostUSD))
	}
	return join(parts...)
}

func cost(usd *float64) string {
	if usd == nil {
		return "cost " + unknown
	}
	return Dollars(*usd)
}

// RunReason says why a run did not end well; "" when it did, goes on, or its
// state says so already.
func RunReason(r *Run) string {
	if _, tone := r.State(); r.Active || tone == Good || r.stopped() {
		return ""
	}
	return clip(r.Reason, 4*longestName)
}

// CurrentStep is the step in progress, to be put behind the count of steps.
func CurrentStep(r *Run) string {
	for _, step := range r.Plan {
		if step.Status == "in_progress" {
			return " · " + OneLine(step.Description)
		}
	}
	return ""
}

// CallLine says how a call is, or what it took.
func CallLine(c Call) string {
	took := ""
	if c.State.Ended() && c.Duration > 0 {
		took = Elapsed(c.Duration)
	}
	return join(c.State.Word(), took)
}
