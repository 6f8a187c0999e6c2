package servers_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
)

// A server that is not admitted is neither started nor reached, by whatever way;
// the others are not concerned. It is asked about anew with each attempt.
func TestAdmit(t *testing.T) {
	reached := atomic.Int64{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer web.Close()
	open := atomic.Bool{}
	admit := func(name string, _ config.MCPServer) error {
		if name == "good" || open.Load() {
			return nil
		}
		return errors.New("the rules of the house forbid it")
	}
	entries := map[string]config.MCPServer{"good": fakeServer(t, "normal"), "local": fakeServer(t, "normal"), "remote": {URL: web.URL}}
	h := start(t, servers.Options{Admit: admit}, entries)
	defer h.stop()
	h.awaitState("good", servers.Connected)
	for _, name := range []string{"local", "remote"} {
		if live := h.awaitState(name, servers.Failed).Live; !strings.Contains(live.Error, "rules of the house") || live.PID != 0 {
			t.Errorf("%s is %+v", name, live)
		}
	}
	var state *servers.StateError
	if _, err := h.SignIn(t.Context(), "remote", signin.How{}); !errors.As(err, &state) || !strings.Contains(err.Error(), "rules of the house") {
		t.Errorf("signing in: %v", err)
	}
	if trial := h.Try(t.Context(), "new", entries["local"], nil); trial.State != servers.Failed || !strings.Contains(trial.Error, "rules of the house") {
		t.Errorf("tried out: %+v", trial)
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("it was reached %d times", n)
	}
	open.Store(true)
	if got := h.text("local", "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("admitted later, it answers %s", got)
	}
}
