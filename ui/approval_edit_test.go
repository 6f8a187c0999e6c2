package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"pointsman/approvals"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

func TestApprovalEditing(t *testing.T) {
	b := newApprovalBench(t, theme.Light)
	req := request("a", approvals.Write)
	req.Arguments = json.RawMessage(`{"path":"/tmp/a","n":1}`)
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
