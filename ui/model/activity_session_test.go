package model_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/ui/model"
)

// The events of one session of Copilot's, that comes by three doors: a turn, a call
// of a tool of its own and one of ours, and a second turn.
func sessionEvents() []loop.Event {
	event := func(second int, e loop.Event) loop.Event {
		e.Time, e.Session = began.Add(time.Duration(second)*time.Second), "s1"
		switch {
		case e.Run != "":
			e.Door, e.Client, e.Model = "http", "OpenAI/JS", "sol"
		case e.Door == "hook":
			e.Client, e.CWD, e.Server = "copilot-cli/1.0", "/work", "copilot"
		default:
			e.Door, e.Client, e.CWD, e.Server = "mcp", "copilot-cli", "/", "fs"
		}
		return e
	}
	command := json.RawMessage(`{"command":"make"}`)
	return []loop.Event{
		event(0, loop.Event{Kind: loop.RunStarted, Run: "r1"}),
		event(2, loop.Event{Kind: loop.RunFinished, Run: "r1", Outcome: "ok", Duration: 2 * time.Second}),
		event(3, loop.Event{Kind: loop.CallRequested, Door: "hook", Record: "h1", Tool: "bash", Class: approvals.Execute, Arguments: command}),
		event(3, loop.Event{Kind: loop.CallWaiting, Door: "hook", Record: "h1", Tool: "bash", Class: approvals.Execute, Request: &approvals.Request{Server: "copilot", Class: approvals.Execute}}),
		event(4, loop.Event{Kind: loop.CallRequested, Record: "m1", Tool: "fs__read", Class: approvals.Read}),
		event(4, loop.Event{Kind: loop.CallRunning, Record: "m1", Tool: "fs__read", Class: approvals.Read}),
		event(5, loop.Event{Kind: loop.CallFinished, Record: "m1", Tool: "fs__read", Outcome: "ok", Duration: time.Second}),
		event(6, loop.Event{Kind: loop.CallFinished, Door: "hook", Record: "h1", Tool: "bash", Outcome: "denied", Approver: "desk", Reason: "no"}),
		event(7, loop.Event{Kind: loop.RunStarted, Run: "r2"}),
		event(9, loop.Event{Kind: loop.RunFinished, Run: "r2", Outcome: "auth_failed", Reason: "no key", Duration: 2 * time.Second}),
	}
}

// sessionRows are the same as the journal has it.
func sessionRows() ([]journal.Run, []journal.Call) {
	at := func(second int) time.Time { return began.Add(time.Duration(second) * time.Second) }
	no := new(bool)
	return []journal.Run{
			{ID: "r1", Time: at(0), Session: "s1", Door: "http", Client: "OpenAI/JS", Model: "sol", Outcome: journal.OK, DurationMS: 2000},
			{ID: "r2", Time: at(7), Session: "s1", Door: "http", Client: "OpenAI/JS", Model: "sol", Outcome: "auth_failed", Error: "no key", DurationMS: 2000},
		}, []journal.Call{
			{ID: "h1", Time: at(3), Session: "s1", Door: "hook", Client: "copilot-cli/1.0", CWD: "/work", Server: "copilot", Tool: "bash", Offered: "bash", Class: approvals.Execute, Risky: true,
				Arguments: json.RawMessage(`{"command":"make"}`), Outcome: journal.Denied, Approved: no, Approver: "desk", Reason: "no"},
			{ID: "m1", Time: at(4), Session: "s1", Door: "mcp", Client: "copilot-cli", CWD: "/", Server: "fs", Tool: "read", Offered: "fs__read", Class: approvals.Read, Outcome: journal.OK, DurationMS: 1000},
		}
}

const sessionKey = "session s1"

