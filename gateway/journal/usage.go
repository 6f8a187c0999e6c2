package journal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pointsman/approvals"
)

// Tally sums up runs and calls.
type Tally struct {
	Runs             int64
	Calls            int64
	PromptTokens     int64
	CompletionTokens int64
	// CostUSD is what the runs cost whose price is known; nil when that is none.
	CostUSD *float64
	// Unpriced is how many runs that used tokens have no known price.
	Unpriced int64
	RunTime  time.Duration
	CallTime time.Duration
}

// Tokens is what went in and what came out.
func (t Tally) Tokens() int64 { return t.PromptTokens + t.CompletionTokens }

func (t *Tally) add(o Tally) {
	t.Runs += o.Runs
	t.Calls += o.Calls
	t.PromptTokens += o.PromptTokens
	t.CompletionTokens += o.CompletionTokens
	t.Unpriced += o.Unpriced
	t.RunTime += o.RunTime
	t.CallTime += o.CallTime
	if o.CostUSD != nil {
		cost := *o.CostUSD
		if t.CostUSD != nil {
			cost += *t.CostUSD
		}
		t.CostUSD = &cost
	}
}

// NamedTally is a model's or a server's.
type NamedTally struct {
	Name string // "" when the record does not name it
	Tally
}

// DayTally is a day's.
type DayTally struct {
	Day time.Time // its beginning, where the user is
	Tally
}

// Answers is how often a call was put before somebody, and what came of it. A
// call that still waits is not in it.
type Answers struct {
	Allowed     int64 // by a person, Edited among them
	Edited      int64 // allowed with other arguments
	Denied      int64 // by a person
	NotAnswered int64
	Withdrawn   int64
	ByRule      int64 // nobody had to be asked: a remembered rule answered
	BySetting   int64 // nor here: a setting, or the lack of anybody to ask, did
}

// Asked is how often a person was asked.
func (a Answers) Asked() int64 { return a.Allowed + a.Denied + a.NotAnswered + a.Withdrawn }

// Usage is what was used in some days. A server has calls and their time only:
// tokens are a model's.
type Usage struct {
	Total   Tally
	Days    []DayTally   // each day, oldest first
	Models  []NamedTally // most runs first
	Servers []NamedTally // most calls first
	Answers Answers
}

// Usage sums up the days from the one that since is in to the one that until is
// in, both included, as days are where the user is: in until's location.
func (r *Reader) Usage(ctx context.Context, since, until time.Time) (*Usage, error) {
	u := &Usage{}
	var bounds statement
	for _, day := range daysBetween(since.In(until.Location()), until) {
		u.Days = append(u.Days, DayTally{Day: day})
		bounds.add(", (?, ?, ?)", len(u.Days)-1, day.UnixNano(), day.AddDate(0, 0, 1).UnixNano())
	}
	if len(u.Days) == 0 {
		return u, nil
	}
	s := usageSums{usage: u, models: map[string]*Tally{}, servers: map[string]*Tally{},
		days: "WITH days (d, a, b) AS (VALUES " + bounds.text.String()[2:] + ") ", args: bounds.args}
	r.catchUp(ctx)
	for _, sum := range []func(context.Context, *Reader) error{s.runs, s.calls, s.answers} {
		if err := sum(ctx, r); err != nil {
			return nil, fmt.Errorf("summing up the journal: %w", err)
		}
	}
	u.Models = sorted(s.models, func(t Tally) int64 { return t.Runs })
	u.Servers = sorted(s.servers, func(t Tally) int64 { return t.Calls })
	return u, nil
}

// daysBetween returns the beginnings of the days from since to until.
func daysBetween(since, until time.Time) []time.Time {
	var days []time.Time
	y, m, d := since.Date()
	for day := time.Date(y, m, d, 0, 0, 0, 0, until.Location()); !day.After(until); {
		days = append(days, day)
		d++
		day = time.Date(y, m, d, 0, 0, 0, 0, until.Location())
	}
	return days
}

