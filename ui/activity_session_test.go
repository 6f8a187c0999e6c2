package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// fillSession records a session of Copilot's with turns, calls of its own tools and
// of ours; it has rows rows.
func fillSession(t testing.TB, path, id string, rows int) {
	t.Helper()
	j, err := journal.Open(path, journal.Options{Redact: func(s string) string { return s }})
	if err != nil {
		t.Fatal(err)
	}
	yes, no := new(bool), new(bool)
	*yes = true
	for i := range rows {
		at := noon.Add(-time.Hour).Add(time.Duration(i) * 3 * time.Second)
		if i%4 == 0 {
			run := fmt.Sprintf("%s-turn-%d", id, i)
			j.StartRun(journal.Run{ID: run, Time: at, Session: id, Door: "http", Client: "OpenAI/JS", Model: "gpt-6-sol"})
			j.FinishRun(run, journal.RunEnd{Outcome: journal.OK, Rounds: 1, PromptTokens: 11_000, CompletionTokens: 240, DurationMS: 2300})
			continue
		}
		call := journal.Call{ID: fmt.Sprintf("%s-call-%d", id, i), Time: at, Session: id, Door: "hook", Client: "copilot-cli/1.0.102", CWD: "/home/me/src/pointsman",
			Server: "copilot", Tool: "bash", Offered: "bash", Class: approvals.Execute, Risky: true, Arguments: json.RawMessage(fmt.Sprintf(`{"command":"go test ./... -run Test%d","description":"runs the tests"}`, i))}
		end := journal.End{Outcome: journal.OK, Approved: yes, Approver: approvals.ByDesk, DurationMS: 1230}
		switch i % 4 {
		case 2:
			call.Tool, call.Offered, call.Class, call.Risky = "view", "view", approvals.Read, false
			call.Arguments = json.RawMessage(`{"path":"/home/me/src/pointsman/gateway/配置/config.go"}`)
			end = journal.End{Outcome: journal.OK, DurationMS: 4}
		case 3:
			call.Door, call.Client, call.Server, call.Tool, call.Offered, call.Class = "mcp", "copilot-cli", "git", "push", "git__push", approvals.OpenWorld
			call.Arguments = json.RawMessage(`{"remote":"origin","branch":"main"}`)
			end = journal.End{Outcome: journal.Denied, Approved: no, Approver: approvals.ByDesk, Reason: "not on main"}
		}
		if err := j.Begin(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if err := j.Finish(t.Context(), call.ID, end); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

const oneSession = "bac7d8e5-c64a-4af8-907e-74a25ba1e33c"

// newSessionBench is an activity screen with one session in the journal, of rows
// rows, and ten runs of other programs.
func newSessionBench(t testing.TB, choice theme.Choice, id string, rows int) (*screenBench, *activityScreen, *fakeResident) {
	b := newScreenBench(t, choice, 10)
	fillSession(t, b.ui.journal.path, id, rows)
	r := &fakeResident{events: make(chan loop.Event)}
	s := newActivity(b.ui, r.source(), func() time.Time { return noon })
	b.show(s)
	b.until("the journal was read", func() bool { return !s.list.loading && len(s.list.rows) > 0 && r.count() > 0 })
	for i, row := range s.list.rows {
		if row.Session != nil && row.Session.ID == id {
			s.list.list.Select(i)
		}
	}
	b.until("the session is there", func() bool { return s.view.key == "session "+id && len(s.view.rows) == rows && s.view.read })
	return b, s, r
}

// TestActivityShowsASession: what came by three doors is one timeline, after a
// restart as well, and it is what the journal says.
func TestActivityShowsASession(t *testing.T) {
	b, s, r := newSessionBench(t, theme.Light, oneSession, 8)
	shown := text(s.page)
	want(t, shown, "copilot-cli/1.0.102", "2 turns · 6 calls · 2 denied", "/home/me/src/pointsman", "session "+oneSession,
		"Model turn · 1 round", "Built-in tool · execute · allowed by you · command: go test", "MCP · open_world · denied by you", "Built-in tool · read")
	reader, err := b.ui.journal.open()
	if err != nil {
		t.Fatal(err)
	}
	var ids, recorded []string
	for _, row := range s.view.rows {
		ids = append(ids, strings.TrimPrefix(row.ID(), "turn "))
	}
	filter := journal.Filter{Session: oneSession, OldestFirst: true}
	runs, err := all(reader.Runs(t.Context(), filter))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := all(reader.Calls(t.Context(), filter))
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range runs {
		recorded = append(recorded, run.ID)
		for _, call := range calls[3*i : 3*i+3] {
			recorded = append(recorded, call.ID)
		}
	}
	if strings.Join(ids, " ") != strings.Join(recorded, " ") {
		t.Errorf("the window shows\n%v, the journal has\n%v", ids, recorded)
	}
	live := loop.Event{Run: "", Session: oneSession, Door: "hook", Client: "copilot-cli/1.0.102", Record: "live", Server: "copilot", Tool: "create", Class: approvals.Write, Time: noon}
	for _, kind := range []loop.Kind{loop.CallRequested, loop.CallWaiting} {
		live.Kind = kind
		r.events <- live
	}
	b.until("it waits", func() bool { return strings.Contains(text(s.view.root), "1 waiting") })
	want(t, text(s.page), "Waiting for you", "Built-in tool · write")
	if s.list.rows[0].Heading != "Now" || s.list.rows[1].Session.ID != oneSession {
		t.Errorf("the list begins with %+v", s.list.rows[:2])
	}
	live.Kind, live.Outcome, live.Approver = loop.CallFinished, "denied", "desk"
	r.events <- live
	b.until("it was denied", func() bool { return strings.Contains(text(s.view.root), "7 calls · 3 denied") })
	if s.list.rows[0].Heading != "Today" {
		t.Error("it still seems to go on")
	}
}

// TestActivityFollowsASession: what comes last stays in sight while a session goes
// on, unless somebody looks at what was before.
func TestActivityFollowsASession(t *testing.T) {
	b, s, r := newSessionBench(t, theme.Light, oneSession, 40)
	event := func(id string) {
		r.events <- loop.Event{Kind: loop.CallRequested, Session: oneSession, Door: "hook", Record: id, Tool: "tool-" + id, Time: noon}
		b.until("it is there", func() bool { _, known := findRow(s.view.rows, id); return known })
	}
	event("one")
	if got := text(s.view.timeline); strings.Contains(got, "tool-one") {
		t.Errorf("the beginning is not in sight any more:\n%s", got)
	}
	s.view.timeline.ScrollToBottom()
	event("two")
	want(t, text(s.view.timeline), "tool-two")
	s.view.open(&model.Session{Key: "none"})
	s.view.open(s.state.Find("session " + oneSession))
	b.until("it was read", func() bool { return s.view.read })
	want(t, text(s.view.timeline), "tool-two")
}

func findRow(rows []model.Row, id string) (model.Row, bool) {
	for _, row := range rows {
		if row.ID() == id {
			return row, true
		}
	}
	return model.Row{}, false
}

// TestActivityShowsALateEnd: the end of a call is told before it is on disk, and
// shown when it is.
func TestActivityShowsALateEnd(t *testing.T) {
	b, s, r := newSessionBench(t, theme.Light, oneSession, 8)
	j, err := journal.Open(b.ui.journal.path, journal.Options{Redact: func(s string) string { return s }})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Begin(t.Context(), journal.Call{ID: "late", Session: oneSession, Time: noon, Tool: "bash"}); err != nil {
		t.Fatal(err)
	}
	event := loop.Event{Kind: loop.CallRequested, Session: oneSession, Door: "mcp", Record: "late", Tool: "late_tool", Time: noon}
	r.events <- event
	b.until("it is there", func() bool { return len(s.view.rows) == 9 })
	s.view.timeline.Select(8)
	event.Kind, event.Outcome = loop.CallFinished, "failed"
	r.events <- event
	b.until("its end is told", func() bool { return strings.Contains(text(s.view.detail.root), "Failed") })
	if err := j.Finish(t.Context(), "late", journal.End{Outcome: journal.Failed, Error: "it hung up"}); err != nil {
		t.Fatal(err)
	}
	b.until("its end is shown", func() bool { return strings.Contains(s.view.detail.text, "it hung up") })
}

// TestActivityShowsATurn: what a turn was stands where a call's arguments do.
func TestActivityShowsATurn(t *testing.T) {
	_, s, _ := newSessionBench(t, theme.Light, oneSession, 8)
	s.view.timeline.Select(4)
	want(t, text(s.view.detail.root), "gpt-6-sol", "Model turn · 1 round · 11,240 tokens")
	want(t, s.view.detail.text, "Client: OpenAI/JS", "Run: "+oneSession+"-turn-4", "Outcome: ok")
}

// TestSessionPictures: a session looks as it was looked at.
func TestSessionPictures(t *testing.T) {
	for _, choice := range []theme.Choice{theme.Light, theme.Dark} {
		b, s, r := newSessionBench(t, choice, oneSession, 12)
		waits(b, s, r)
		looksLike(t, "session-"+string(choice)+".png", b.window.Canvas())
	}
}

// waits has a call of the session wait for the person.
func waits(b *screenBench, s *activityScreen, r *fakeResident) {
	e := loop.Event{Session: oneSession, Door: "hook", Client: "copilot-cli/1.0.102", Record: "w", Server: "copilot", Tool: "create", Class: approvals.Write, Time: noon, Arguments: json.RawMessage(`{"path":"/home/me/a.txt"}`)}
	for _, kind := range []loop.Kind{loop.CallRequested, loop.CallWaiting} {
		e.Kind = kind
		r.events <- e
	}
	b.until("it waits", func() bool { return strings.Contains(text(s.view.root), "1 waiting") })
	s.list.list.ScrollToTop()
	s.view.timeline.ScrollToBottom()
}

func TestSessionShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	for _, choice := range []theme.Choice{theme.Light, theme.Dark} {
		b, s, r := newSessionBench(t, choice, oneSession, 12)
		waits(b, s, r)
		b.shot("session-" + string(choice))
		s.view.timeline.Select(3)
		b.until("the call is there", func() bool { return s.view.detail.text != "" })
		b.shot("session-call-" + string(choice))
		s.view.timeline.Select(4)
		b.shot("session-turn-" + string(choice))
		b, _, _ = newSessionBench(t, choice, strings.Repeat("a-very-long-session-", 8)+"会话", 20)
		b.shot("session-long-" + string(choice))
	}
}

// BenchmarkSessionOpens is what it takes to show a session with 1,000 rows.
func BenchmarkSessionOpens(b *testing.B) {
	bench, s, _ := newSessionBench(b, theme.Light, oneSession, 1000)
	for b.Loop() {
		s.view.open(&model.Session{Key: "none"})
		s.view.open(s.state.Find("session " + oneSession))
		bench.until("the session is there", func() bool { return s.view.read })
		bench.window.Canvas().Capture()
	}
}

// BenchmarkSessionEvent is an event of a session with 1,000 rows that is shown.
func BenchmarkSessionEvent(b *testing.B) {
	_, s, _ := newSessionBench(b, theme.Light, oneSession, 1000)
	i := 0
	for b.Loop() {
		i++
		s.apply(loop.Event{Kind: loop.CallRunning, Session: oneSession, Door: "hook", Record: fmt.Sprint("live", i%50), Tool: "bash", Time: noon, Arguments: json.RawMessage(`{"command":"ls"}`)})
		s.showChanges()
	}
}
