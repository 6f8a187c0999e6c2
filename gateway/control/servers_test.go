package control_test

import (
	"errors"
	"strings"
	"testing"

	"pointsman/gateway/control"
	"pointsman/gateway/servers"
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
