package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// scripted is a provider that answers each of its models line by line: a text, a
// finish_reason after "/", a status after "!". What is left of it is "ok".
func scripted(t *testing.T, script map[string]string) string {
	t.Helper()
	lines := map[string][]string{}
	for model, text := range script {
		lines[model] = strings.Split(text, ", ")
	}
	var mu sync.Mutex // guards lines
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		model := gjson.GetBytes(body, "model").String()
		mu.Lock()
		line := "ok"
		if rest := lines[model]; len(rest) > 0 {
			line, lines[model] = rest[0], rest[1:]
		}
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		finish := "stop"
		switch line[0] {
		case '!':
			w.Header().Set("Retry-After", "40")
			var status int
			_, _ = fmt.Sscanf(line, "!%d", &status)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"message":"as the script says"}}`)
			return
		case '/':
			finish, line = line[1:], "cut"
		}
		_, _ = fmt.Fprintf(w, `{"model":%q,"choices":[{"index":0,"finish_reason":%q,"message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, model, finish, line)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func askConfig(address string) string {
	return fmt.Sprintf(`capabilities: {coding: "Writing code.", fast: "Short answers."}
model_list:
- {model_name: coding, litellm_params: {model: openai/big, api_base: "%[1]s/v1", api_key: k}}
- {model_name: fast, litellm_params: {model: openai/small, api_base: "%[1]s/v1", api_key: k}}
router_settings: {num_retries: 0, allowed_fails: 0, fallbacks: [{coding: [fast]}]}
limits: {max_prompt_chars: 50}
`, address)
}

// door puts questions, one after the other, and returns their envelopes.
type door func(t *testing.T, r *rig, questions []map[string]any) []string

func overHTTP(t *testing.T, r *rig, questions []map[string]any) (envelopes []string) {
	s := r.serve("--ask", "none")
	for _, q := range questions {
		body, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+"/v1/ask", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+gatewayKey)
		reply, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		if code := gjson.GetBytes(data, "error.code").String(); code == "no_deployment" && (reply.StatusCode != 503 || reply.Header.Get("Retry-After") == "") {
			t.Errorf("no_deployment comes with status %d, Retry-After %q", reply.StatusCode, reply.Header.Get("Retry-After"))
		}
		_ = reply.Body.Close() // it is read
		envelopes = append(envelopes, string(data))
	}
	return envelopes
}

// withKey shows the gateway's key.
type withKey struct{ http.RoundTripper }

func (k withKey) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+gatewayKey)
	return k.RoundTripper.RoundTrip(req)
}

func overMCP(t *testing.T, r *rig, questions []map[string]any) (envelopes []string) {
	s := r.serve("--ask", "none")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: "http://" + s.address + "/mcp", HTTPClient: &http.Client{Transport: withKey{transport}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	for _, q := range questions {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: q})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(result.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := result.Content[0].(*mcp.TextContent); !ok || gjson.Get(text.Text, "capability_requested").Raw != gjson.GetBytes(data, "capability_requested").Raw {
			t.Errorf("the text is %v, the structure %s", result.Content[0], data)
		}
		envelopes = append(envelopes, string(data))
	}
	return envelopes
}

func overCLI(t *testing.T, r *rig, questions []map[string]any) (envelopes []string) {
	r.serve("--ask", "none")
	for _, q := range questions {
		args := []string{"ask", q["capability"].(string), q["prompt"].(string), "--json"}
		for name, flag := range map[string]string{"context": "--context", "response_schema": "--schema"} {
			text, ok := q[name]
			if !ok {
				continue
			}
			file := filepath.Join(r.home, name)
			if schema, isObject := text.(map[string]any); isObject {
				data, err := json.Marshal(schema)
				if err != nil {
					t.Fatal(err)
				}
				text = string(data)
			}
			if err := os.WriteFile(file, []byte(text.(string)), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, flag, file)
		}
		e := r.run("", args...)
		if ok := gjson.Get(e.out, "ok").Bool(); ok != (e.code == 0) || ok != (e.errors == "") {
			t.Errorf("%v ended with %d, saying %q", args, e.code, e.errors)
		}
		envelopes = append(envelopes, e.out)
	}
	return envelopes
}

// gist is what of an envelope is the same at every door.
func gist(envelope string) string {
	var parts []string
	for _, key := range []string{"ok", "content", "data", "insufficient_context", "capability_requested", "model_used", "fallback_used", "finish_reason", "error.code", "usage.total_tokens"} {
		parts = append(parts, gjson.Get(envelope, key).Raw)
	}
	return strings.Join(parts, " ")
}

