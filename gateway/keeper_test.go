package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
)

// A stopped server's tools are gone when Stop returns, and back when Start does.
func TestStoppedServersToolsAreMissing(t *testing.T) {
	d := newDesk(t, "", nil)
	if s, err := d.StopServer(t.Context(), "scratch"); err != nil || s.Live.Status != servers.Stopped || len(d.Tools()) != 0 {
		t.Errorf("stopped: %+v, %v, with %d tools", s, err, len(d.Tools()))
	}
	if err := d.Ready(t.Context()); err != nil { // a stopped server is not waited for
		t.Error(err)
	}
	if s, err := d.StartServer(t.Context(), "scratch"); err != nil || s.Live.Status != servers.Connected || len(d.Tools()) != 4 {
		t.Errorf("started: %+v, %v, with %d tools", s, err, len(d.Tools()))
	}
	if s, err := d.RestartServer(t.Context(), "scratch"); err != nil || s.Live.Status != servers.Connected {
		t.Errorf("restarted: %+v, %v", s, err)
	}
}

// diagnosticsMode sets how much is kept.
func diagnosticsMode(t *testing.T, d *desk, mode string) {
	t.Helper()
	w := window(t, d)
	settings, err := w.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Edit(t.Context(), settings.Revision, edit(mode, "diagnostics", "mcp")); err != nil {
		t.Fatal(err)
	}
}

func TestDiagnosticsOverHTTP(t *testing.T) {
	d := newDesk(t, "gateway: {auth: none}\n", nil)
	get := func(query string, into any) int {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/v1/diagnostics?"+query, nil)
		d.Handler().ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%s answers %s", query, w.Body)
		}
		return w.Code
	}
	var off diagnostics.Page
	if code := get("server=scratch&waitMs=60000", &off); code != 200 || off.Level != "off" || off.Cursor == "" || off.Entries == nil || len(off.Entries) != 0 {
		t.Errorf("off, it answers %d, %+v", code, off)
	}
	diagnosticsMode(t, d, "info")
	if _, err := d.RestartServer(t.Context(), "scratch"); err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	code := get("server=scratch&cursor="+off.Cursor, &raw)
	entries, _ := raw["entries"].([]any)
	for _, key := range []string{"entries", "cursor", "cursorStatus", "droppedCount"} {
		if _, ok := raw[key]; !ok || code != 200 || len(entries) < 2 {
			t.Errorf("on, it answers %d, %v", code, raw)
		}
	}
	var bad struct {
		Error struct{ Param, Message string }
	}
	for query, param := range map[string]string{"server=nobody": "server", "": "server", "server=scratch&max=501": "max", "server=scratch&cursor=x": "cursor"} {
		if code := get(query, &bad); code != 400 || bad.Error.Param != param {
			t.Errorf("%q answers %d, %+v", query, code, bad)
		}
	}
	diagnosticsMode(t, d, "off")
	if page := (diagnostics.Page{}); get("server=scratch", &page) != 200 || len(page.Entries) != 0 {
		t.Errorf("off again, it answers %+v", page)
	}
}

// The sandbox for all confines each server that has none of its own, also one that
// is only tried out. None of these ever answers.
func TestSandboxForAll(t *testing.T) {
	const never = "command: sleep, args: ['60'], startTimeout: 200"
	d := newDesk(t, "sandbox: {enabled: true}\nmcpServers:\n  plain: {"+never+"}\n  free: {"+never+", sandbox: {enabled: false}}\n", nil)
	all := func() []servers.Status { return d.Servers() }
	state := func(name string) servers.Live {
		at := slices.IndexFunc(all(), func(s servers.Status) bool { return s.Name == name })
		return all()[at].Live
	}
	d.await(t, "both have failed", func() bool { return state("plain").Status == servers.Failed && state("free").Status == servers.Failed })
	if got := state("plain").Error; !strings.Contains(got, "`sandbox`") {
		t.Errorf("the confined one says %s", got)
	}
	if got := state("free").Error; !strings.Contains(got, "startTimeout") || strings.Contains(got, "`sandbox`") {
		t.Errorf("the free one says %s", got)
	}
	w := window(t, d)
	entry := config.MCPServer{Command: "sleep", Args: []string{"60"}, StartTimeout: 200}
	if trial, err := w.TestServer(t.Context(), "new", entry, nil); err != nil || !strings.Contains(trial.Error, "`sandbox`") {
		t.Errorf("a trial says %+v, %v", trial, err)
	}
}
