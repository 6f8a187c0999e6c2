package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pointsman/gateway/journal"
)

// ListRow is a row of the list of sessions: a session, or a heading over some.
type ListRow struct {
	Heading string // "" for a session
	Session *Session
}

// ResetPast forgets what was listed from the journal. found says whether what
// comes next is what a search found: then the list shows nothing else.
func (a *Activity) ResetPast(found bool) {
	a.listed, a.found = nil, found
	a.order = slices.DeleteFunc(a.order, func(s *Session) bool {
		gone := !s.live && s.Key != a.shown
		if gone {
			a.forget(s)
			delete(a.sessions, s.Key)
		}
		return gone
	})
}

// AddPast adds the next sessions from the journal.
func (a *Activity) AddPast(page []journal.Session) {
	if a.listed == nil {
		a.listed = map[string]bool{}
	}
	for _, brief := range page {
		s := a.session(keyOf(brief.ID, brief.Run, brief.Call), brief.ID)
		s.list(brief)
		a.listed[s.Key] = true
	}
}

// sort puts the sessions in their order: what has begun last comes first.
func (a *Activity) sort() {
	slices.SortFunc(a.order, func(x, y *Session) int {
		return cmp.Or(y.last.Compare(x.last), cmp.Compare(x.Key, y.Key))
	})
}

// Rows are the rows of the list: what is active, then day by day what was, each
// newest first. Of what a search found there is no more than that.
func (a *Activity) Rows(now time.Time) []ListRow {
	a.sort()
	rows := make([]ListRow, 0, len(a.order)+8)
	past := make([]*Session, 0, len(a.order))
	for _, s := range a.order {
		switch {
		case a.found:
			if a.listed[s.Key] {
				past = append(past, s)
			}
		case !s.Active():
			if s.live || a.listed[s.Key] {
				past = append(past, s)
			}
		default:
			if len(rows) == 0 {
				rows = append(rows, ListRow{Heading: "Now"})
			}
			rows = append(rows, ListRow{Session: s})
		}
	}
	day := ""
	for _, s := range past {
		if heading := dayHeading(s.last, now); heading != day {
			day = heading
			rows = append(rows, ListRow{Heading: day})
		}
		rows = append(rows, ListRow{Session: s})
	}
	return rows
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
