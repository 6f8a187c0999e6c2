package model_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/ui/model"
)

var began = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// at is an event some seconds after began.
func at(seconds int, e loop.Event) loop.Event {
	e.Time = began.Add(time.Duration(seconds) * time.Second)
	if e.Run == "" {
		e.Run = "r1"
	}
	if e.Client == "" {
		e.Client, e.Model = "copilot", "sol"
	}
	return e
}

func apply(a *model.Activity, events ...loop.Event) (last model.Change) {
	for _, e := range events {
		last = a.Apply(e)
	}
	return last
}

// runKey is the key of the run that has no session.
const runKey = "run r1"

// turn returns the only turn of a session.
func turn(t testing.TB, a *model.Activity, key string) *model.Run {
	t.Helper()
	s := a.Find(key)
	if s == nil || len(s.Turns) != 1 {
		t.Fatalf("session %q is %+v", key, s)
	}
	return s.Turns[0]
}

// calls says each call of a run in a few words.
func calls(r *model.Run) string {
	var said []string
	for _, c := range r.Calls {
		said = append(said, c.ID+" "+c.State.Word())
	}
	return strings.Join(said, ", ")
}

func TestActivityFoldsEvents(t *testing.T) {
	started := at(0, loop.Event{Kind: loop.RunStarted})
	requested := at(1, loop.Event{Kind: loop.CallRequested, Call: "x", Record: "c1", Tool: "fs__write", Round: 1, Arguments: json.RawMessage(`{"path":"/a","text":"two\nlines"}`)})
	waiting := at(2, loop.Event{Kind: loop.CallWaiting, Call: "x", Record: "c1", Request: &approvals.Request{Server: "fs"}})
	running := at(3, loop.Event{Kind: loop.CallRunning, Call: "x", Record: "c1", Approver: "desk"})
	finished := at(4, loop.Event{Kind: loop.CallFinished, Call: "x", Record: "c1", Tool: "fs__write", Outcome: "ok", Approver: "desk", Duration: time.Second})
	second := at(5, loop.Event{Kind: loop.CallRequested, Call: "x", Record: "c2", Tool: "fs__read", Round: 2})
	over := at(6, loop.Event{Kind: loop.RunFinished, Outcome: "ok", Duration: 6 * time.Second})
	for _, tc := range []struct {
		name   string
		events []loop.Event
		change model.Change // of the last
		calls  string
		state  string
		tone   model.Tone
	}{
		{"a run begins", []loop.Event{started}, model.Change{Session: runKey, List: true}, "", "Running", model.Busy},
		{"it says something", []loop.Event{started, at(1, loop.Event{Kind: loop.Text, Text: "hm"})}, model.Change{Session: runKey}, "", "Running", model.Busy},
		{"it plans", []loop.Event{started, at(1, loop.Event{Kind: loop.PlanChanged})}, model.Change{Session: runKey, Plan: true}, "", "Running", model.Busy},
		{"a call is requested", []loop.Event{started, requested}, model.Change{Session: runKey, Call: "c1"}, "c1 Starting", "Running", model.Busy},
		{"a call waits", []loop.Event{started, requested, waiting}, model.Change{Session: runKey, Call: "c1"}, "c1 Waiting for you", "Waiting for you", model.Asking},
		{"it runs", []loop.Event{started, requested, waiting, running}, model.Change{Session: runKey, Call: "c1"}, "c1 Running", "Running", model.Busy},
		{"it is done", []loop.Event{started, requested, waiting, running, finished}, model.Change{Session: runKey, Call: "c1"}, "c1 Done", "Running", model.Busy},
		{"another with the provider's same id", []loop.Event{started, requested, finished, second}, model.Change{Session: runKey, Call: "c2"}, "c1 Done, c2 Starting", "Running", model.Busy},
		{"the run is over", []loop.Event{started, requested, finished, over}, model.Change{Session: runKey, List: true}, "c1 Done", "Done", model.Good},
		{"over while one ran", []loop.Event{started, requested, running, over}, model.Change{Session: runKey, List: true}, "c1 Unknown", "Done", model.Good},
		{"over while one waited", []loop.Event{started, requested, waiting, over}, model.Change{Session: runKey, List: true}, "c1 Withdrawn", "Done", model.Good},
		{"over before one began", []loop.Event{started, requested, over}, model.Change{Session: runKey, List: true}, "c1 Cancelled", "Done", model.Good},
		{"waiting told late", []loop.Event{started, requested, running, waiting}, model.Change{Session: runKey, Call: "c1"}, "c1 Running", "Running", model.Busy},
		{"an outcome that is not known", []loop.Event{started, at(4, loop.Event{Kind: loop.CallFinished, Record: "c1", Outcome: "new"})}, model.Change{Session: runKey, Call: "c1"}, "c1 Unknown", "Running", model.Busy},
		{"an event of a run that is not known", []loop.Event{requested}, model.Change{Session: runKey, Call: "c1", List: true, Stale: true}, "c1 Starting", "Running", model.Busy},
		{"said once", []loop.Event{requested, waiting}, model.Change{Session: runKey, Call: "c1"}, "c1 Waiting for you", "Waiting for you", model.Asking},
		{"events were lost", []loop.Event{started, {Kind: loop.Text, Run: "r1", Lost: 3}}, model.Change{Session: runKey, Stale: true}, "", "Running", model.Busy},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var a model.Activity
			if diff := cmp.Diff(tc.change, apply(&a, tc.events...)); diff != "" {
				t.Error(diff)
			}
			run := turn(t, &a, runKey)
			if got := calls(run); got != tc.calls {
				t.Errorf("calls are %q, want %q", got, tc.calls)
			}
			if state, tone := run.State(); state != tc.state || tone != tc.tone {
				t.Errorf("state is %q, %v, want %q, %v", state, tone, tc.state, tc.tone)
			}
		})
	}
	var a model.Activity
	apply(&a, started, requested, waiting, running, finished)
	want := model.Call{ID: "c1", Server: "fs", Tool: "fs__write", Brief: "path: /a · text: two lines", Round: 1, State: model.CallDone,
		Began: requested.Time, Duration: time.Second, Approver: "desk"}
	if diff := cmp.Diff(want, turn(t, &a, runKey).Calls[0]); diff != "" {
		t.Error(diff)
	}
}

