package model

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/cut"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
)

// Call is one tool call.
type Call struct {
	ID       string // in the journal
	Door     string // by which it came; "" of a run's
	Server   string // "" until it is known
	Tool     string // as the model sees it
	Brief    string // the arguments in one short line
	Class    approvals.Class
	Round    int
	State    CallState
	Began    time.Time
	Duration time.Duration // of the execution, when it has ended
	Approver string        // who decided; "" when nobody had to
	Reason   string
}

// callList is calls in their order.
type callList struct {
	Calls []Call

	index map[string]int // of Calls, by their ids
}

// applyCall takes in an event of a call, and reports whether the call is new.
func (l *callList) applyCall(e loop.Event) (added bool) {
	i, added := l.call(cmp.Or(e.Record, e.Call), e.Time)
	c := &l.Calls[i]
	c.Tool, c.Round = cmp.Or(c.Tool, e.Tool), max(c.Round, e.Round)
	c.Server, c.Class = cmp.Or(e.Server, c.Server), cmp.Or(e.Class, c.Class)
	if e.Run == "" {
		c.Door = e.Door
	}
	if len(e.Arguments) > 0 {
		c.Brief = brief(e.Arguments)
	}
	switch e.Kind {
	case loop.CallWaiting:
		c.advance(CallWaiting)
		c.ask(e.Request)
	case loop.CallRunning:
		c.advance(CallRunning)
		c.Approver = cmp.Or(e.Approver, c.Approver)
	case loop.CallFinished:
		c.Tool = cmp.Or(e.Tool, c.Tool)
		c.State, c.Duration, c.Reason = endOf(journal.Outcome(e.Outcome)), e.Duration, e.Reason
		c.Approver = cmp.Or(e.Approver, c.Approver)
	}
	return added
}

// ask takes over what a request for approval tells of its call.
func (c *Call) ask(req *approvals.Request) {
	if req != nil {
		c.Server, c.Class = req.Server, cmp.Or(req.Class, c.Class)
	}
}

// advance never goes back: what is told late is old.
func (c *Call) advance(s CallState) { c.State = max(c.State, s) }

// call returns where the call with that id is; it is added when it is new.
func (l *callList) call(id string, at time.Time) (i int, added bool) {
	if i, known := l.index[id]; known {
		return i, false
	}
	if l.index == nil {
		l.index = map[string]int{}
	}
	l.Calls = append(l.Calls, Call{ID: id, Began: at})
	l.index[id] = len(l.Calls) - 1
	return len(l.Calls) - 1, true
}

// record takes over a row of the journal.
func (l *callList) record(row journal.Call) {
	i, _ := l.call(row.ID, row.Time)
	l.Calls[i].learn(row)
}

// learn takes over a row of the journal. Where a call is that goes on, its
// events tell better.
func (c *Call) learn(row journal.Call) {
	c.Server, c.Tool, c.Round, c.Brief = row.Server, cmp.Or(row.Offered, row.Tool), row.Round, brief(row.Arguments)
	c.Class = row.Class
	if row.Time.Before(c.Began) {
		c.Began = row.Time // it was heard of late
	}
	if row.Run == "" {
		c.Door = row.Door
	}
	c.Approver, c.Reason = cmp.Or(row.Approver, c.Approver), cmp.Or(row.Error, row.Reason, c.Reason)
	switch {
	case row.Outcome != "":
		c.State, c.Duration = endOf(row.Outcome), time.Duration(row.DurationMS)*time.Millisecond
	case c.State.Ended():
	case row.Approved != nil && *row.Approved, !row.Risky && row.Run == "":
		c.advance(CallRunning)
	case row.Run == "":
		c.advance(CallWaiting) // for the gate, which asks a person
	}
}

// sortCalls puts the calls in their order again. A journal's row begins a moment
// after its call was requested, so rounds go first.
func (l *callList) sortCalls() {
	slices.SortStableFunc(l.Calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), a.Began.Compare(b.Began))
	})
	for i := range l.Calls {
		l.index[l.Calls[i].ID] = i
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
	return cut.To(approvals.Visible(strings.Join(strings.Fields(text), " ")), n)
}
