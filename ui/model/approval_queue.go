package model

import (
	"cmp"
	"fmt"
	"slices"

	"pointsman/approvals"
)

// ApprovalQueue is what waits for a person, and which of it is shown. Calls of
// the same round of a run stand together, in the order in which the model made them. The zero ApprovalQueue is empty. It is
// for one goroutine.
type ApprovalQueue struct {
	waiting []approvals.Request           // together by round, rounds in the order of arrival
	shown   string                        // id
	seen    map[round][]approvals.Request // of a round that still waits, answered ones too, in the model's order
}

// round names the calls that belong together. Those of no run stand alone.
type round struct {
	run    string
	number int
	alone  string // id, for a call of no run
}

func roundOf(req approvals.Request) round {
	if req.Run == "" {
		return round{alone: req.ID}
	}
	return round{run: req.Run, number: req.Round}
}

// Set takes what waits now. It returns the request that was shown and left the
// list, if any. When the shown one left, the next of its round is shown, else
// the first of all.
func (q *ApprovalQueue) Set(pending []approvals.Request) (gone approvals.Request, left bool) {
	before, had := q.Shown()
	q.waiting = together(pending)
	q.note()
	if q.index(q.shown) >= 0 {
		return approvals.Request{}, false
	}
	q.shown = ""
	if next := q.after(before, had); next >= 0 {
		q.shown = q.waiting[next].ID
	}
	return before, had
}

// together orders requests so that rounds are not torn apart.
func together(pending []approvals.Request) []approvals.Request {
	first := map[round]int{}
	for i, req := range pending {
		if _, ok := first[roundOf(req)]; !ok {
			first[roundOf(req)] = i
		}
	}
	ordered := slices.Clone(pending)
	slices.SortStableFunc(ordered, func(a, b approvals.Request) int {
		return cmp.Or(first[roundOf(a)]-first[roundOf(b)], a.Call-b.Call)
	})
	return ordered
}

// note remembers which calls a round has had, as long as some of it waits.
func (q *ApprovalQueue) note() {
	seen := map[round][]approvals.Request{}
	for _, req := range q.waiting {
		key := roundOf(req)
		if _, ok := seen[key]; !ok {
			seen[key] = q.seen[key]
		}
		if !slices.ContainsFunc(seen[key], func(other approvals.Request) bool { return other.ID == req.ID }) {
			seen[key] = append(seen[key], req)
		}
		slices.SortStableFunc(seen[key], func(a, b approvals.Request) int { return a.Call - b.Call })
	}
	q.seen = seen
}

// after returns the place of what comes after a request that has left, or -1.
func (q *ApprovalQueue) after(left approvals.Request, had bool) int {
	if len(q.waiting) == 0 {
		return -1
	}
	if had {
		same := func(req approvals.Request) bool { return roundOf(req) == roundOf(left) }
		if i := slices.IndexFunc(q.waiting, same); i >= 0 {
			return i
		}
	}
	return 0
}

func (q *ApprovalQueue) index(id string) int {
	return slices.IndexFunc(q.waiting, func(req approvals.Request) bool { return req.ID == id })
}

// Shown returns the request that is shown; false when nothing waits.
func (q *ApprovalQueue) Shown() (approvals.Request, bool) {
	if i := q.index(q.shown); i >= 0 {
		return q.waiting[i], true
	}
	return approvals.Request{}, false
}

// Step shows the request that is by so many places further, round about.
func (q *ApprovalQueue) Step(by int) {
	if n := len(q.waiting); n > 0 {
		q.shown = q.waiting[((q.index(q.shown)+by)%n+n)%n].ID
	}
}

// Waiting returns what waits, in the order it is shown.
func (q *ApprovalQueue) Waiting() []approvals.Request { return slices.Clone(q.waiting) }

// Position says which of its round is shown, and how many others wait; "" when
// it is the only one.
func (q *ApprovalQueue) Position() string {
	req, ok := q.Shown()
	if !ok {
		return ""
	}
	calls := q.seen[roundOf(req)]
	others := 0
	for _, other := range q.waiting {
		if roundOf(other) != roundOf(req) {
			others++
		}
	}
	place, more := "", ""
	if len(calls) > 1 {
		at := slices.IndexFunc(calls, func(other approvals.Request) bool { return other.ID == req.ID })
		place = fmt.Sprintf("%d of %d", at+1, len(calls))
	}
	if others > 0 {
		more = fmt.Sprintf("%d more", others)
	}
	return join(place, more)
}