func TestActivitySync(t *testing.T) {
	asked := began.Add(10 * time.Second)
	listed := loop.Active{Run: "r1", Client: "copilot", Model: "sol", Since: began, Rounds: 2,
		Plan: []loop.Step{{Description: "look", Status: "completed"}},
		Calls: []loop.ActiveCall{
			{Record: "c1", Tool: "fs__read", Round: 1, Since: began.Add(time.Second), Finished: true, Outcome: "failed"},
			{Record: "c2", Tool: "fs__write", Round: 2, Since: began.Add(2 * time.Second), Running: true, Approver: "rule"},
			{Record: "c3", Tool: "fs__write", Round: 2, Since: began.Add(3 * time.Second), Request: &approvals.Request{Server: "fs"}},
		}}
	started := at(0, loop.Event{Kind: loop.RunStarted})
	for _, tc := range []struct {
		name   string
		before []loop.Event // applied before the list comes
		active []loop.Active
		want   string // the run and its calls
	}{
		{"a late start", nil, []loop.Active{listed}, "Waiting for you: c1 Failed, c2 Running, c3 Waiting for you"},
		{"what was known goes on", []loop.Event{started}, []loop.Active{listed}, "Waiting for you: c1 Failed, c2 Running, c3 Waiting for you"},
		{"what was missed comes in its place", []loop.Event{started, at(3, loop.Event{Kind: loop.CallRequested, Record: "c3", Round: 2})},
			[]loop.Active{listed}, "Waiting for you: c1 Failed, c2 Running, c3 Waiting for you"},
		{"a call that ended since stays ended", []loop.Event{started, at(11, loop.Event{Kind: loop.CallFinished, Record: "c2", Round: 2, Outcome: "ok"}), at(12, loop.Event{Kind: loop.CallFinished, Record: "c3", Round: 2, Outcome: "denied"})},
			[]loop.Active{listed}, "Running: c1 Failed, c2 Done, c3 Denied"},
		{"a run that ended since stays ended", []loop.Event{started, at(12, loop.Event{Kind: loop.RunFinished, Outcome: "ok"})}, []loop.Active{listed}, "Done: "},
		{"a run whose end was missed", []loop.Event{started}, nil, "Unknown: "},
		{"a run that began since", []loop.Event{at(11, loop.Event{Kind: loop.RunStarted})}, nil, "Running: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var a model.Activity
			apply(&a, tc.before...)
			a.Sync(tc.active, asked)
			run := turn(t, &a, runKey)
			state, _ := run.State()
			if got := state + ": " + calls(run); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if change := a.Apply(at(20, loop.Event{Kind: loop.Text, Lost: 1})); !change.Stale {
				t.Error("a later loss was not told")
			}
		})
	}
	t.Run("a run that the journal told of first", func(t *testing.T) {
		var a model.Activity
		a.AddPast([]journal.Session{{Run: "r1", Began: began, Last: began, Turns: 1, Open: 1}})
		a.Record(runKey, []journal.Run{{ID: "r1", Time: began}}, []journal.Call{{ID: "c3", Run: "r1", Round: 2, Time: began.Add(3 * time.Second), Risky: true}})
		a.Sync([]loop.Active{listed}, asked)
		run := turn(t, &a, runKey)
		state, _ := run.State()
		if got := state + ": " + calls(run); got != "Waiting for you: c1 Failed, c2 Running, c3 Waiting for you" || !a.Busy() {
			t.Errorf("got %q, busy %v", got, a.Busy())
		}
		if a.Apply(at(12, loop.Event{Kind: loop.RunFinished, Outcome: "ok"})); a.Busy() {
			t.Error("it does not end")
		}
	})
	t.Run("a plan that changed since stays", func(t *testing.T) {
		var a model.Activity
		apply(&a, started, at(11, loop.Event{Kind: loop.PlanChanged, Plan: []loop.Step{{Description: "new", Status: "pending"}}}))
		a.Sync([]loop.Active{listed}, asked)
		if plan := turn(t, &a, runKey).Plan; plan[0].Description != "new" {
			t.Errorf("the plan is %v", plan)
		}
	})
}