// usageSums adds rows up. days is the beginning of each statement: a table of
// the days, so that SQLite walks the index on time.
type usageSums struct {
	usage           *Usage
	models, servers map[string]*Tally
	days            string
	args            []any
}

func (s *usageSums) query(ctx context.Context, r *Reader, text string, each func(scanner) error) error {
	rows, err := r.db.QueryContext(ctx, s.days+text, s.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *usageSums) runs(ctx context.Context, r *Reader) error {
	return s.query(ctx, r, `SELECT d, model, count(*), sum(prompt_tokens), sum(completion_tokens), sum(cost_usd),
		sum(cost_usd IS NULL AND prompt_tokens + completion_tokens > 0), sum(duration_ms)
		FROM days CROSS JOIN runs ON time >= a AND time < b GROUP BY d, model`,
		func(scan scanner) error {
			var day int
			var model string
			var t Tally
			var ms int64
			err := scan(&day, &model, &t.Runs, &t.PromptTokens, &t.CompletionTokens, &t.CostUSD, &t.Unpriced, &ms)
			if err == nil {
				t.RunTime = time.Duration(ms) * time.Millisecond
				s.count(day, t)
				named(s.models, model).add(t)
			}
			return err
		})
}

func (s *usageSums) calls(ctx context.Context, r *Reader) error {
	return s.query(ctx, r, `SELECT d, model, server, count(*), sum(duration_ms)
		FROM days CROSS JOIN calls ON time >= a AND time < b GROUP BY d, model, server`,
		func(scan scanner) error {
			var day int
			var model, server string
			var t Tally
			var ms int64
			err := scan(&day, &model, &server, &t.Calls, &ms)
			if err == nil {
				t.CallTime = time.Duration(ms) * time.Millisecond
				s.count(day, t)
				named(s.models, model).add(t)
				named(s.servers, server).add(t)
			}
			return err
		})
}

func (s *usageSums) count(day int, t Tally) {
	s.usage.Days[day].add(t)
	s.usage.Total.add(t)
}

func (s *usageSums) answers(ctx context.Context, r *Reader) error {
	return s.query(ctx, r, `SELECT approver, coalesce(approved, 0), edited, coalesce(outcome, ''), count(*)
		FROM days CROSS JOIN calls ON time >= a AND time < b WHERE approver <> '' GROUP BY 1, 2, 3, 4`,
		func(scan scanner) error {
			var approver, outcome string
			var approved, edited bool
			var n int64
			err := scan(&approver, &approved, &edited, &outcome, &n)
			if err == nil {
				s.usage.Answers.count(approver, approved, edited, Outcome(outcome), n)
			}
			return err
		})
}

// count adds n calls that were answered alike.
func (a *Answers) count(approver string, approved, edited bool, outcome Outcome, n int64) {
	person := approvals.Decision{Approver: approver}.ByPerson()
	switch {
	case outcome == NotAnswered: // nobody's answer, to whom it may have been put
		a.NotAnswered += n
	case outcome == Withdrawn:
		a.Withdrawn += n
	case approver == approvals.ByRule:
		a.ByRule += n
	case !person:
		a.BySetting += n
	case approved:
		a.Allowed += n
		if edited {
			a.Edited += n
		}
	default:
		a.Denied += n
	}
}

func named(tallies map[string]*Tally, name string) *Tally {
	t := tallies[name]
	if t == nil {
		t = &Tally{}
		tallies[name] = t
	}
	return t
}

// sorted returns tallies, the one of which there is most first.
func sorted(tallies map[string]*Tally, amount func(Tally) int64) []NamedTally {
	var all []NamedTally
	for name, t := range tallies {
		all = append(all, NamedTally{Name: name, Tally: *t})
	}
	slices.SortFunc(all, func(a, b NamedTally) int {
		if d := amount(b.Tally) - amount(a.Tally); d != 0 {
			return int(d)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}
