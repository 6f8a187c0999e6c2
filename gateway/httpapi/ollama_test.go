package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/httpapi"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
)

func ollamaHandler(t *testing.T, cfg *config.Config, run runner, s func() httpapi.Settings) http.Handler {
	t.Helper()
	router, err := models.NewRouter(cfg, models.Options{Resolve: func(_ context.Context, ref string) (string, error) { return ref, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return httpapi.NewOllama(httpapi.Options{
		Runner: run, Models: func() *models.Router { return router }, Settings: s, Version: "1.2.3", Started: time.Unix(1_790_000_000, 0),
	})
}

func newOllamaDoor(t *testing.T, run runner) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(ollamaHandler(t, config.Default(), run, func() httpapi.Settings {
		s := settings()
		s.Key, s.Open = nil, true
		return s
	}))
	t.Cleanup(server.Close)
	return server
}

// events is a run whose stream consists of these chunks; its plain answer is the
// first.
func events(chunks ...string) runner {
	return func(_ context.Context, req loop.Request) (*loop.Result, error) {
		if req.Stream == nil {
			return &loop.Result{Reply: []byte(chunks[0])}, nil
		}
		req.Stream.Begin(http.Header{})
		for _, chunk := range chunks {
			if err := req.Stream.Data([]byte(chunk)); err != nil {
				return nil, err
			}
		}
		return &loop.Result{}, req.Stream.Flush()
	}
}

func TestOllamaRoutes(t *testing.T) {
	server := newOllamaDoor(t, ok)
	for name, test := range map[string]struct {
		method, path, body string
		status             int
		says               string // a path of gjson's
		want               string
	}{
		"root":            {"GET", "/", "", 200, "", "Ollama is running"},
		"version":         {"GET", "/api/version", "", 200, "version", "0.17.6"},
		"health":          {"GET", "/health", "", 200, "service", "pointsman"},
		"tags":            {"GET", "/api/tags", "", 200, `models.#(model=="gpt-6-sol").details.family`, "openai"},
		"tools":           {"GET", "/api/tags", "", 200, `models.#(model=="gpt-6-sol").capabilities`, `["completion","tools","thinking"]`},
		"running":         {"GET", "/api/ps", "", 200, "models", "[]"},
		"show":            {"POST", "/api/show", `{"model":"gpt-6-sol","verbose":false}`, 200, `model_info.pointsman\.context_length`, "1050000"},
		"show, old":       {"POST", "/api/show", `{"name":"sol:latest"}`, 200, `model_info.general\.basename`, "gpt-6-sol"},
		"show, nobody":    {"POST", "/api/show", `{"model":"llama9"}`, 404, "error", "gpt-6-sol"},
		"chat, nobody":    {"POST", "/api/chat", `{"model":"llama9","messages":[{"role":"user","content":"x"}]}`, 404, "error", "llama9"},
		"chat, bad":       {"POST", "/api/chat", `{"model":7}`, 400, "error", "must be a string"},
		"load":            {"POST", "/api/chat", `{"model":"sol"}`, 200, "done_reason", "load"},
		"unload":          {"POST", "/api/chat", `{"model":"sol","messages":[],"keep_alive":0}`, 200, "done_reason", "unload"},
		"not served":      {"POST", "/api/generate", `{}`, 404, "error", "there is nothing at /api/generate"},
		"wrong method":    {"GET", "/api/chat", "", 405, "error", "takes POST"},
		"OpenAI's models": {"GET", "/v1/models", "", 200, `data.#(id=="gpt-6-sol").object`, "model"},
		"OpenAI's chat":   {"POST", "/v1/chat/completions", hello, 200, "choices", "[]"},
		"OpenAI's error":  {"POST", "/v1/chat/completions", `{"model":7}`, 400, "error.message", "must be a string"},
		"the rest not":    {"GET", "/v1/status", "", 404, "error.message", "nothing at"},
		"the MCP door":    {"POST", "/mcp", "{}", 404, "error.message", "nothing at"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, body := send(t, server, test.method, test.path, test.body, func(r *http.Request) { r.Header.Del("Authorization") })
			got := body
			if test.says != "" {
				got = gjson.Get(body, test.says).String()
			}
			if status != test.status || !strings.Contains(got, test.want) {
				t.Errorf("got %d %s, want %d with %q at %q", status, body, test.status, test.want, test.says)
			}
		})
	}
}

// TestOllamaGuard: no key is asked for, and web pages stay outside.
func TestOllamaGuard(t *testing.T) {
	server := newOllamaDoor(t, ok)
	for name, edit := range map[string]func(*http.Request){
		"rebound host":   func(r *http.Request) { r.Host = "evil.example:11434" },
		"foreign origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"another port":   func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") },
		"a page's image": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		for _, path := range []string{"/", "/api/version", "/api/tags", "/v1/models"} {
			if status, _, body := send(t, server, "GET", path, "", edit); status != 403 {
				t.Errorf("%s: %s answers %d %s", name, path, status, body)
			}
		}
		if status, _, body := send(t, server, "POST", "/api/chat", hello, edit); status != 403 || gjson.Get(body, "error").Type != gjson.String {
			t.Errorf("%s: a chat is answered %d %s", name, status, body)
		}
	}
}