// seen says all that is shown of a session.
func seen(s *model.Session, now time.Time) string {
	word, _ := s.State()
	said := []string{model.SessionTitle(s), model.SessionLine(s, word, now), model.SessionDetail(s, word, now), model.SessionPlace(s), model.SessionReason(s)}
	for _, row := range s.Timeline() {
		if row.Turn != nil {
			state, _ := model.TurnState(row.Turn, now)
			said = append(said, row.ID()+": "+model.TurnTitle(row.Turn)+" | "+model.TurnLine(row.Turn)+" | "+state)
			continue
		}
		said = append(said, row.ID()+": "+row.Call.Tool+" | "+model.CallFacts(*row.Call)+" | "+model.CallLine(*row.Call))
	}
	return strings.Join(said, "\n")
}

const wholeSession = `copilot-cli/1.0
12:00 · Failed · 2 turns · 2 calls
Failed · 2 turns · 2 calls · 1 denied · 9.0 s · 2 Mar 12:00
/work · session s1
no key
turn r1: sol | Model turn | Done · 2.0 s
h1: bash | Built-in tool · execute · denied by you · command: make | Denied
m1: fs__read | MCP · read | Done · 1.0 s
turn r2: sol | Model turn · no key | Failed · 2.0 s`

// TestSessionIsOneTimeline: however it is learnt of, live, from the journal, or
// from both, it is shown the same.
func TestSessionIsOneTimeline(t *testing.T) {
	runs, calls := sessionRows()
	brief := []journal.Session{{ID: "s1", Client: "copilot-cli/1.0", CWD: "/work", Model: "sol", Began: runs[0].Time, Last: runs[1].Time, Ended: began.Add(9 * time.Second),
		Turns: 2, Calls: 2, Denied: 1, Outcome: "auth_failed", Error: "no key"}}
	events := sessionEvents()
	for _, test := range []struct {
		name  string
		learn func(a *model.Activity)
	}{
		{"live", func(a *model.Activity) { apply(a, events...) }},
		{"from the journal", func(a *model.Activity) { a.AddPast(brief); a.Record(sessionKey, runs, calls) }},
		{"live, then from the journal", func(a *model.Activity) { apply(a, events...); a.AddPast(brief); a.Record(sessionKey, runs, calls) }},
		{"the journal amid the events", func(a *model.Activity) {
			apply(a, events[:5]...)
			a.Record(sessionKey, runs[:1], []journal.Call{{ID: "h1", Time: calls[0].Time, Session: "s1", Door: "hook", Tool: "bash", Class: approvals.Execute, Risky: true, Arguments: calls[0].Arguments}})
			apply(a, events[5:]...)
		}},
		{"its end alone is live", func(a *model.Activity) {
			a.AddPast(brief)
			apply(a, events[8:]...)
			if owed := a.Owed(); owed == nil || owed.Key != sessionKey {
				t.Error("what was before is not asked for")
			}
			a.Record(sessionKey, runs, calls)
			if a.Owed() != nil {
				t.Error("it is asked for again")
			}
		}},
		{"the journal before the events", func(a *model.Activity) {
			open := runs[0]
			open.Outcome, open.DurationMS = "", 0
			a.AddPast([]journal.Session{{ID: "s1", Began: open.Time, Last: open.Time, Turns: 1, Open: 1}})
			a.Record(sessionKey, []journal.Run{open}, nil)
			apply(a, events[1:]...)
		}},
		{"a loss on the way", func(a *model.Activity) {
			apply(a, events[:4]...)
			a.Record(sessionKey, runs[:1], nil)
			lost := events[9]
			lost.Lost = 5
			apply(a, lost)
			a.Sync(nil, began.Add(time.Hour))
			if a.Owed() == nil {
				t.Error("what was lost is not asked for")
			}
			a.Record(sessionKey, runs, calls)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a model.Activity
			test.learn(&a)
			if diff := cmp.Diff(wholeSession, seen(a.Find(sessionKey), began)); diff != "" {
				t.Error(diff)
			}
			if a.Busy() {
				t.Error("something still goes on")
			}
			if rows := a.Rows(began); len(rows) != 2 || rows[1].Session.Key != sessionKey {
				t.Errorf("the list is %+v", rows)
			}
		})
	}
}

