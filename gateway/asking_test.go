package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"pointsman/gateway"
	"pointsman/gateway/ask"
	"pointsman/gateway/journal"
)

const talking = "capabilities: {talking: \"Saying something.\"}\nmodel_list: [{model_name: talking, litellm_params: {model: demo}}]\n"

func withoutMCP(o *gateway.Options) { o.NoMCP = true }

// TestAskIsRecorded has each question be a run of the record.
func TestAskIsRecorded(t *testing.T) {
	d := newDesk(t, talking, withoutMCP)
	if e := d.Ask(t.Context(), ask.Request{Capability: "talking", Prompt: "hello"}); !e.OK {
		t.Fatalf("%+v", e.Error)
	}
	if e := d.Ask(t.Context(), ask.Request{Capability: "cooking", Prompt: "hello"}); e.OK {
		t.Fatal("an unknown capability was answered")
	}
	if err := d.Close(); err != nil { // all is on disk then
		t.Fatal(err)
	}
	reader, err := journal.OpenReader(filepath.Join(filepath.Dir(d.configPath), "state", "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	var got []string
	for run, err := range reader.Runs(t.Context(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %d", run.Door, run.Model, run.Outcome, run.Rounds))
	}
	if diff := cmp.Diff([]string{"go cooking invalid_request 0", "go talking ok 1"}, got); diff != "" {
		t.Error(diff)
	}
	if e := d.Ask(t.Context(), ask.Request{Capability: "talking", Prompt: "hello"}); e.Error == nil || e.Error.Code != "no_deployment" {
		t.Errorf("after the end: %+v", e)
	}
}

// TestAskRoutes looks at the routes' own shapes and refusals.
func TestAskRoutes(t *testing.T) {
	d := newDesk(t, "gateway: {api_key: the-key-0123456789, max_body_bytes: 1000}\n"+talking, withoutMCP)
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		want               map[string]string
	}{
		"capabilities": {"GET", "/v1/capabilities", "", 200, map[string]string{"capabilities.0.name": `"talking"`, "capabilities.0.description": `"Saying something."`, "capabilities.0.deployments.0.state": `"healthy"`, "capabilities.0.fallbacks": "[]"}},
		"an answer":    {"POST", "/v1/ask", `{"capability":"talking","prompt":"hello"}`, 200, map[string]string{"ok": "true", "error": "null", "capability_requested": `"talking"`}},
		"refused":      {"POST", "/v1/ask", `{"capability":"talking","prompt":"hello","model":"x"}`, 400, map[string]string{"ok": "false", "error.code": `"invalid_request"`, "route": "[]"}},
		"no JSON":      {"POST", "/v1/ask", `hello`, 400, map[string]string{"ok": "false", "error.code": `"invalid_request"`}},
		"too much":     {"POST", "/v1/ask", `{"prompt":"` + strings.Repeat("x", 1000) + `"}`, 413, map[string]string{"error.code": `"invalid_request"`}},
		"another way":  {"GET", "/v1/ask", "", 405, map[string]string{"error.code": `"invalid_request"`}},
	} {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequestWithContext(t.Context(), c.method, "http://127.0.0.1"+c.path, strings.NewReader(c.body))
			req.Header.Set("Authorization", "Bearer the-key-0123456789")
			w := httptest.NewRecorder()
			d.Handler().ServeHTTP(w, req)
			if w.Code != c.status {
				t.Errorf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			for path, want := range c.want {
				if got := gjson.Get(w.Body.String(), path).Raw; got != want {
					t.Errorf("%s is %s, want %s", path, got, want)
				}
			}
			without := httptest.NewRequestWithContext(t.Context(), c.method, "http://127.0.0.1"+c.path, http.NoBody)
			w = httptest.NewRecorder()
			if d.Handler().ServeHTTP(w, without); w.Code != http.StatusUnauthorized {
				t.Errorf("without the key: status %d", w.Code)
			}
		})
	}
}