func TestOllamaStream(t *testing.T) {
	server := newOllamaDoor(t, events(
		`{"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"hm"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"Hel"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"lo\n"}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"length"}],"x_gateway":{"rounds":1}}`,
		`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}`))
	status, header, body := send(t, server, "POST", "/api/chat", `{"model":"sol:latest","messages":[{"role":"user","content":"hi"}]}`, nil)
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if status != 200 || header.Get("Content-Type") != "application/x-ndjson" || len(lines) != 4 {
		t.Fatalf("got %d %s %q", status, header.Get("Content-Type"), body)
	}
	for i, want := range []string{`{"role":"assistant","content":"","thinking":"hm"}`, `{"role":"assistant","content":"Hel"}`, `{"role":"assistant","content":"lo\n"}`, `{"role":"assistant","content":""}`} {
		if got := gjson.Get(lines[i], "message").Raw; got != want || gjson.Get(lines[i], "done").Bool() != (i == 3) || gjson.Get(lines[i], "model").String() != "sol:latest" {
			t.Errorf("line %d is %s, want the message %s", i, lines[i], want)
		}
	}
	last := gjson.Parse(lines[3])
	if last.Get("done_reason").String() != "length" || last.Get("prompt_eval_count").Int() != 7 || last.Get("eval_count").Int() != 2 ||
		last.Get("total_duration").Int() <= 0 || last.Get("load_duration").Int() != 0 || last.Get("x_gateway.rounds").Int() != 1 {
		t.Errorf("the last line is %s", last)
	}
	if _, err := time.Parse(time.RFC3339Nano, last.Get("created_at").String()); err != nil {
		t.Error(err)
	}
}

func TestOllamaPlain(t *testing.T) {
	server := newOllamaDoor(t, events(`{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello","tool_calls":[
		{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\": \"Rome\"}"}}]},"finish_reason":"tool_calls"}],
		"usage":{"prompt_tokens":7,"completion_tokens":2}}`))
	status, _, body := send(t, server, "POST", "/api/chat", `{"model":"sol","stream":false,"messages":[{"role":"user","content":"hi"}]}`, nil)
	answer := gjson.Parse(body)
	if status != 200 || answer.Get("message.content").String() != "Hello" || !answer.Get("done").Bool() || answer.Get("done_reason").String() != "stop" ||
		answer.Get("message.tool_calls.0.function.arguments.city").String() != "Rome" || answer.Get("message.tool_calls.0.id").String() != "c1" || answer.Get("eval_count").Int() != 2 {
		t.Errorf("got %d %s", status, body)
	}
}

// TestOllamaBrokenStream: an error before the first line has a status, one behind
// it is a line, and nothing says that all went well.
func TestOllamaBrokenStream(t *testing.T) {
	broken := &models.Error{Code: models.RateLimited, Status: 429, Message: "slow down", RetryAfter: 1500 * time.Millisecond}
	for begun, want := range map[bool]string{false: `{"error":"slow down"}`, true: `{"error":"slow down"}` + "\n"} {
		server := newOllamaDoor(t, func(ctx context.Context, req loop.Request) (*loop.Result, error) {
			if begun {
				_, _ = events(`{"choices":[{"index":0,"delta":{"content":"x"}}]}`)(ctx, req)
			}
			return nil, broken
		})
		status, header, body := send(t, server, "POST", "/api/chat", `{"model":"sol","messages":[{"role":"user","content":"hi"}]}`, nil)
		if !strings.HasSuffix(body, want) || strings.Contains(body, `"done":true`) || begun != (status == 200) || !begun && header.Get("Retry-After") != "2" {
			t.Errorf("begun %v: %d %v %s", begun, status, header, body)
		}
	}
}

// TestOllamaWaits: while a person decides, lines without words go out, and the
// client's own time limits start anew.
func TestOllamaWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := ollamaHandler(t, config.Default(), func(ctx context.Context, req loop.Request) (*loop.Result, error) {
			time.Sleep(25 * time.Second)
			return events(`{"choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}`)(ctx, req)
		}, func() httpapi.Settings { return httpapi.Settings{Open: true, MaxBodyBytes: 1 << 20} })
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/api/chat", strings.NewReader(`{"model":"sol","messages":[{"role":"user","content":"hi"}]}`))
		r.Host = "127.0.0.1:11434"
		handler.ServeHTTP(w, r)
		lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
		var said []string
		for _, line := range lines {
			said = append(said, gjson.Get(line, "message.content").String())
		}
		if got := fmt.Sprintf("%q", said); got != `["" "" "yes" ""]` {
			t.Errorf("the lines say %s", got)
		}
		if total := gjson.Get(lines[len(lines)-1], "total_duration").Int(); total != int64(25*time.Second) {
			t.Errorf("it took %d ns", total)
		}
	})
}

// TestOllamaDescribesGroups: a name of model_list is what all of its deployments
// take.
func TestOllamaDescribesGroups(t *testing.T) {
	cfg := config.Default()
	cfg.ModelList = []config.Deployment{
		{ModelName: "eyes", LiteLLMParams: config.LiteLLMParams{Model: "openai/gpt-6-sol"}, ModelInfo: map[string]any{"supports_vision": true}},
		{ModelName: "eyes", LiteLLMParams: config.LiteLLMParams{Model: "groq/x"}, ModelInfo: map[string]any{"supports_vision": true, "max_input_tokens": 4096}},
		{ModelName: "plain", LiteLLMParams: config.LiteLLMParams{Model: "openai/gpt-6-sol"}},
		{ModelName: "plain", LiteLLMParams: config.LiteLLMParams{Model: "groq/x"}, ModelInfo: map[string]any{"supports_vision": true}},
	}
	server := httptest.NewServer(ollamaHandler(t, cfg, ok, func() httpapi.Settings { return httpapi.Settings{Open: true, MaxBodyBytes: 1 << 20} }))
	t.Cleanup(server.Close)
	for name, want := range map[string]string{"eyes": `4096 ["completion","tools","vision"]`, "plain": ` ["completion","tools"]`} {
		_, _, body := send(t, server, "POST", "/api/show", fmt.Sprintf(`{"model":%q}`, name), nil)
		if got := gjson.Get(body, `model_info.pointsman\.context_length`).Raw + " " + gjson.Get(body, "capabilities").Raw; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
