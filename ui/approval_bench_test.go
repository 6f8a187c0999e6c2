package ui

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"pointsman/approvals"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// fakeClock is a clock that stands still until it is moved.
type fakeClock struct {
	now    time.Time
	timers []*fakeTimer
}

type fakeTimer struct {
	at time.Time
	f  func()
}

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) AfterFunc(d time.Duration, f func()) func() bool {
	timer := &fakeTimer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, timer)
	return func() bool { waiting := timer.f != nil; timer.f = nil; return waiting }
}

// next returns the timer that comes next, no later than until.
func (c *fakeClock) next(until time.Time) *fakeTimer {
	var next *fakeTimer
	for _, timer := range c.timers {
		if timer.f != nil && !timer.at.After(until) && (next == nil || timer.at.Before(next.at)) {
			next = timer
		}
	}
	return next
}

// given is an answer that was given.
type given struct {
	id string
	d  approvals.Decision
}

// approvalBench is an approval window with a clock, and a resident, in hand.
type approvalBench struct {
	t     *testing.T
	clock *fakeClock
	w     *approvalWindow

	mu      sync.Mutex // guards the fields below
	posts   []func()
	given   []given
	counted bool
	fails   error
	ending  string
}

func newApprovalBench(t *testing.T, choice theme.Choice) *approvalBench {
	app := test.NewTempApp(t)
	app.Settings().SetTheme(theme.New(choice))
	b := &approvalBench{t: t, counted: true, clock: &fakeClock{now: time.Date(2126, 3, 4, 15, 0, 0, 0, time.UTC)}}
	b.w = newApprovalWindow(app, approvalOptions{
		Answer: b.answer,
		Ending: func(context.Context, string) (string, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.ending, nil },
		Post:   b.post,
		Clock:  b.clock,
	})
	t.Cleanup(b.w.Close)
	return b
}

func (b *approvalBench) answer(_ context.Context, id string, d approvals.Decision) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails == nil {
		b.given = append(b.given, given{id, d})
	}
	return b.counted, b.fails
}

func (b *approvalBench) post(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posts = append(b.posts, f)
}

// settle lets everything come to its end that needs no time.
func (b *approvalBench) settle() {
	for {
		b.w.work.Wait()
		b.mu.Lock()
		posts := b.posts
		b.posts = nil
		b.mu.Unlock()
		if len(posts) == 0 {
			return
		}
		for _, f := range posts {
			f()
		}
	}
}

// pass lets time pass.
func (b *approvalBench) pass(d time.Duration) {
	b.settle()
	until := b.clock.now.Add(d)
	for timer := b.clock.next(until); timer != nil; timer = b.clock.next(until) {
		b.clock.now = timer.at
		f := timer.f
		timer.f = nil
		f()
		b.settle()
	}
	b.clock.now = until
}

func (b *approvalBench) set(reqs ...approvals.Request) {
	b.w.Set(reqs)
	b.settle()
}

func (b *approvalBench) canvas() fyne.Canvas { return b.w.win.Canvas() }

// press and release are the pointer's button on Approve.
func (b *approvalBench) press() {
	b.w.parts.approve.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary})
	b.settle()
}

func (b *approvalBench) release() {
	b.w.parts.approve.MouseUp(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary})
	b.w.parts.approve.Tapped(&fyne.PointEvent{}) // as the driver does
	b.settle()
}

func (b *approvalBench) click() { b.press(); b.release() }

// key types a key that is no character, as the driver does: to what has the
// keyboard, or to the window.
func (b *approvalBench) key(name fyne.KeyName) {
	e := &fyne.KeyEvent{Name: name}
	if focused := b.canvas().Focused(); focused != nil {
		focused.TypedKey(e)
	} else {
		b.w.win.Canvas().OnTypedKey()(e)
	}
	b.settle()
}

func (b *approvalBench) typed(text string) {
	for _, r := range text {
		if focused := b.canvas().Focused(); focused != nil {
			focused.TypedRune(r)
		} else {
			b.canvas().OnTypedRune()(r)
		}
	}
	b.settle()
}

// wantAnswers compares what was answered.
func (b *approvalBench) wantAnswers(want ...given) {
	b.t.Helper()
	b.settle()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.given) != len(want) {
		b.t.Fatalf("answered %d times, want %d: %+v", len(b.given), len(want), b.given)
	}
	for i, got := range b.given {
		w := want[i]
		w.d.ID, w.d.Approver = w.id, approvals.ByDesk
		gotD, err1 := json.Marshal(got.d)
		wantD, err2 := json.Marshal(w.d)
		if err := errors.Join(err1, err2); err != nil {
			b.t.Fatal(err)
		}
		if got.id != w.id || string(gotD) != string(wantD) {
			b.t.Errorf("answer %d is to %s, %s; want to %s, %s", i, got.id, gotD, w.id, wantD)
		}
	}
}

func request(id string, class approvals.Class) approvals.Request {
	return approvals.Request{
		ID: id, Door: "http", Client: "Copilot 1.99", Model: "gpt-5.2", Run: "r-7f3a", Round: 2,
		Server: "filesystem", Tool: "write_file", Offered: "filesystem__write_file", Title: "Write File",
		Arguments: json.RawMessage(`{"path":"/home/me/src/main.go","mode":420,"content":"package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n"}`),
		Class:     class, Risky: true, Evidence: []string{`the name says "write"`, "the server is not trusted"},
		Reason: "no rule allows it", PlanStep: "2. Write the program", Definition: "d",
		Created: time.Date(2126, 3, 4, 15, 0, 0, 0, time.UTC), Deadline: time.Date(2126, 3, 4, 15, 5, 0, 0, time.UTC),
	}
}

// choice returns what stands under a title in the menu of a group.
func (b *approvalBench) choice(group, title string) model.ScopeChoice {
	for _, g := range model.ScopeGroups(b.w.request, b.w.edit.args, b.w.folders, b.clock.now) {
		for _, c := range g.Choices {
			if g.Title == group && c.Title == title {
				return c
			}
		}
	}
	b.t.Fatalf("no choice %q of %q", title, group)
	return model.ScopeChoice{}
}
