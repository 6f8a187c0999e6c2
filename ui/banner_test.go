package ui

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/control"
	"pointsman/gateway/secrets"
	"pointsman/ui/model"
)

func TestHeldChangeIsAcceptedOrPutBack(t *testing.T) {
	const loosened = "# by hand\napprovals: {require: false}\n"
	for _, test := range []struct {
		name, button string
		require      bool
	}{{"accepted", "Accept", false}, {"put back", "Put it back", true}} {
		t.Run(test.name, func(t *testing.T) {
			b := newWindowBench(t, gatewaySetup{})
			b.open(screenConnect)
			b.write(loosened)
			b.until("it is held", func() bool { return b.says("loosens a gate") && b.says("approvals.require") })
			if !b.store.Config().Approvals.Require {
				t.Fatal("it is in force already")
			}
			b.tap(test.button)
			b.until("it is decided", func() bool { return !b.says("loosens a gate") })
			if b.store.Config().Approvals.Require != test.require {
				t.Errorf("approvals.require is %v", b.store.Config().Approvals.Require)
			}
			if !test.require != strings.Contains(b.file(), "require: false") {
				t.Errorf("the file says %q", b.file())
			}
		})
	}
}

// What is accepted is what was seen: another change asks again.
func TestHeldChangeThatWasReplaced(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{})
	b.open(screenConnect)
	b.write("tools: {safe: [one]}\n")
	b.until("it is held", func() bool { return b.says("one would run") })
	changed, unsubscribe := b.gateway.Subscribe()
	defer unsubscribe()
	b.write("tools: {safe: [two]}\n")
	for !slices.ContainsFunc(b.store.Held(), func(held string) bool { return strings.Contains(held, "two") }) {
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatalf("the gateway holds %q", b.store.Held())
		}
	}
	b.tap("Accept") // before the new one is on the screen
	b.until("it is asked again", func() bool { return b.says("decide again") && b.says("two would run") })
	if safe := b.store.Config().Tools.Safe; len(safe) != 0 {
		t.Errorf("tools.safe is %q", safe)
	}
}

func TestBannersOfWhatIsWrong(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{})
	b.open(screenConnect)
	b.write("tools: {max_rounds: 3}\ntools_: 1\n")
	b.until("the fault is shown with its line", func() bool { return b.says("has a fault") && b.says("config.yaml:2") })
	b.write("gateway: {listen: 127.0.0.1:1}\n")
	b.until("the restart is asked for", func() bool { return !b.says("has a fault") && b.says("started again: gateway.listen") })
	b.gateway.Pause(true)
	b.until("the pause is shown", func() bool { return b.says("Tools are paused") })
	b.tap("Resume")
	b.until("the tools go on", func() bool { return !b.says("Tools are paused") })
	if b.gateway.Paused() {
		t.Error("the tools are still paused")
	}
	b.setState(func(s *model.State) { s.NoTray, s.Fault = "no panel", "server github failed" })
	b.until("tray and server are told of", func() bool { return b.says("no tray here (no panel)") && b.says("Server github failed.") })
}

// lockedFirst is a keychain that is locked until it is looked at again.
type lockedFirst struct {
	control.Manager
	looks *int
}

func (m lockedFirst) HasSecret(ctx context.Context, names []string) (map[string]bool, error) {
	*m.looks++
	if *m.looks == 1 {
		return nil, &control.RefusedError{Status: http.StatusServiceUnavailable, Message: secrets.ErrLocked.Error() + "; what needs no key goes on working"}
	}
	return m.Manager.HasSecret(ctx, names)
}

func TestLockedKeychainIsLookedAtAgain(t *testing.T) {
	looks := 0
	b := newWindowBench(t, gatewaySetup{manager: func(m control.Manager) control.Manager { return lockedFirst{m, &looks} }})
	b.open(screenConnect)
	b.until("the keychain is told of", func() bool { return b.says("keychain cannot be used") && b.says("goes on working") })
	b.tap("Look again")
	b.until("it can be used", func() bool { return !b.says("keychain cannot be used") })
}
