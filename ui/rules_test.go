package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/control"
)

const oneRule = `approvals:
  rules:
    - {id: r1, action: allow, server: filesystem, tool: write_file, definition: d1, path_prefix: /home/me/src, created: 2026-03-01T10:00:00Z}
    - {id: r2, action: deny, server: shell, tool: run, definition: d2, created: 2026-03-02T10:00:00Z}
`

// rulesOf puts rules beside those of the gateway.
type rulesOf struct {
	control.Manager
	more    []approvals.Rule
	refusal error // of every removal and restoration
}

func (m rulesOf) Rules(ctx context.Context) ([]approvals.Rule, error) {
	rules, err := m.Manager.Rules(ctx)
	return append(rules, m.more...), err
}

func (m rulesOf) RemoveRule(ctx context.Context, id string) (bool, error) {
	if m.refusal != nil {
		return false, m.refusal
	}
	return m.Manager.RemoveRule(ctx, id)
}

func TestRuleIsRemovedAndComesBack(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{yaml: oneRule})
	b.open(screenApprovals)
	const sentence = "Always allow write_file of filesystem under /home/me/src"
	b.until("the rules are shown", func() bool { return b.says(sentence) && b.says("Always deny run of shell") })
	if err := b.store.Config(); len(err.Approvals.Rules) != 2 {
		t.Fatalf("there are %d rules", len(err.Approvals.Rules))
	}
	removes := b.buttons("Remove")
	if len(removes) != 2 {
		t.Fatalf("there are %d buttons to remove", len(removes))
	}
	removes[1].OnTapped() // the older one is below
	b.until("it is removed", func() bool { return b.says("Removed: "+sentence) && len(b.buttons("Remove")) == 1 })
	if strings.Contains(b.file(), "r1") || !strings.Contains(b.file(), "r2") {
		t.Errorf("the file says %q", b.file())
	}
	b.tap("Undo")
	b.until("it is back", func() bool { return len(b.buttons("Remove")) == 2 && !b.says("Removed: ") })
	if !strings.Contains(b.file(), "r1") {
		t.Errorf("the file says %q", b.file())
	}
}

func TestRuleThatCannotBeRemoved(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{yaml: oneRule, manager: func(m control.Manager) control.Manager {
		return rulesOf{Manager: m, refusal: errors.New("the file cannot be written")}
	}})
	b.open(screenApprovals)
	b.until("the rules are shown", func() bool { return len(b.buttons("Remove")) == 2 })
	b.buttons("Remove")[0].OnTapped()
	b.until("it is said why", func() bool { return b.says("he file cannot be written") })
	if len(b.buttons("Remove")) != 2 || len(b.buttons("Undo")) != 0 {
		t.Errorf("the window says %q", b.words())
	}
}

func TestRulesOfNowAndVoidOnes(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{manager: func(m control.Manager) control.Manager {
		return rulesOf{Manager: m, more: []approvals.Rule{
			{ID: "s", Action: approvals.Allow, Server: "web", Tool: "fetch", Lifetime: approvals.ForSession, Used: 2, LastUsed: time.Now(), Created: time.Now()},
			{ID: "v", Action: approvals.Allow, Server: "web", Tool: "post", Lifetime: approvals.Always, Voided: true},
		}}
	}})
	b.open(screenApprovals)
	b.until("the rules are shown", func() bool { return b.says("Until Pointsman stops, allow fetch of web") })
	for _, want := range []string{"For now", "used twice since Pointsman started", "Not in use any more", "definition has changed", "Always allow post of web"} {
		if !b.says(want) {
			t.Errorf("the window does not say %q: %q", want, b.words())
		}
	}
}

func TestNothingRemembered(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{})
	b.open(screenApprovals)
	b.until("that is said", func() bool { return b.says("Nothing is remembered, nothing waits") })
}

func TestWhatWaitsLeadsToItsWindow(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{})
	b.open(screenApprovals)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	defer func() { cancel(); <-asked }()
	go func() {
		defer close(asked)
		_, _ = b.gateway.Desk().Ask(ctx, approvals.Request{ID: "a", Server: "files", Tool: "delete_all", Class: approvals.Destructive, Client: "vscode"})
	}()
	b.until("it is shown", func() bool { return b.says("1 call waits for you") && b.says("delete_all of files, for vscode") })
	b.button("Decide …")
	cancel()
	b.until("it is gone", func() bool { return b.says("nothing waits") })
}
