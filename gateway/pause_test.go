package gateway_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/gateway"
)

func TestPause(t *testing.T) {
	d := newDesk(t, "", nil)
	yes := approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk}
	file := filepath.Join(d.folder, "hello.txt")
	chat := func() string {
		t.Helper()
		result, err := d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go"})
		if err != nil {
			t.Fatal(err)
		}
		return result.Content
	}

	changed, stop := d.Subscribe()
	defer stop()
	d.Pause(true)
	select {
	case <-changed:
	default:
		t.Error("nobody was told of the pause")
	}
	if !d.Paused() || !d.Status(t.Context()).Paused {
		t.Error("the gateway does not tell that it is paused")
	}
	if got := chat(); !strings.Contains(got, "tools are paused") {
		t.Errorf("the model was not told of the pause: %q", got)
	}

	d.Pause(false)
	d.answer(t, func(approvals.Request) approvals.Decision { d.Pause(true); return yes })
	if got := chat(); !strings.Contains(got, "tools are paused") {
		t.Errorf("a call that waited was answered with %q", got)
	}
	if _, err := os.Stat(file); err == nil {
		t.Fatal("a call that was approved during the pause ran")
	}

	d.Pause(false)
	d.answer(t, func(approvals.Request) approvals.Decision { return yes })
	if chat(); d.Paused() {
		t.Error("still paused")
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the call did not run after the pause: %v", err)
	}
}
