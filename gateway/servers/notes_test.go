package servers_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
)

// kept returns everything that is kept of a server.
func (h *harness) kept(name string) []diagnostics.Entry {
	h.t.Helper()
	var all []diagnostics.Entry
	q := diagnostics.Query{Server: name, Max: diagnostics.MaxMax}
	for {
		page, err := h.Diagnostics(context.Background(), q)
		if err != nil {
			h.t.Fatal(err)
		}
		if len(page.Entries) == 0 {
			return all
		}
		all, q.Cursor = append(all, page.Entries...), page.Cursor
	}
}

// holds reports whether some record is of the category and level and has text.
func holds(entries []diagnostics.Entry, about diagnostics.Category, level diagnostics.Level, text string) bool {
	return slices.ContainsFunc(entries, func(e diagnostics.Entry) bool {
		return e.Category == about && e.Level == level && strings.Contains(e.Message, text)
	})
}

// diagnosed is a host that keeps everything.
func diagnosed(t *testing.T, opts servers.Options, entry config.MCPServer) *harness {
	h := start(t, opts, nil)
	h.SetDiagnostics(diagnostics.Trace)
	h.Apply(map[string]config.MCPServer{"s": entry}, nil)
	return h
}

func TestDiagnosticsOfALocalServer(t *testing.T) {
	entry := fakeServer(t, "junk")
	entry.Env["TOKEN"] = "${TOKEN}"
	resolve := func(_ context.Context, ref string) (string, error) {
		return strings.ReplaceAll(ref, "${TOKEN}", "s3cret-0123"), nil
	}
	h := diagnosed(t, servers.Options{Resolve: resolve}, entry)
	first := h.awaitState("s", servers.Connected).Live.ConnectionID
	h.text("s", "echo", `{"a":"s3cret-0123","headers":{"Authorization":"Bearer abc"},"at":"https://u:p@h.x/?key=abc"}`)
	if _, err := h.call("s", "refuses", `{}`); err == nil {
		t.Fatal("it did not refuse")
	}
	h.do(h.Stop, "s")
	got := h.kept("s")
	for _, want := range []struct {
		about diagnostics.Category
		level diagnostics.Level
		text  string
	}{
		{diagnostics.Lifecycle, diagnostics.Info, "pending"},
		{diagnostics.Lifecycle, diagnostics.Debug, "started "},
		{diagnostics.Lifecycle, diagnostics.Info, "connected"},
		{diagnostics.Lifecycle, diagnostics.Debug, "closing its stdin"},
		{diagnostics.Lifecycle, diagnostics.Info, "stopped"},
		{diagnostics.Stderr, diagnostics.Info, "fake server, mode junk"},
		{diagnostics.Protocol, diagnostics.Warning, "Welcome to the junk server!"},
		{diagnostics.Protocol, diagnostics.Debug, "→ initialize ("},
		{diagnostics.Protocol, diagnostics.Debug, "→ tools/call ("},
		{diagnostics.Protocol, diagnostics.Debug, "← answer to id "},
		{diagnostics.Protocol, diagnostics.Warning, "bad arguments"},
		{diagnostics.Protocol, diagnostics.Trace, `"headers":"[redacted]"`},
		{diagnostics.Protocol, diagnostics.Trace, `https://h.x/?key=[redacted]`},
	} {
		if !holds(got, want.about, want.level, want.text) {
			t.Errorf("no %s %s with %q in %+v", want.level, want.about, want.text, got)
		}
	}
	for _, e := range got {
		if strings.Contains(e.Message, "s3cret") || strings.Contains(e.Message, "abc") || e.Server != "s" || e.ConnectionID != first {
			t.Errorf("a record is %+v", e)
		}
	}
}

// Each attempt to connect has an id of its own; a private key on stderr is
// nobody's business.
func TestDiagnosticsOfAServerThatCannotStart(t *testing.T) {
	entry := fakeServer(t, "broken")
	entry.Env["SAY"] = "\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----\nbye"
	h := diagnosed(t, servers.Options{}, entry)
	h.awaitState("s", servers.Failed)
	h.do(h.Start, "s")
	got := h.kept("s")
	ids := map[string]bool{}
	for _, e := range got {
		ids[e.ConnectionID] = true
		if strings.Contains(e.Message, "MIIEow") || strings.Contains(e.Message, "PRIVATE") {
			t.Errorf("a record is %+v", e)
		}
	}
	if len(ids) != 2 || ids[""] || !holds(got, diagnostics.Lifecycle, diagnostics.Error, "exit status 3") || !holds(got, diagnostics.Stderr, diagnostics.Info, "bye") {
		t.Errorf("of %d attempts: %+v", len(ids), got)
	}
}

func TestDiagnosticsOfARemoteServer(t *testing.T) {
	server := sdkServer(t)
	web := httptest.NewServer(legacyOnly(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)))
	t.Cleanup(web.Close)
	entry := config.MCPServer{Type: "http", URL: web.URL + "/mcp?key=very-s3cret", Headers: map[string]config.Secret{"X-Mine": "header-s3cret"}}
	h := diagnosed(t, servers.Options{}, entry)
	defer h.stop()
	h.awaitState("s", servers.Connected)
	h.text("s", "echo", `{"text":"hello"}`)
	got := h.kept("s")
	for _, want := range []string{"POST " + web.URL + "/mcp?key=[redacted] answered 200 OK after ", "POST " + web.URL + "/mcp?key=[redacted] answered 400 Bad Request"} {
		level := diagnostics.Debug
		if strings.Contains(want, "400") {
			level = diagnostics.Warning
		}
		if !holds(got, diagnostics.HTTP, level, want) {
			t.Errorf("no %q in %+v", want, got)
		}
	}
	for _, want := range []string{"→ tools/call", "← answer to tools/call"} {
		if !holds(got, diagnostics.Protocol, diagnostics.Debug, want) {
			t.Errorf("no %q in %+v", want, got)
		}
	}
	if !holds(got, diagnostics.HTTP, diagnostics.Trace, `"arguments":{"text":"hello"}`) || !holds(got, diagnostics.Protocol, diagnostics.Trace, `hello`) {
		t.Errorf("the call and its result are not in %+v", got)
	}
	for session := range server.Sessions() {
		for _, e := range got {
			if strings.Contains(e.Message, "s3cret") || strings.Contains(e.Message, session.ID()) || strings.Contains(strings.ToLower(e.Message), "x-mine") {
				t.Errorf("a record is %+v", e)
			}
		}
	}
}

func TestDiagnosticsAreOffUntilAskedFor(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	id := h.awaitState("fake", servers.Connected).Live.ConnectionID
	if got := h.kept("fake"); len(got) != 0 {
		t.Errorf("off, it keeps %+v", got)
	}
	h.SetDiagnostics(diagnostics.Debug)
	h.text("fake", "echo", `{}`)
	if got := h.kept("fake"); len(got) == 0 || got[0].ConnectionID != id {
		t.Errorf("on, it keeps %+v of connection %s", got, id)
	}
	var refused *diagnostics.QueryError
	if _, err := h.Diagnostics(t.Context(), diagnostics.Query{Server: "nobody", Wait: time.Minute}); !errors.As(err, &refused) || refused.Param != "server" {
		t.Errorf("of a server that is not there: %v", err)
	}
}