func TestActivityRecord(t *testing.T) {
	yes := new(bool)
	*yes = true
	var a model.Activity
	apply(&a, at(0, loop.Event{Kind: loop.RunStarted}), at(2, loop.Event{Kind: loop.CallRequested, Record: "c2", Round: 1, Tool: "x"}),
		at(3, loop.Event{Kind: loop.CallWaiting, Record: "c2", Round: 1}))
	rows := []journal.Call{
		{ID: "c1", Run: "r1", Round: 1, Time: began.Add(time.Second), Server: "fs", Offered: "fs__read", Outcome: journal.Denied, Reason: "no", Approver: "desk"},
		{ID: "c2", Run: "r1", Round: 1, Time: began.Add(2 * time.Second), Server: "fs", Offered: "fs__write"},
		{ID: "c3", Run: "r1", Round: 2, Time: began.Add(3 * time.Second), Server: "fs", Tool: "push", Approved: yes},
	}
	if !a.Record(runKey, nil, rows) {
		t.Fatal("the session was not found")
	}
	run := turn(t, &a, runKey)
	if got := calls(run); got != "c1 Denied, c2 Waiting for you, c3 Running" {
		t.Errorf("got %q", got)
	}
	if c := run.Calls[0]; c.Reason != "no" || c.Server != "fs" || c.Tool != "fs__read" {
		t.Errorf("the call is %+v", c)
	}
	if apply(&a, at(5, loop.Event{Kind: loop.CallFinished, Record: "c2", Outcome: "ok"})).Call != "c2" || len(run.Calls) != 3 {
		t.Error("an event does not find its call again")
	}
	if a.Record("nobody", nil, rows) {
		t.Error("a session that is not there was found")
	}
}

