package ui

import (
	"context"
	"errors"
	"fmt"
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
		{"on a keyboard that has digits with Shift", func(b *approvalBench) {
			b.pass(time.Second)
			for _, r := range b.w.guard.Code() {
				b.key(desktop.KeyShiftLeft)
				b.key(fyne.KeyName(r))
				b.typed(string(r))
			}
		}, []given{{"a", allowed()}}},
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
		if got, want := b.w.parts.notice.Text, "Your answer to write_file was not taken: the running Pointsman went away."; got != want {
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

// An answer that nobody takes ends with the window.
func TestApprovalCloseWhileAnswering(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	ended := make(chan error, 1)
	b.w.opts.Answer = func(ctx context.Context, _ string, _ approvals.Decision) (bool, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return false, ctx.Err()
	}
	b.set(request("a", approvals.Write))
	test.Tap(b.w.parts.deny)
	if !b.w.parts.deny.Disabled() || b.w.parts.approve.text != "Sending …" {
		t.Error("it does not show that an answer is on its way")
	}
	b.w.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the answer ended with %v", err)
	}
	b.w.Close()
}