// TestSessionStates: what a session says of itself while things go on in it.
func TestSessionStates(t *testing.T) {
	events := sessionEvents()
	for n, want := range map[int]string{
		1: "Running", 2: "Done", 3: "Running", 4: "Waiting for you", 7: "Waiting for you", 8: "Done", 9: "Running", 10: "Failed",
	} {
		var a model.Activity
		apply(&a, events[:n]...)
		s := a.Find(sessionKey)
		if word, _ := s.State(); word != want || s.Active() != (want == "Running" || want == "Waiting for you") {
			t.Errorf("after %d events it is %q, active %v, not %q", n, word, s.Active(), want)
		}
	}
	for _, test := range []struct {
		brief journal.Session
		want  string
	}{
		{journal.Session{ID: "s", Calls: 3}, "Done"},
		{journal.Session{ID: "s", Calls: 3, Open: 1}, "Running"},
		{journal.Session{ID: "s", Turns: 1, Outcome: "auth_failed"}, "Failed"},
		{journal.Session{Run: "r", Turns: 1, Outcome: journal.Cancelled, Error: "stopped by the person"}, "Stopped by you"},
		{journal.Session{Call: "c", Calls: 1, Outcome: journal.Denied}, "Denied"},
	} {
		var a model.Activity
		a.AddPast([]journal.Session{test.brief})
		if word, _ := a.Rows(began)[1].Session.State(); word != test.want {
			t.Errorf("%+v is %q, not %q", test.brief, word, test.want)
		}
		if owed := a.Owed() != nil; owed != (test.brief.Open > 0) {
			t.Errorf("%+v is asked for: %v", test.brief, owed)
		}
	}
}

// TestSessionsAreApart: what names no session is one by itself.
func TestSessionsAreApart(t *testing.T) {
	var a model.Activity
	for i, e := range []loop.Event{
		{Kind: loop.RunStarted, Run: "r1"}, {Kind: loop.RunStarted, Run: "r2"},
		{Kind: loop.CallRequested, Record: "c1", Door: "mcp"}, {Kind: loop.CallRequested, Record: "c2", Door: "mcp"},
		{Kind: loop.RunStarted, Run: "r3", Session: "a"}, {Kind: loop.CallRequested, Record: "c3", Session: "a"}, {Kind: loop.CallRequested, Record: "c4", Session: "b"},
	} {
		e.Time = began.Add(time.Duration(i) * time.Second)
		a.Apply(e)
	}
	var keys []string
	for _, row := range a.Rows(began)[1:] {
		keys = append(keys, row.Session.Key)
	}
	if got, want := strings.Join(keys, ", "), "session b, session a, call c2, call c1, run r2, run r1"; got != want {
		t.Errorf("the sessions are %s, not %s", got, want)
	}
	for key, want := range map[string]journal.Filter{"session a": {Session: "a"}, "run r2": {Run: "r2"}, "call c1": {Call: "c1"}} {
		if diff := cmp.Diff(want, a.Find(key).Rows()); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

// BenchmarkTimeline is the timeline of a session with 1,000 rows.
func BenchmarkTimeline(b *testing.B) {
	var a model.Activity
	for i := range 1000 {
		e := loop.Event{Kind: loop.CallRequested, Record: fmt.Sprint(i), Door: "hook", Tool: "bash", Time: began.Add(time.Duration(i) * time.Second), Session: "s1"}
		if i%10 == 0 {
			e = loop.Event{Kind: loop.RunStarted, Run: fmt.Sprint(i), Time: e.Time, Session: "s1"}
		}
		a.Apply(e)
	}
	s := a.Find(sessionKey)
	b.ReportAllocs()
	for b.Loop() {
		s.Timeline()
	}
}
