package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"pointsman/approvals"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

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
	test.NewTempApp(b).Settings().SetTheme(theme.New(theme.Light))
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
