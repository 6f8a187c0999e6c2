package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"pointsman/approvals"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// allowed and denied are plain answers.
func allowed() approvals.Decision { return approvals.Decision{Outcome: approvals.Allowed} }
func denied(reason string) approvals.Decision {
	return approvals.Decision{Outcome: approvals.Denied, Reason: reason}
}

func TestApprovalComesAndGoes(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	closed := 0
	b.w.opts.Closed = func() { closed++ }
	if b.w.Visible() {
		t.Fatal("open with nothing waiting")
	}
	b.set(request("a", approvals.Write), request("b", approvals.Write))
	if title := b.w.win.Title(); !b.w.Visible() || title != "Pointsman approval: 2 calls wait" {
		t.Fatalf("visible %v, title %q", b.w.Visible(), title)
	}
	b.ending = "nobody answered in time"
	b.set(request("b", approvals.Write))
	if got, want := b.w.parts.notice.Text, "write_file did not run: nobody answered in time."; got != want || !b.w.parts.notice.Visible() {
		t.Errorf("notice %q, want %q", got, want)
	}
	if b.w.request.ID != "b" {
		t.Errorf("shown is %q", b.w.request.ID)
	}
	b.set()
	if b.w.Visible() || closed != 1 {
		t.Errorf("visible %v with nothing waiting, closed %d times", b.w.Visible(), closed)
	}
	b.pass(time.Minute)
	if b.clock.next(b.clock.now.Add(time.Hour)) != nil {
		t.Error("the clock is looked at while the window is hidden")
	}
	b.wantAnswers()
}

// A storm of keys across the window's appearance approves nothing.
func TestApprovalKeyStorm(t *testing.T) {
	for _, class := range []approvals.Class{approvals.Write, approvals.Destructive} {
		b := newApprovalBench(t, theme.Light)
		b.set(request("a", class))
		for range 60 {
			b.key(fyne.KeyReturn)
			b.key(fyne.KeyEnter)
			b.key(fyne.KeySpace)
			b.typed(" yes, approve it \n")
			b.key(fyne.KeyY)
			b.pass(50 * time.Millisecond)
		}
		b.pass(2 * time.Second)
		b.key(fyne.KeyReturn)
		b.pass(2 * time.Second)
		b.key(fyne.KeySpace)
		b.typed(" ")
		b.wantAnswers()
	}
}

// Whatever the keyboard is moved to, Enter and Space approve nothing.
func TestApprovalKeysOnEveryWidget(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	b.set(request("a", approvals.Write), request("b", approvals.Write))
	b.pass(time.Second)
	seen := map[fyne.Focusable]bool{}
	for range 30 {
		test.FocusNext(b.canvas())
		if focused := b.canvas().Focused(); focused != nil {
			seen[focused] = true
			b.key(fyne.KeyReturn)
			if _, deny := focused.(*keyedButton); !deny || focused != fyne.Focusable(b.w.parts.deny) {
				b.key(fyne.KeySpace)
			}
			for overlay := b.canvas().Overlays().Top(); overlay != nil; overlay = b.canvas().Overlays().Top() {
				b.canvas().Overlays().Remove(overlay)
			}
		}
		b.pass(time.Second)
	}
	if len(seen) < 5 {
		t.Fatalf("only %d widgets take the keyboard", len(seen))
	}
	for _, g := range b.given {
		if g.d.Outcome == approvals.Allowed {
			t.Errorf("a key approved %s", g.id)
		}
	}
}