// TestActivityRows: what is active, then day by day, each session once.
func TestActivityRows(t *testing.T) {
	now := began.Add(time.Hour)
	past := func(id string, ago time.Duration) journal.Session {
		return journal.Session{Run: id, Began: now.Add(-ago), Last: now.Add(-ago), Turns: 1, Outcome: journal.OK}
	}
	var a model.Activity
	apply(&a,
		at(0, loop.Event{Kind: loop.RunStarted, Run: "goes on"}),
		at(10, loop.Event{Kind: loop.RunStarted, Run: "ended"}),
		at(11, loop.Event{Kind: loop.RunFinished, Run: "ended", Outcome: "ok"}),
		at(12, loop.Event{Kind: loop.RunStarted, Run: "newest"}))
	page := []journal.Session{
		past("newest", time.Hour-12*time.Second), past("ended", time.Hour-10*time.Second), past("goes on", time.Hour),
		past("morning", 5*time.Hour), past("yesterday", 20*time.Hour), past("last week", 7*24*time.Hour), past("last year", 300*24*time.Hour),
	}
	rows := func() string {
		var said []string
		for _, row := range a.Rows(now) {
			if row.Session != nil {
				said = append(said, strings.TrimPrefix(row.Session.Key, "run "))
				continue
			}
			said = append(said, "["+row.Heading+"]")
		}
		return strings.Join(said, " ")
	}
	if got, want := rows(), "[Now] newest goes on [Today] ended"; got != want {
		t.Errorf("before the journal: %q, want %q", got, want)
	}
	a.AddPast(page)
	a.AddPast(page[3:4]) // a page may overlap the one before
	const all = "[Now] newest goes on [Today] ended morning [Yesterday] yesterday [Monday 23 February] last week [6 May 2025] last year"
	if got := rows(); got != all {
		t.Errorf("got  %q\nwant %q", got, all)
	}
	a.ResetPast(true)
	a.AddPast(page[2:4])
	if got, want := rows(), "[Today] goes on morning"; got != want {
		t.Errorf("what a search found is %q, want %q", got, want)
	}
	if got := a.Rows(now)[1].Session; !got.Active() {
		t.Errorf("an active session that was found is %+v", got)
	}
}

// TestActivityIsBounded: the calls of old sessions leave, and the sessions stay listed.
func TestActivityIsBounded(t *testing.T) {
	const n = 250
	var a model.Activity
	for i := range n {
		id := fmt.Sprint(i)
		apply(&a, at(i, loop.Event{Kind: loop.RunStarted, Run: id}),
			at(i, loop.Event{Kind: loop.CallRequested, Run: id, Record: id}),
			at(i, loop.Event{Kind: loop.RunFinished, Run: id, Outcome: "ok"}))
	}
	rows := a.Rows(began.Add(time.Hour))
	withCalls, order := 0, true
	for i, row := range rows[1:] {
		for _, run := range row.Session.Turns {
			withCalls += len(run.Calls)
		}
		if counts := row.Session.Counts(); counts.Turns != 1 || counts.Calls != 1 {
			t.Errorf("session %s has %+v", row.Session.Key, counts)
		}
		order = order && row.Session.Key == fmt.Sprint("run ", n-1-i)
	}
	if len(rows) != n+1 || withCalls != 100 || !order {
		t.Errorf("%d rows, %d with calls, in order: %v", len(rows), withCalls, order)
	}
	if a.Busy() {
		t.Error("it is said to be busy")
	}
}

func TestRunStates(t *testing.T) {
	for _, tc := range []struct {
		row  journal.Run
		word string
		tone model.Tone
	}{
		{journal.Run{Outcome: journal.OK}, "Done", model.Good},
		{journal.Run{}, "Running elsewhere", model.Busy},
		{journal.Run{Outcome: journal.Unknown}, "Unknown", model.Bad},
		{journal.Run{Outcome: journal.Cancelled, Error: "stopped by the person"}, "Stopped by you", model.Quiet},
		{journal.Run{Outcome: journal.Cancelled, Error: "the caller has gone"}, "Cancelled", model.Quiet},
		{journal.Run{Outcome: "stopped_rounds"}, "Stopped at the limit of rounds", model.Asking},
		{journal.Run{Outcome: "stopped_loop"}, "Stopped in a loop", model.Asking},
		{journal.Run{Outcome: "auth_failed"}, "Failed", model.Bad},
	} {
		if word, tone := model.PastRun(tc.row).State(); word != tc.word || tone != tc.tone {
			t.Errorf("%+v is %q, %v", tc.row, word, tone)
		}
	}
}