// TestAskAtEveryDoor puts the same questions over HTTP, MCP and the command line.
func TestAskAtEveryDoor(t *testing.T) {
	plain := map[string]any{"capability": "coding", "prompt": "hello"}
	for name, c := range map[string]struct {
		script    map[string]string
		questions []map[string]any
		want      []string
	}{
		"after a rate limit": {map[string]string{"big": "!429"}, []map[string]any{plain, plain}, []string{
			`true "ok" null false "coding" "small" true "stop"  5`, `true "ok" null false "coding" "small" true "stop"  5`,
		}},
		"cooled down": {map[string]string{"small": "!500"}, []map[string]any{{"capability": "fast", "prompt": "hello"}, {"capability": "fast", "prompt": "hello"}}, []string{
			`false null null false "fast" null null null "upstream_error" 0`, `false null null false "fast" null null null "no_deployment" 0`,
		}},
		"cut, filtered": {map[string]string{"big": "/length, /content_filter"}, []map[string]any{plain, plain}, []string{
			`false null null false "coding" "big" false "length" "output_truncated" 5`, `false null null false "coding" "big" false "content_filter" "content_filtered" 5`,
		}},
		"wrong key": {map[string]string{"small": "!401"}, []map[string]any{{"capability": "fast", "prompt": "hello"}}, []string{
			`false null null false "fast" null null null "auth_failed" 0`,
		}},
		"not in the context": {map[string]string{"big": "INSUFFICIENT_CONTEXT"}, []map[string]any{{"capability": "coding", "prompt": "How tall?", "context": "It is blue."}}, []string{
			`true null null true "coding" "big" false "stop"  5`,
		}},
		"structured, too long": {map[string]string{"big": `{"n": 5}`}, []map[string]any{
			{"capability": "coding", "prompt": "2 + 3?", "response_schema": map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}},
			{"capability": "coding", "prompt": strings.Repeat("x", 51)},
		}, []string{
			`true null {"n":5} false "coding" "big" false "stop"  5`, `false null null false "coding" null null null "invalid_request" 0`,
		}},
	} {
		for way, through := range map[string]door{"HTTP": overHTTP, "MCP": overMCP, "command line": overCLI} {
			t.Run(name+"/"+way, func(t *testing.T) {
				var got []string
				for _, envelope := range through(t, newRig(t, askConfig(scripted(t, c.script))), c.questions) {
					var compact bytes.Buffer // the command line breaks lines
					if err := json.Compact(&compact, []byte(envelope)); err != nil {
						t.Fatal(err)
					}
					got = append(got, gist(compact.String()))
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestAskPrints(t *testing.T) {
	r := newRig(t, askConfig(scripted(t, map[string]string{"big": "hello there, INSUFFICIENT_CONTEXT"})))
	if e := r.must("ask", "coding", "hi"); e.out != "hello there\n" || e.errors != "" {
		t.Errorf("an answer is %q, %q", e.out, e.errors)
	}
	notes := filepath.Join(r.home, "notes")
	if err := os.WriteFile(notes, []byte("blue"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := r.must("ask", "coding", "--context", notes, "how tall?"); e.out != "" || !strings.Contains(e.errors, "does not hold the answer") {
		t.Errorf("an abstention is %q, %q", e.out, e.errors)
	}
	if e := r.run("from the input", "ask", "coding", "-"); e.code != 0 || e.out != "ok\n" {
		t.Errorf("a prompt from the input: %+v", e)
	}
	for _, args := range [][]string{{"ask"}, {"ask", "a", "b", "c"}, {"ask", "coding", "x", "--temperature", "hot"}} {
		if e := r.run("", args...); e.code != 2 || e.errors == "" {
			t.Errorf("%v ended with %d: %s", args, e.code, e.errors)
		}
	}
	if e := r.run("", "ask", "coding", "x", "--context", filepath.Join(r.home, "none")); e.code != 1 || !strings.Contains(e.errors, "reading the context") {
		t.Errorf("without the file: %+v", e)
	}
	if e := r.run("", "ask", "cooking", "x"); e.code != 1 || !strings.Contains(e.errors, "known are coding, fast") {
		t.Errorf("an unknown capability: %+v", e)
	}
}

// TestHealthIsShown looks at a deployment that is left alone, at the resident.
func TestHealthIsShown(t *testing.T) {
	r := newRig(t, askConfig(scripted(t, map[string]string{"small": "!500"})))
	r.serve("--ask", "none")
	if e := r.must("status"); strings.Contains(e.out, "resting") {
		t.Errorf("before anything has failed the status is %s", e.out)
	}
	r.run("", "ask", "fast", "hello")
	e := r.must("models", "health")
	if !strings.Contains(e.out, "cooling until ") || !strings.Contains(e.out, "as the script says") {
		t.Errorf("the health is %s", e.out)
	}
	if e := r.must("status"); !strings.Contains(e.out, "1 of 3 deployments; `pointsman models health`") {
		t.Errorf("the status is %s", e.out)
	}
}

func TestSmoke(t *testing.T) {
	r := newRig(t, askConfig(scripted(t, map[string]string{"big": `ready, {"sum": 5}, INSUFFICIENT_CONTEXT, /length`})))
	if e := r.must("ask", "--smoke", "coding"); strings.Count(e.out, "as it should") != 4 {
		t.Errorf("it says %s", e.out)
	}
	e := r.run("", "ask", "--smoke", "fast", "--json")
	if e.code != 1 || !strings.Contains(e.errors, "3 of 4 calls did not do what they should") || gjson.Get(e.out, "#(passed==false)#.probe").Raw == "" {
		t.Errorf("an endpoint that always says ok: %+v", e)
	}
	if got := gjson.Get(e.out, "#.probe").String(); got != `["plain","structured","abstention","truncation"]` {
		t.Errorf("the calls are %s", got)
	}
}