func TestApprovalByPointer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		class approvals.Class
		act   func(b *approvalBench)
		want  []given
	}{
		{"a click", approvals.Write, func(b *approvalBench) { b.pass(700 * time.Millisecond); b.click() }, []given{{"a", allowed()}}},
		{"a tap", approvals.Write, func(b *approvalBench) { b.pass(time.Second); test.Tap(b.w.parts.approve); b.settle() }, []given{{"a", allowed()}}},
		{"while it arms", approvals.Write, func(b *approvalBench) {
			for range 6 {
				b.click()
				b.pass(100 * time.Millisecond)
			}
		}, nil},
		{"pressed while it arms", approvals.Write, func(b *approvalBench) { b.press(); b.pass(time.Second); b.release() }, nil},
		{"another button", approvals.Write, func(b *approvalBench) {
			b.pass(time.Second)
			b.w.parts.approve.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonSecondary})
			b.w.parts.approve.MouseUp(&desktop.MouseEvent{Button: desktop.MouseButtonSecondary})
		}, nil},
		{"another button, held", approvals.Execute, func(b *approvalBench) {
			b.pass(time.Second)
			b.w.parts.approve.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonSecondary})
			b.pass(time.Second)
		}, nil},
		{"twice", approvals.Write, func(b *approvalBench) { b.pass(time.Second); b.click(); b.click(); b.pass(time.Second); b.click() }, []given{{"a", allowed()}}},
		{"a click where a held press is needed", approvals.Destructive, func(b *approvalBench) { b.pass(time.Second); b.click(); b.click(); b.pass(time.Second) }, nil},
		{"held", approvals.Execute, func(b *approvalBench) { b.pass(time.Second); b.press(); b.pass(850 * time.Millisecond) }, []given{{"a", allowed()}}},
		{"held, then let go", approvals.Execute, func(b *approvalBench) { b.pass(time.Second); b.press(); b.pass(time.Second); b.release() }, []given{{"a", allowed()}}},
		{"held too shortly", approvals.Execute, func(b *approvalBench) {
			b.pass(time.Second)
			b.press()
			b.pass(750 * time.Millisecond)
			b.release()
			b.pass(time.Second)
		}, nil},
		{"left while held", "unheard of", func(b *approvalBench) {
			b.pass(time.Second)
			b.press()
			b.pass(500 * time.Millisecond)
			b.w.parts.approve.MouseOut()
			b.pass(time.Second)
		}, nil},
		{"an arrival and the countdown do not arm anew", approvals.Write, func(b *approvalBench) {
			b.pass(500 * time.Millisecond)
			b.set(request("a", approvals.Write), request("b", approvals.Write))
			b.pass(200 * time.Millisecond)
			b.click()
		}, []given{{"a", allowed()}}},
		{"gone when it is pressed", approvals.Write, func(b *approvalBench) { b.pass(time.Second); b.press(); b.set(); b.release() }, nil},
		{"another one there when it is let go", approvals.Write, func(b *approvalBench) {
			b.pass(time.Second)
			b.press()
			b.set(request("b", approvals.Write))
			b.pass(time.Second)
			b.release()
		}, nil},
		{"denied", approvals.Write, func(b *approvalBench) { test.Tap(b.w.parts.deny); b.settle() }, []given{{"a", denied("")}}},
		{"denied, with a reason", approvals.Write, func(b *approvalBench) {
			test.Type(b.w.parts.reason, "not today, 12")
			test.Tap(b.w.parts.deny)
		}, []given{{"a", denied("not today, 12")}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newApprovalBench(t, theme.Light)
			b.set(request("a", tt.class))
			tt.act(b)
			b.wantAnswers(tt.want...)
		})
	}
}

func TestApprovalByKeys(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  func(b *approvalBench)
		want []given
	}{
		{"the two digits", func(b *approvalBench) { b.pass(time.Second); b.typed(b.w.guard.Code()) }, []given{{"a", allowed()}}},
		{"with the keyboard on a button", func(b *approvalBench) {
			b.pass(time.Second)
			b.canvas().Focus(b.w.parts.remember)
			b.typed(b.w.guard.Code())
		}, []given{{"a", allowed()}}},
		{"into the reason", func(b *approvalBench) {
			b.pass(time.Second)
			b.canvas().Focus(b.w.parts.reason)
			b.typed(b.w.guard.Code())
		}, nil},
		{"too early", func(b *approvalBench) { b.typed(b.w.guard.Code()) }, nil},
		{"Escape", func(b *approvalBench) { b.pass(time.Second); b.key(fyne.KeyEscape) }, []given{{"a", denied("")}}},
		{"Escape with a reason under way", func(b *approvalBench) {
			b.pass(time.Second)
			b.canvas().Focus(b.w.parts.reason)
			b.typed("no")
			b.key(fyne.KeyEscape)
		}, []given{{"a", denied("no")}}},
		{"Escape meant for another window", func(b *approvalBench) { b.typed("dd"); b.key(fyne.KeyEscape) }, nil},
		{"closing", func(b *approvalBench) { b.w.onClose() }, []given{{"a", denied("the window was closed")}}},
		{"the window ends", func(b *approvalBench) { b.w.Close() }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newApprovalBench(t, theme.Light)
			b.set(request("a", approvals.Destructive))
			tt.act(b)
			b.wantAnswers(tt.want...)
		})
	}
}