func TestRunReason(t *testing.T) {
	for _, tc := range []struct {
		row  journal.Run
		want string
	}{
		{journal.Run{Outcome: journal.OK, Error: "x"}, ""},
		{journal.Run{Outcome: "auth_failed", Error: "the key\nis wrong"}, "the key is wrong"},
		{journal.Run{Outcome: journal.Cancelled, Error: approvals.ErrStopped.Error()}, ""},
		{journal.Run{Outcome: journal.Cancelled, Error: "the caller has gone"}, "the caller has gone"},
	} {
		if got := model.RunReason(model.PastRun(tc.row)); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.row, got, tc.want)
		}
	}
}

func TestRunLines(t *testing.T) {
	cost := 0.5
	var a model.Activity
	apply(&a, at(0, loop.Event{Kind: loop.RunStarted}), at(1, loop.Event{Kind: loop.PlanChanged, Round: 1, Plan: []loop.Step{
		{Description: "a", Status: "completed"}, {Description: "b\u202e", Status: "in_progress"}, {Description: "c", Status: "pending"}}}))
	live := turn(t, &a, runKey)
	past := model.PastRun(journal.Run{Time: began, Model: "sol", Door: "http", Outcome: journal.OK, Rounds: 2, PromptTokens: 999, CompletionTokens: 1, CostUSD: &cost, DurationMS: 1500})
	unpriced := model.PastRun(journal.Run{Time: began, Outcome: "auth_failed", Error: "no key", PromptTokens: 1})
	now := began.Add(65 * time.Second)
	state := func(r *model.Run) string { word, _ := model.TurnState(r, now); return word }
	for _, tc := range []struct{ name, got, want string }{
		{"title", model.TurnTitle(live), "sol"},
		{"title without a model", model.TurnTitle(unpriced), "a model"},
		{"a live turn", model.TurnLine(live), "Model turn · 1 round"},
		{"how a live turn is", state(live), "Running · 1 min 5 s"},
		{"a past turn", model.TurnLine(past), "Model turn · 2 rounds · 1,000 tokens · $0.50"},
		{"how a past turn is", state(past), "Done · 1.5 s"},
		{"no price is no 0", model.TurnLine(unpriced), "Model turn · 1 token · cost — · no key"},
		{"step", model.CurrentStep(live), " · b<U+202E>"},
		{"no step", model.CurrentStep(past), ""},
		{"call", model.CallLine(model.Call{State: model.CallDone, Duration: time.Minute}), "Done · 1 min 0 s"},
		{"call that runs", model.CallLine(model.Call{State: model.CallRunning}), "Running"},
		{"a call of a run", model.CallFacts(model.Call{Class: approvals.Read, Brief: "path: /a"}), "Tool · read · path: /a"},
		{"a call of a client", model.CallFacts(model.Call{Door: "mcp", Class: approvals.Write, Approver: "desk", State: model.CallDone}), "MCP · write · allowed by you"},
		{"a denied call of Copilot's", model.CallFacts(model.Call{Door: "hook", Class: approvals.Execute, Approver: "rule", State: model.CallDenied}), "Built-in tool · execute · denied by a remembered rule"},
		{"a call that nobody answered", model.CallFacts(model.Call{Door: "hook", Approver: "none", State: model.CallNotAnswered}), "Built-in tool"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, tc.got, tc.want)
		}
	}
}

