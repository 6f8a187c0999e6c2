package control_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/control"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
)

// Everybody may start and stop servers, and is told why one is not.
func TestServersAreStartedAndStopped(t *testing.T) {
	c := newRig(t).client
	if s, err := c.StartServer(t.Context(), "good/one"); err != nil || s.Name != "good/one" || s.Live.Status != servers.Connected {
		t.Errorf("started: %+v, %v", s, err)
	}
	if s, err := c.StopServer(t.Context(), "good/one"); err != nil || s.Live.Status != servers.Stopped {
		t.Errorf("stopped: %+v, %v", s, err)
	}
	for name, want := range map[string]int{"off": 409, "nobody": 404} {
		var refused *control.RefusedError
		if _, err := c.StartServer(t.Context(), name); !errors.As(err, &refused) || refused.Status != want || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var refused *control.RefusedError
	if _, err := c.RestartServer(t.Context(), "x"); !errors.As(err, &refused) || refused.Status != 500 || err.Error() != "it went away" {
		t.Errorf("restarted: %v", err)
	}
}

func TestDiagnostics(t *testing.T) {
	c := newRig(t).client
	q := diagnostics.Query{Server: "a&b", Cursor: "c=", Max: 3, Wait: 2 * time.Second, Level: diagnostics.Debug}
	page, err := c.Diagnostics(t.Context(), q)
	if err != nil || page.Cursor != "c=" || page.Entries[0].Server != "a&b" || page.Entries[0].Level != diagnostics.Debug || page.Entries[0].Message != "2s" {
		t.Errorf("the page is %+v, %v", page, err)
	}
	for _, q := range []diagnostics.Query{{Server: "nobody"}, {Server: "s", Max: 501}} {
		var refused *control.RefusedError
		if _, err := c.Diagnostics(t.Context(), q); !errors.As(err, &refused) || refused.Status != 400 {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// TestRequest: the answer arrives as it was sent, byte for byte.
func TestRequest(t *testing.T) {
	c := newRig(t).client
	raw, err := c.Request(t.Context(), "a/b", "prompts/list", json.RawMessage(`{"cursor":"<2>"}`))
	if err != nil || string(raw) != `{"z": "<prompts/list>","a":{"cursor":"\u003c2\u003e"}}` {
		t.Errorf("got %s %v", raw, err)
	}
	var refused *control.RefusedError
	if _, err := c.Request(t.Context(), "empty", "prompts/list", nil); !errors.As(err, &refused) || refused.Status != 404 || !strings.Contains(err.Error(), "has no prompts") {
		t.Errorf("of what a server has not: %v", err)
	}
}