// Ten calls at once are answered one by one, each with its own answer.
func TestApprovalTen(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	var waiting []approvals.Request
	for i := range 10 {
		waiting = append(waiting, request(fmt.Sprint("call-", i), approvals.Write))
	}
	var want []given
	for i := range 10 {
		b.set(waiting...)
		if got := b.w.parts.position.Text; got != fmt.Sprintf("%d of 10", i+1) {
			t.Errorf("position %q", got)
		}
		b.click() // arms anew for each
		b.pass(time.Second)
		d := allowed()
		if i%2 == 0 {
			b.click()
		} else {
			d = denied("")
			test.Tap(b.w.parts.deny)
		}
		want = append(want, given{waiting[0].ID, d})
		waiting = waiting[1:]
		b.wantAnswers(want...)
	}
	b.set()
	if b.w.Visible() {
		t.Error("open with nothing waiting")
	}
}

func TestApprovalClosingDeniesAll(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	b.set(request("a", approvals.Write), request("b", approvals.Execute))
	b.w.onClose()
	if b.w.Visible() {
		t.Error("still open")
	}
	b.settle()
	if len(b.given) != 2 {
		t.Fatalf("answers: %+v", b.given)
	}
	for _, g := range b.given {
		if g.d.Outcome != approvals.Denied || g.d.Reason != "the window was closed" || g.d.Scope != nil {
			t.Errorf("answer to %s: %+v", g.id, g.d)
		}
	}
	b.set(request("c", approvals.Write))
	if !b.w.Visible() || b.w.request.ID != "c" {
		t.Error("what comes later is not shown")
	}
}

// An answer that did not count, or did not arrive, is told; the latter leaves the
// request waiting, armed anew.
func TestApprovalAnswerLost(t *testing.T) {
	t.Run("not counted", func(t *testing.T) {
		b := newApprovalBench(t, theme.Light)
		b.counted = false
		b.set(request("a", approvals.Write))
		b.pass(time.Second)
		b.click()
		b.set()
		if want := model.UncountedLine(request("a", approvals.Write)); b.w.parts.notice.Text != want || !b.w.Visible() {
			t.Errorf("notice %q, visible %v", b.w.parts.notice.Text, b.w.Visible())
		}
		b.click()
		test.Tap(b.w.parts.deny)
		b.key(fyne.KeyEscape)
		b.pass(lingerTime)
		b.pass(2 * time.Second)
		if b.w.Visible() {
			t.Error("still open long after")
		}
		b.wantAnswers(given{"a", allowed()})
	})
	t.Run("not counted, and closed", func(t *testing.T) {
		b := newApprovalBench(t, theme.Light)
		b.counted = false
		b.set(request("a", approvals.Write))
		b.pass(time.Second)
		b.click()
		b.set()
		b.w.onClose()
		b.set()
		if b.w.Visible() {
			t.Error("open with nothing waiting")
		}
		b.wantAnswers(given{"a", allowed()})
	})
	t.Run("not arrived", func(t *testing.T) {
		b := newApprovalBench(t, theme.Light)
		b.fails = errors.New("the running Pointsman went away")
		b.set(request("a", approvals.Write))
		b.pass(time.Second)
		b.click()
		if got, want := b.w.parts.notice.Text, "Your answer to write_file did not arrive: the running Pointsman went away."; got != want {
			t.Errorf("notice %q", got)
		}
		b.fails = nil
		b.click()
		b.wantAnswers()
		b.pass(time.Second)
		b.click()
		b.wantAnswers(given{"a", allowed()})
	})
}

func TestApprovalEditing(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	req := request("a", approvals.Write)
	req.Arguments = json.RawMessage(`{"path":"/tmp/a","n":1}`)
	b.w.opts.Validate = func(_ approvals.Request, args json.RawMessage) error {
		if strings.Contains(string(args), "13") {
			return errors.New("n must not be 13")
		}
		return nil
	}
	b.set(req)
	b.pass(time.Second)
	p := b.w.parts

	test.Tap(p.edit)
	if !p.editor.Visible() || p.text.Visible() || p.undo.Hidden {
		t.Fatal("no editor")
	}
	for _, bad := range []struct{ text, fault string }{
		{"{\"n\": 2,\n}", "line 2, column 1: invalid character '}' looking for beginning of object key string"},
		{`[]`, "not a JSON object"},
		{`{"n":13}`, "n must not be 13"},
	} {
		p.editor.SetText(bad.text)
		if p.fault.Text != bad.fault || p.fault.Hidden || p.approve.ready {
			t.Errorf("%s: fault %q, ready %v", bad.text, p.fault.Text, p.approve.ready)
		}
		b.click()
		b.typed(b.w.guard.Code())
	}
	b.wantAnswers()

	p.editor.SetText(`{"path": "/tmp/b", "n": 2}`)
	test.Tap(p.edit)
	b.settle()
	if p.editor.Visible() || !strings.Contains(fmt.Sprint(p.text.lines), "/tmp/b") || !strings.Contains(fmt.Sprint(p.text.lines), sectionEdited) {
		t.Errorf("what is shown: %v", p.text.lines)
	}
	b.w.onChoose(b.choice("For this run", "These exact arguments"))
	b.click()
	d := allowed()
	d.Arguments = json.RawMessage(`{"path":"/tmp/b","n":2}`)
	d.Scope = &approvals.Scope{Lifetime: approvals.ForRun, ExactArguments: true}
	b.wantAnswers(given{"a", d})
}