func TestProgress(t *testing.T) {
	steps := func(statuses ...string) (plan []loop.Step) {
		for _, s := range statuses {
			plan = append(plan, loop.Step{Status: s})
		}
		return plan
	}
	for _, tc := range []struct {
		plan     []loop.Step
		share    float64
		done, of int
	}{
		{nil, 0, 0, 0},
		{steps("pending", "in_progress"), 0, 0, 2},
		{steps("completed", "skipped", "in_progress", "pending"), 0.5, 2, 4},
		{steps("completed"), 1, 1, 1},
	} {
		run := model.Run{Plan: tc.plan}
		if share, done, of := run.Progress(); share != tc.share || done != tc.done || of != tc.of {
			t.Errorf("%v: %v, %d of %d", tc.plan, share, done, of)
		}
	}
}

func TestSearchFilter(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	now := time.Date(2026, 3, 2, 0, 30, 0, 0, berlin)
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, berlin) }
	for _, tc := range []struct {
		search model.Search
		want   journal.Filter
	}{
		{model.Search{}, journal.Filter{Deep: true}},
		{model.Search{Text: "a", Server: "fs", Tool: "t", Outcome: journal.Denied}, journal.Filter{Text: "a", Server: "fs", Tool: "t", Outcome: journal.Denied, Deep: true}},
		{model.Search{Days: model.Today}, journal.Filter{Since: day(2), Deep: true}},
		{model.Search{Days: model.Yesterday}, journal.Filter{Since: day(1), Until: day(2), Deep: true}},
		{model.Search{Days: model.Last7Days}, journal.Filter{Since: day(-4), Deep: true}},
		{model.Search{Days: model.Last30Days}, journal.Filter{Since: day(-27), Deep: true}},
	} {
		if diff := cmp.Diff(tc.want, tc.search.Filter(now)); diff != "" {
			t.Errorf("%+v: %s", tc.search, diff)
		}
		if tc.search.Empty() != cmp.Equal(tc.want, journal.Filter{Deep: true}) {
			t.Errorf("%+v is empty: %v", tc.search, tc.search.Empty())
		}
	}
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 ms", 999 * time.Millisecond: "999 ms", 2560 * time.Millisecond: "2.5 s", 59900 * time.Millisecond: "59 s",
		185 * time.Second: "3 min 5 s", 130 * time.Minute: "2 h 10 min",
	} {
		if got := model.Elapsed(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	long := strings.Repeat("长", 400)
	for _, tc := range []struct{ name, arguments, want string }{
		{"in the order given", `{"b":1,"a":"x"}`, "b: 1 · a: x"},
		{"lines and tabs", `{"a":"x\n\n\ty"}`, "a: x y"},
		{"nothing hides", `{"a":"x\u202ey"}`, "a: x<U+202E>y"},
		{"no object", `"just text"`, "just text"},
		{"nothing", `{}`, ""},
		{"long", `{"a":"` + long + `"}`, "a: " + strings.Repeat("长", 156) + "…"},
	} {
		var a model.Activity
		apply(&a, at(0, loop.Event{Kind: loop.CallRequested, Record: "c", Arguments: json.RawMessage(tc.arguments)}))
		if got := turn(t, &a, runKey).Calls[0].Brief; got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestDecision(t *testing.T) {
	yes, no := new(bool), new(bool)
	*yes = true
	for _, tc := range []struct {
		call journal.Call
		want string
	}{
		{journal.Call{Outcome: journal.OK}, "Ran without asking"},
		{journal.Call{Risky: true}, "Not decided yet"},
		{journal.Call{Outcome: journal.OK, Approved: yes, Approver: "desk"}, "Allowed by you"},
		{journal.Call{Outcome: journal.OK, Approved: yes, Approver: "desk", Edited: true}, "Allowed by you, with other arguments than the model gave"},
		{journal.Call{Outcome: journal.Denied, Approved: no, Approver: "desk", Reason: "not there"}, "Denied by you: not there"},
		{journal.Call{Outcome: journal.Denied, Approved: no, Approver: "rule", Rule: "r7"}, "Denied by a remembered rule r7"},
		{journal.Call{Outcome: journal.Denied, Approved: no, Approver: "none"}, "Denied because there was nobody to ask"},
		{journal.Call{Outcome: journal.Denied, Reason: "tools are paused"}, "Denied without asking: tools are paused"},
		{journal.Call{Outcome: journal.NotAnswered, Approved: no, Approver: "none"}, "Asked for, and nobody answered in time"},
		{journal.Call{Outcome: journal.Withdrawn, Approved: no}, "Asked for, and withdrawn before there was an answer"},
		{journal.Call{Outcome: journal.Invalid, Reason: "no such tool"}, "Not asked for: it could not have run: no such tool"},
		{journal.Call{Outcome: journal.Failed, Approved: yes, Approver: "allow_all", Reason: "x", Error: "x"}, "Allowed by the configuration, which decides for all"},
		{journal.Call{Outcome: journal.Denied, Approved: no, Approver: "panic"}, "Denied because asking failed"},
	} {
		if got := model.Decision(tc.call); got != tc.want {
			t.Errorf("%+v:\ngot  %q\nwant %q", tc.call, got, tc.want)
		}
	}
}

func TestResultText(t *testing.T) {
	for _, tc := range []struct{ name, kept, want string }{
		{"text", `{"content":[{"type":"text","text":"a\r\nb"},{"type":"text","text":"c"}]}`, "a\nb\nc"},
		{"nothing hides", `{"content":[{"type":"text","text":"a\u202eb"}]}`, "a<U+202E>b"},
		{"structured", `{"content":[],"structuredContent":{"a":1}}`, "{\n  \"content\": [],\n  \"structuredContent\": {\n    \"a\": 1\n  }\n}"},
		{"an image", `{"content":[{"type":"image"}]}`, "{\n  \"content\": [\n    {\n      \"type\": \"image\"\n    }\n  ]\n}"},
		{"cut off", `{"content":[{"type":"te`, `{"content":[{"type":"te`},
		{"nothing kept", "", ""},
	} {
		if got := model.ResultText(tc.kept); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestFacts(t *testing.T) {
	c := journal.Call{Server: "fs", Time: time.Date(2026, 3, 2, 9, 8, 7, 0, time.Local), Class: approvals.Write, DurationMS: 1500, ResultBytes: 2048}
	if got, want := model.Facts(c), "fs · 09:08:07 · write · 1.5 s · 2.0 KiB"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for n, want := range map[int64]string{1: "1 byte", 2: "2 bytes", 3 << 20: "3.0 MiB"} {
		if got := model.Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestOutcomes: whatever can be searched for is an end that a row can have.
func TestOutcomes(t *testing.T) {
	var got []journal.Outcome
	for _, o := range model.Outcomes() {
		got = append(got, o.Outcome)
	}
	want := []journal.Outcome{journal.OK, journal.Failed, journal.Denied, journal.NotAnswered, journal.Withdrawn, journal.Invalid, journal.Timeout, journal.Cancelled, journal.Unknown}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkApply is an event in a run that has 500 calls, among 10,000 past sessions.
func BenchmarkApply(b *testing.B) {
	var a model.Activity
	a.AddPast(pastSessions(10_000))
	apply(&a, at(0, loop.Event{Kind: loop.RunStarted}))
	for i := range 500 {
		apply(&a, at(i, loop.Event{Kind: loop.CallRequested, Record: fmt.Sprint(i), Round: i / 8}))
	}
	e := at(1000, loop.Event{Kind: loop.CallFinished, Record: "250", Outcome: "ok", Arguments: json.RawMessage(`{"path":"/a/b","text":"hello"}`)})
	b.ReportAllocs()
	for b.Loop() {
		a.Apply(e)
	}
}

// BenchmarkRows is what a run's beginning or end costs among 10,000 past sessions.
func BenchmarkRows(b *testing.B) {
	var a model.Activity
	a.AddPast(pastSessions(10_000))
	b.ReportAllocs()
	for b.Loop() {
		a.Rows(began)
	}
}

func pastSessions(n int) []journal.Session {
	list := make([]journal.Session, n)
	for i := range list {
		at := began.Add(-time.Duration(i) * 10 * time.Minute)
		list[i] = journal.Session{Run: fmt.Sprint("p", i), Began: at, Last: at, Turns: 1, Outcome: journal.OK}
	}
	return list
}
