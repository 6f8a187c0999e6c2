package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/test"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/ui/theme"
)

// noon is what the clock of these screens says.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

var oddNames = []string{"copilot/1.2", strings.Repeat("a-very-long-name-", 18), "数据管道 · 代理", "مساعد البرمجة", "🤖 agent 🚂"}

func fillJournal(t testing.TB, path string, runs int) {
	t.Helper()
	j, err := journal.Open(path, journal.Options{Redact: func(s string) string { return s }})
	if err != nil {
		t.Fatal(err)
	}
	yes, no, cost := new(bool), new(bool), 0.0123
	*yes = true
	for i := range runs {
		at := noon.Add(-time.Duration(i)*37*time.Minute - 5*time.Minute)
		run := journal.Run{ID: fmt.Sprintf("past%05d", i), Time: at, Door: "http", Client: oddNames[i%5], Model: []string{"gpt-6-sol", "own/模型"}[i%2]}
		j.StartRun(run)
		for c := range 10 {
			call := journal.Call{ID: fmt.Sprintf("%s-%d", run.ID, c), Run: run.ID, Round: c / 3, Time: at.Add(time.Duration(c) * time.Second), Client: run.Client, Model: run.Model,
				Server: []string{"filesystem", "git", "数据库"}[c%3], Tool: []string{"write_file", "push", "查询"}[c%3], Offered: []string{"filesystem__write_file", "git__push", "db__query"}[c%3],
				Arguments: json.RawMessage(fmt.Sprintf(`{"path":"/home/me/src/file%d.go","content":"package main\n\nfunc main() {}\n","number":%d}`, c, i)),
				Class:     approvals.Write, Risky: true, Evidence: []string{"the name begins with write"}}
			if err := j.Begin(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			end := journal.End{Outcome: journal.OK, Approved: yes, Approver: approvals.ByDesk, DurationMS: int64(c * 130), Result: `{"content":[{"type":"text","text":"wrote 3 lines\nall is well"}]}`}
			if c == 4 {
				end = journal.End{Outcome: journal.Denied, Approved: no, Approver: approvals.ByDesk, Reason: "not in this folder"}
			}
			if c == 5 {
				end.Outcome, end.Error = journal.Failed, "permission denied"
			}
			if err := j.Finish(t.Context(), call.ID, end); err != nil {
				t.Fatal(err)
			}
		}
		end := journal.RunEnd{Outcome: journal.OK, Rounds: 4, PromptTokens: 12000, CompletionTokens: 800, CostUSD: &cost, DurationMS: int64(1000 + i*777)}
		if i%2 == 1 {
			end.CostUSD = nil
		}
		if i%7 == 3 {
			end.Outcome, end.Error = "auth_failed", "the provider refused the key: check it under Models"
		}
		j.FinishRun(run.ID, end)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// fakeResident is the resident's side of an activity screen.
type fakeResident struct {
	events chan loop.Event

	mu      sync.Mutex // guards the fields below
	active  []loop.Active
	stopped []string
	asked   int
}

func (r *fakeResident) source() activitySource {
	return activitySource{
		events: func(ctx context.Context, opened func(), each func(loop.Event)) error {
			opened()
			for {
				select {
				case e := <-r.events:
					each(e)
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		},
		runs: func(context.Context) ([]loop.Active, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.asked++
			return r.active, nil
		},
		stop: func(_ context.Context, id string) (bool, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.stopped = append(r.stopped, id)
			return true, nil
		},
	}
}

func liveRun() loop.Active {
	steps := []loop.Step{{Description: "Read the project's layout", Status: "completed"}, {Description: "Find where the time-out is set", Status: "completed"},
		{Description: "修改超时并运行测试 — change the time-out, run the tests", Status: "in_progress"}, {Description: "Tell what changed", Status: "pending"}, {Description: "Clean up", Status: "skipped"}}
	return loop.Active{Run: "live", Door: "http", Client: "GitHub Copilot", Model: "gpt-6-sol", Since: noon.Add(-75 * time.Second), Rounds: 2, Plan: steps,
		Calls: []loop.ActiveCall{
			{Record: "c1", Tool: "filesystem__read_file", Round: 1, Since: noon.Add(-60 * time.Second), Finished: true, Outcome: "ok", Duration: 12 * time.Millisecond, Arguments: json.RawMessage(`{"path":"/home/me/src/pointsman/gateway/config/config.go"}`)},
			{Record: "c2", Tool: "git__push", Round: 1, Since: noon.Add(-50 * time.Second), Finished: true, Outcome: "denied", Arguments: json.RawMessage(`{"remote":"origin","branch":"main","force":true}`)},
			{Record: "c3", Tool: "shell__run_command", Round: 2, Since: noon.Add(-20 * time.Second), Running: true, Arguments: json.RawMessage(`{"command":"go test ./...","cwd":"/home/me/src/pointsman"}`)},
			{Record: "c4", Tool: "filesystem__write_file", Round: 2, Since: noon.Add(-10 * time.Second), Request: &approvals.Request{Server: "filesystem"}, Arguments: json.RawMessage(`{"path":"/home/me/src/pointsman/config.yaml","content":"timeout: 5m\n"}`)},
		}}
}

func newActivityBench(t testing.TB, choice theme.Choice, runs int, active ...loop.Active) (*screenBench, *activityScreen, *fakeResident) {
	b := newScreenBench(t, choice, runs)
	r := &fakeResident{events: make(chan loop.Event), active: active}
	s := newActivity(b.ui, r.source(), func() time.Time { return noon })
	b.show(s)
	b.until("the journal was read", func() bool { return !s.list.loading && r.count() > 0 && (runs <= 0 || len(s.list.rows) > 0) })
	b.until("the active runs were listed", func() bool { return len(active) == 0 || s.state.Busy() })
	return b, s, r
}

func (r *fakeResident) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func TestActivityShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	for _, choice := range []theme.Choice{theme.Light, theme.Dark} {
		b, s, _ := newActivityBench(t, choice, 40, liveRun())
		b.until("the calls are there", func() bool { return s.view.read })
		b.shot("activity-live-" + string(choice))
		s.list.list.Select(3)
		b.until("the calls are there", func() bool { return len(s.view.rows) == 11 })
		b.shot("activity-past-" + string(choice))
		s.list.list.Select(6)
		b.until("the calls are there", func() bool { return len(s.view.rows) == 11 })
		s.view.timeline.Select(2)
		b.until("the call is there", func() bool { return s.view.detail.text != "" })
		b.shot("activity-call-" + string(choice))
		s.bar.text.SetText("nowhere")
		b.until("it was searched for", func() bool { return !s.list.loading })
		b.shot("activity-nothing-" + string(choice))
		b, _, _ = newActivityBench(t, choice, -1)
		b.shot("activity-empty-" + string(choice))
	}
}

func TestActivityShowsALiveRun(t *testing.T) {
	b, s, r := newActivityBench(t, theme.Light, 3, liveRun())
	b.until("the run is shown", func() bool { return s.view.key == "run live" && s.view.read })
	want(t, text(s.page), "Now", "GitHub Copilot", "Waiting for you", "Plan: 3 of 5 done", "shell__run_command", "Running", "[Stop]", "Today")
	r.events <- loop.Event{Kind: loop.CallFinished, Run: "live", Record: "c3", Round: 2, Tool: "shell__run_command", Outcome: "failed", Time: noon}
	b.until("the call has failed", func() bool { return strings.Contains(text(s.view.timeline), "Failed") })
	r.events <- loop.Event{Kind: loop.CallRequested, Run: "live", Record: "c5", Round: 3, Tool: "git__status", Time: noon}
	b.until("the new call is there", func() bool { return strings.Contains(text(s.view.root), "git__status") || len(s.view.rows) == 6 })
	r.events <- loop.Event{Kind: loop.PlanChanged, Run: "live", Plan: []loop.Step{{Description: "all anew", Status: "in_progress"}}, Time: noon}
	b.until("the plan is another", func() bool { return strings.Contains(text(s.view.root), "all anew") })
	test.Tap(s.view.stop)
	b.until("the run was stopped", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return len(r.stopped) == 1 && r.stopped[0] == "live" })
	r.events <- loop.Event{Kind: loop.RunFinished, Run: "live", Outcome: "cancelled", Reason: "stopped by the person", Time: noon, Duration: time.Minute}
	b.until("the run has ended", func() bool { return !s.view.stop.Visible() })
	shown := text(s.page)
	want(t, shown, "Stopped by you")
	if strings.Contains(shown, "Now") || s.view.stop.Visible() {
		t.Errorf("it still seems to be active:\n%s", shown)
	}
}

// TestActivityAsksAgainAfterALoss: what was missed comes from the resident.
func TestActivityAsksAgainAfterALoss(t *testing.T) {
	b, s, r := newActivityBench(t, theme.Light, -1)
	r.mu.Lock()
	before := r.asked
	r.active = []loop.Active{liveRun()}
	r.mu.Unlock()
	r.events <- loop.Event{Kind: loop.Text, Run: "other", Client: "c", Lost: 7, Time: noon.Add(-time.Hour)}
	b.until("the active runs were listed again", func() bool { return s.state.Find("run live") != nil })
	if r.count() != before+1 {
		t.Errorf("asked %d times", r.count()-before)
	}
	if s.state.Find("run other").Active() {
		t.Error("a run that is not listed is still active")
	}
}

func TestActivityShowsACall(t *testing.T) {
	b, s, _ := newActivityBench(t, theme.Light, 2)
	b.until("the calls are there", func() bool { return len(s.view.rows) == 11 })
	s.view.timeline.Select(5)
	b.until("the call is there", func() bool { return s.view.detail.text != "" })
	want(t, text(s.view.root), "Denied", "Denied by you: not in this folder")
	want(t, s.view.detail.text, "Arguments", `"path": "/home/me/src/file4.go"`, "the name begins with write")
	s.view.timeline.Select(6)
	b.until("the other is there", func() bool { return strings.Contains(s.view.detail.text, "file5.go") })
	want(t, s.view.detail.text, "permission denied", "wrote 3 lines\nall is well")
	test.Tap(s.view.detail.copy)
	if got := b.ui.app.Clipboard().Content(); got != s.view.detail.text {
		t.Errorf("copied %q", got)
	}
	s.view.close()
	if s.view.detail.root.Visible() && len(s.view.body.Objects) == 1 && s.view.body.Objects[0] == s.view.both {
		t.Error("the call is still shown")
	}
}

func TestActivitySearches(t *testing.T) {
	b, s, _ := newActivityBench(t, theme.Light, 20)
	b.until("the tools can be chosen", func() bool { return len(s.bar.server.labels) == 4 })
	runs := func() (n int) {
		for _, row := range s.list.rows {
			if row.Session != nil {
				n++
			}
		}
		return n
	}
	found := func() bool { return !s.list.loading }
	for _, tc := range []struct {
		name   string
		search func()
		want   int
	}{
		{"a word in the arguments of one run", func() { test.Type(s.bar.text, `"number":7}`) }, 1},
		{"cleared", s.bar.clear, 20},
		{"runs that failed, or a call of theirs", func() { s.bar.outcome.pick.SetSelected("Failed") }, 20},
		{"runs with nothing of a kind", func() { s.bar.outcome.pick.SetSelected("Timed out") }, 0},
		{"cleared again", func() { b.tap("Show everything") }, 20},
		{"a server and its tool", func() { s.bar.server.pick.SetSelected("git"); s.bar.tool.pick.SetSelected("push") }, 20},
		{"and a day", func() { s.bar.days.pick.SetSelected("Today") }, 20},
		{"and a day before them", func() { s.bar.days.pick.SetSelected("Yesterday") }, 0},
	} {
		tc.search()
		b.until("it was searched for", found)
		if got := runs(); got != tc.want {
			t.Errorf("%s: %d runs, want %d", tc.name, got, tc.want)
		}
	}
	if got := strings.Join(s.bar.tool.labels, ","); got != "Any tool,push" {
		t.Errorf("the tools of the server are %q", got)
	}
}

// TestActivityReadsAsFarAsSomebodyLooks: pages come when they are scrolled to.
func TestActivityReadsAsFarAsSomebodyLooks(t *testing.T) {
	b, s, _ := newActivityBench(t, theme.Light, 450)
	b.drain()
	if n := len(s.list.rows); n > 210 {
		t.Errorf("%d rows were read at first", n)
	}
	for s.list.next != nil {
		s.list.list.ScrollToBottom()
		b.until("the next page is there", func() bool { return !s.list.loading })
	}
	runs := map[string]bool{}
	for _, row := range s.list.rows {
		if row.Session != nil {
			runs[row.Session.Key] = true
		}
	}
	if len(runs) != 450 {
		t.Errorf("%d runs in the end", len(runs))
	}
}

// chosenFile is a file as a dialog gives it.
type chosenFile struct{ *os.File }

func (f chosenFile) URI() fyne.URI { return storage.NewFileURI(f.Name()) }

func TestActivityExports(t *testing.T) {
	b, s, _ := newActivityBench(t, theme.Light, 5)
	test.Type(s.bar.text, `"number":2}`)
	b.until("it was searched for", func() bool { return !s.list.loading })
	for i, tc := range []struct {
		lines int
		first string
	}{
		{11, "id,time,door"}, {10, `{"id":"past00002-9"`}, {2, "id,time,door"}, {1, `{"id":"past00002"`},
	} {
		path := filepath.Join(t.TempDir(), "export")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		s.bar.exportTo(chosenFile{file}, exportKinds()[i])
		b.until("it was written", func() bool { return !s.bar.export.Disabled() })
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(data); strings.Count(got, "\n") != tc.lines || !strings.HasPrefix(got, tc.first) {
			t.Errorf("%s: %s", exportKinds()[i].label, got)
		}
		want(t, s.note.Text, "rows are in", path)
	}
	file, err := os.Open(filepath.Join(t.TempDir(), "..")) // cannot be written to
	if err != nil {
		t.Fatal(err)
	}
	s.bar.exportTo(chosenFile{file}, exportKinds()[0])
	b.until("it has failed", func() bool { return !s.bar.export.Disabled() })
	want(t, s.note.Text, "Exporting has failed", "is not complete")
}

func TestActivityWithoutAnything(t *testing.T) {
	_, s, _ := newActivityBench(t, theme.Light, -1)
	want(t, text(s.page), "Nothing has run yet", "[Connect a program]")
}

func TestActivityWithABrokenJournal(t *testing.T) {
	b := newScreenBench(t, theme.Light, -1)
	if err := os.WriteFile(b.ui.journal.path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &fakeResident{events: make(chan loop.Event)}
	s := newActivity(b.ui, r.source(), func() time.Time { return noon })
	b.show(s)
	b.until("it is said", func() bool { return strings.Contains(s.note.Text, "cannot be") })
	want(t, s.note.Text, "opening the journal")
}

// TestActivityTicksOnlyWhileSomethingRuns: and only before the user.
func TestActivityTicksOnlyWhileSomethingRuns(t *testing.T) {
	b, s, r := newActivityBench(t, theme.Light, -1)
	if s.tick != nil {
		t.Error("it ticks while nothing runs")
	}
	r.events <- loop.Event{Kind: loop.RunStarted, Run: "a", Time: noon}
	b.until("it ticks", func() bool { return s.tick != nil })
	r.events <- loop.Event{Kind: loop.CallRunning, Run: "a", Record: "c", Tool: "t", Time: noon}
	spinning := func() (n int) {
		for _, row := range s.view.made {
			if row.spinner.Visible() {
				n++
			}
		}
		return n
	}
	b.until("the call spins", func() bool { return spinning() == 1 })
	r.events <- loop.Event{Kind: loop.RunStarted, Run: "without calls", Time: noon}
	b.until("another run is there", func() bool { return s.state.Find("run without calls") != nil })
	s.view.open(s.state.Find("run without calls"))
	if n := spinning(); n != 0 {
		t.Errorf("%d calls spin out of sight", n)
	}
	s.view.open(s.state.Find("run a"))
	b.until("the call spins again", func() bool { return spinning() == 1 })
	b.leave()
	b.until("it ticks no more", func() bool { return s.tick == nil })
	if n := spinning(); n != 0 {
		t.Errorf("%d calls spin while nobody looks", n)
	}
	s.startTick()
	if s.tick != nil {
		t.Error("it ticks while it is away")
	}
}

// BenchmarkActivityOpens is what it takes until the screen shows what a journal
// of 10,000 calls has.
func BenchmarkActivityOpens(b *testing.B) {
	bench := newScreenBench(b, theme.Light, 1000)
	for b.Loop() {
		r := &fakeResident{events: make(chan loop.Event)}
		s := newActivity(bench.ui, r.source(), func() time.Time { return noon })
		bench.show(s)
		bench.until("all is there", func() bool { return !s.list.loading && len(s.view.rows) == 11 })
		bench.window.Canvas().Capture()
	}
}

// BenchmarkActivityRow is one row of 10,000 runs made anew.
func BenchmarkActivityRow(b *testing.B) {
	bench := newScreenBench(b, theme.Light, 10)
	r := &fakeResident{events: make(chan loop.Event)}
	s := newActivity(bench.ui, r.source(), func() time.Time { return noon })
	bench.show(s)
	bench.until("all is there", func() bool { return !s.list.loading && len(s.view.rows) == 11 })
	row := newSessionRow()
	row.Resize(fyne.NewSize(280, 52))
	i := 0
	for b.Loop() {
		i++
		row.set(s.list.rows[1+i%9], s)
	}
}

// BenchmarkActivityEvent is an event of a run with 500 calls that is shown.
func BenchmarkActivityEvent(b *testing.B) {
	bench := newScreenBench(b, theme.Light, 10)
	r := &fakeResident{events: make(chan loop.Event)}
	s := newActivity(bench.ui, r.source(), func() time.Time { return noon })
	bench.show(s)
	bench.until("all is there", func() bool { return !s.list.loading })
	s.apply(loop.Event{Kind: loop.RunStarted, Run: "live", Time: noon})
	for i := range 500 {
		s.apply(loop.Event{Kind: loop.CallRequested, Run: "live", Record: fmt.Sprint(i), Tool: "t", Round: i / 8, Time: noon})
	}
	s.list.list.Select(1)
	i := 0
	for b.Loop() {
		i++
		s.apply(loop.Event{Kind: loop.CallRunning, Run: "live", Record: fmt.Sprint(i % 500), Time: noon, Arguments: json.RawMessage(`{"path":"/a/b"}`)})
		s.showChanges()
	}
}

// BenchmarkActivityScrolls is a step of one row through 10,000 past runs.
func BenchmarkActivityScrolls(b *testing.B) {
	bench := newScreenBench(b, theme.Light, -1)
	r := &fakeResident{events: make(chan loop.Event)}
	s := newActivity(bench.ui, r.source(), func() time.Time { return noon })
	bench.show(s)
	bench.until("the journal was read", func() bool { return !s.list.loading && r.count() > 0 })
	sessions := make([]journal.Session, 10_000)
	for i := range sessions {
		at := noon.Add(-time.Duration(i) * time.Minute)
		sessions[i] = journal.Session{Run: fmt.Sprint(i), Began: at, Last: at, Ended: at, Turns: 1, Client: oddNames[i%5], Model: "gpt-6-sol", Outcome: journal.OK}
	}
	s.state.AddPast(sessions)
	s.showState()
	offset := float32(0)
	for b.Loop() {
		if offset += 50; offset > 400_000 {
			offset = 0
		}
		s.list.list.ScrollToOffset(offset)
	}
}