func TestApprovalEditingUndone(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  func(b *approvalBench)
	}{
		{"undone", func(b *approvalBench) { b.w.parts.editor.SetText("{"); test.Tap(b.w.parts.undo) }},
		{"typed back", func(b *approvalBench) {
			as := b.w.parts.editor.Text
			b.w.parts.editor.SetText("{}")
			b.w.parts.editor.SetText(as)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newApprovalBench(t, theme.Light)
			b.set(request("a", approvals.Write))
			b.pass(time.Second)
			test.Tap(b.w.parts.edit)
			tt.act(b)
			b.click()
			b.wantAnswers(given{"a", allowed()})
		})
	}
}

func TestApprovalRemembering(t *testing.T) {
	run := &approvals.Scope{Lifetime: approvals.ForRun, ExactArguments: true}
	always := &approvals.Scope{Lifetime: approvals.Always}
	under := &approvals.Scope{Lifetime: approvals.Always, PathPrefix: "/home/me/src"}
	with := func(d approvals.Decision, s *approvals.Scope) approvals.Decision { d.Scope = s; return d }
	for _, tt := range []struct {
		name         string
		group, title string
		deny         bool
		button       string
		want         approvals.Decision
	}{
		{"approved", "For this run", "These exact arguments", false, "Approve for this run", with(allowed(), run)},
		{"denied", "Always", "Any arguments", true, "Deny always", with(denied(""), always)},
		{"under a folder", "Always", "Only under /home/me/src", false, "Approve always", with(allowed(), under)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newApprovalBench(t, theme.Light)
			b.set(request("a", approvals.Write), request("b", approvals.Write))
			b.pass(time.Second)
			test.Tap(b.w.parts.remember)
			b.pick(tt.group, tt.title)
			p := b.w.parts
			if tt.deny {
				if p.deny.Text != tt.button {
					t.Errorf("button %q", p.deny.Text)
				}
				test.Tap(p.deny)
			} else {
				if p.approve.text != tt.button {
					t.Errorf("button %q", p.approve.text)
				}
				b.click()
			}
			b.wantAnswers(given{"a", tt.want})
			if p.remember.Text != model.ThisCallOnly || p.sentence.Visible() || p.deny.Text != "Deny" {
				t.Errorf("the choice outlives its request: %q", p.remember.Text)
			}
		})
	}
}

// pick chooses from the menu that is open.
func (b *approvalBench) pick(group, title string) {
	b.t.Helper()
	if b.canvas().Overlays().Top() == nil {
		b.t.Fatal("no menu is open")
	}
	for _, item := range b.w.menu().Items {
		if item.Label != group {
			continue
		}
		for _, choice := range item.ChildMenu.Items {
			if choice.Label == title {
				choice.Action()
				return
			}
		}
	}
	b.t.Fatalf("the menu has no %q under %q", title, group)
}

// A permission of what is always asked about would never hold, so none is given
// that says it would.
func TestApprovalAlwaysAsked(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	req := request("a", approvals.Write)
	req.AlwaysAsk = true
	b.set(req)
	b.pass(time.Second)
	b.w.onChoose(b.choice("Always", "Any arguments"))
	b.click()
	b.wantAnswers()
	b.w.onChoose(model.ScopeChoice{})
	b.click()
	b.wantAnswers(given{"a", allowed()})
}

// What is chosen for one set of paths is not kept for another.
func TestApprovalFolderOfOtherArguments(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	b.set(request("a", approvals.Write))
	b.pass(time.Second)
	b.w.onChoose(b.choice("Always", "Only under /home/me/src"))
	test.Tap(b.w.parts.edit)
	b.w.parts.editor.SetText(`{"path":"/etc/passwd"}`)
	b.click()
	d := allowed()
	d.Arguments = json.RawMessage(`{"path":"/etc/passwd"}`)
	b.wantAnswers(given{"a", d})
}

