package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/test"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// noon is what the clock of these screens says.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// screenBench is a UI without a resident, whose posts are run by settle.
type screenBench struct {
	t      testing.TB
	ui     *UI
	ctx    context.Context
	leave  context.CancelFunc
	window fyne.Window
	posts  chan func()
}

// newScreenBench returns a bench with a journal that has runs past runs of ten
// calls each; negative: there is no journal.
func newScreenBench(t testing.TB, choice theme.Choice, runs int) *screenBench {
	t.Helper()
	app := test.NewTempApp(t)
	app.Settings().SetTheme(theme.New(choice))
	b := &screenBench{t: t, posts: make(chan func(), 1<<16)}
	file := &journalFile{path: filepath.Join(t.TempDir(), "journal.db")}
	if runs >= 0 {
		fillJournal(t, file.path, runs)
	}
	b.ui = &UI{app: app, log: slog.New(slog.DiscardHandler), journal: file, post: func(f func()) { b.posts <- f }}
	b.ui.main = newMainWindow(b.ui)
	b.ctx, b.leave = context.WithCancel(context.Background())
	b.ui.ctx = b.ctx
	t.Cleanup(func() {
		b.leave()
		b.ui.work.Wait()
		if err := file.close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// show puts a screen into a window, at the least size that it has to fit.
func (b *screenBench) show(s screen) {
	b.window = test.NewTempWindow(b.t, container.NewStack(part.NewSurface("background", "", 0), part.Inset(2, s.content())))
	b.window.Resize(fyne.NewSize(900-23*8, 600))
	b.ui.main.window = b.window
	s.enter(b.ctx)
}

// until runs what is posted until it is as wanted.
func (b *screenBench) until(what string, wanted func() bool) {
	b.t.Helper()
	deadline := time.After(20 * time.Second)
	for !wanted() {
		select {
		case f := <-b.posts:
			f()
		case <-deadline:
			b.t.Fatal("waited in vain until " + what)
		}
	}
}

// drain runs what is posted by now.
func (b *screenBench) drain() {
	for len(b.posts) > 0 {
		(<-b.posts)()
	}
}

// shot writes what the window shows into the folder that SHOTS names.
func (b *screenBench) shot(name string) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	file, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := errors.Join(png.Encode(file, b.window.Canvas().Capture()), file.Close()); err != nil {
		b.t.Fatal(err)
	}
}

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
		b.until("the calls are there", func() bool { return s.run.read })
		b.shot("activity-live-" + string(choice))
		s.list.list.Select(3)
		b.until("the calls are there", func() bool { return s.run.count() == 10 })
		b.shot("activity-past-" + string(choice))
		s.list.list.Select(6)
		b.until("the calls are there", func() bool { return s.run.count() == 10 })
		s.run.calls.Select(1)
		b.until("the call is there", func() bool { return s.run.detail.text != "" })
		b.shot("activity-call-" + string(choice))
		s.bar.text.SetText("nowhere")
		b.until("it was searched for", func() bool { return !s.list.loading })
		b.shot("activity-nothing-" + string(choice))
		b, _, _ = newActivityBench(t, choice, -1)
		b.shot("activity-empty-" + string(choice))
	}
}

var _ = model.Name
var _ = storage.NewFileURI