// Every button and the digits stay in sight, however small the window and
// however long the names.
func TestApprovalFits(t *testing.T) {
	for _, tt := range []struct {
		name string
		req  func(*approvals.Request)
	}{
		{"short names", func(*approvals.Request) {}},
		{"long names", func(r *approvals.Request) {
			long := strings.Repeat("长い名前🙂", 60)
			r.Tool, r.Server, r.Client, r.CWD, r.Model = long, long, long, "/"+long, long
			r.PlanStep, r.Reason, r.Evidence = long, long, []string{long, long}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newApprovalBench(t, theme.Dark)
			size := fyne.NewSize(560, 480)
			b.w.win.Resize(size)
			req := request("a", approvals.Destructive)
			tt.req(&req)
			b.set(req, request("b", approvals.Write))
			b.pass(time.Second)
			p := b.w.parts
			for name, o := range map[string]fyne.CanvasObject{"deny": p.deny, "approve": p.approve, "digits": p.digits, "remember": p.remember, "text": p.text, "time": p.left} {
				at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
				end := at.AddXY(o.Size().Width, o.Size().Height)
				if at.X < 0 || at.Y < 0 || end.X > size.Width || end.Y > size.Height || o.Size().Height < o.MinSize().Height {
					t.Errorf("%s stands from %v to %v with %v, in a window of %v", name, at, end, o.MinSize(), size)
				}
			}
		})
	}
}

// Whoever uses no mouse reads all of a call, too.
func TestApprovalScrollingByKeys(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	req := request("a", approvals.Write)
	req.Arguments = json.RawMessage(`{"content":"` + strings.Repeat(`line\n`, 200) + `"}`)
	b.set(req)
	b.pass(time.Second)
	scroll := b.w.parts.text.scroll
	last := float32(0)
	for _, step := range []struct {
		key  fyne.KeyName
		down bool
	}{{fyne.KeyDown, true}, {fyne.KeyPageDown, true}, {fyne.KeyEnd, true}, {fyne.KeyUp, false}, {fyne.KeyPageUp, false}, {fyne.KeyHome, false}} {
		b.key(step.key)
		if at := scroll.Offset.Y; at == last || at > last != step.down {
			t.Errorf("%s moves from %v to %v", step.key, last, at)
		}
		last = scroll.Offset.Y
	}
	if last != 0 {
		t.Errorf("Home leads to %v", last)
	}
	b.wantAnswers()
}

// BenchmarkApprovalLarge shows a megabyte of arguments.
func BenchmarkApprovalLarge(b *testing.B) {
	args, err := json.Marshal(map[string]string{"content": strings.Repeat("0123456789 world\n", 1<<16)})
	if err != nil {
		b.Fatal(err)
	}
	test.NewTempApp(b)
	text := newTextView()
	text.Resize(fyne.NewSize(640, 400))
	b.SetBytes(int64(len(args)))
	for b.Loop() {
		text.SetLines(model.ArgumentLines(args))
	}
}

// A megabyte of arguments is whole, and few of its rows have objects.
func TestApprovalLargeArguments(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	req := request("a", approvals.Write)
	args, err := json.Marshal(map[string]string{"path": "/home/me/a", "content": strings.Repeat("0123456789 world\n", 1<<16) + "the end"})
	if err != nil {
		t.Fatal(err)
	}
	req.Arguments = args
	b.set(req)
	text := b.w.parts.text
	if n := len(text.rows.rows); n < 1<<16 {
		t.Fatalf("%d rows", n)
	}
	text.GoTo(sectionDetails)
	var drawn []string
	for _, o := range test.WidgetRenderer(text.rows).Objects() {
		if c, ok := o.(interface{ MinSize() fyne.Size }); ok && c.MinSize().Width > 0 {
			drawn = append(drawn, fmt.Sprint(o))
		}
	}
	if n := len(test.WidgetRenderer(text.rows).Objects()); n > 300 {
		t.Errorf("%d objects are drawn", n)
	}
	if !strings.Contains(strings.Join(drawn, " "), "the end") && !strings.Contains(strings.Join(drawn, " "), "About this call") {
		t.Error("the end is not in sight")
	}
	if !b.w.parts.edit.Disabled() {
		t.Error("so much can hardly be edited")
	}
}
