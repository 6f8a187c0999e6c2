package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/config"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// provider is a scripted model provider that speaks the real wire. Each request
// gets the next reply; a reply for streams is a list of events' data.
type provider struct {
	*httptest.Server
	burst bool // streams are sent in one piece

	mu       sync.Mutex
	replies  []string // JSON for plain ones, or events separated by newlines
	requests []string
}

func newProvider(t *testing.T, replies ...string) *provider {
	p := &provider{replies: replies}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.requests = append(p.requests, string(body))
	reply := `{"error":{"message":"the script is over"}}`
	if len(p.replies) > 0 {
		reply = p.replies[0]
		p.replies = p.replies[1:]
	}
	p.mu.Unlock()
	if !gjson.GetBytes(body, "stream").Bool() {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, reply)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range strings.Split(strings.TrimSpace(reply), "\n") {
		fmt.Fprintf(w, "data: %s\n\n", strings.TrimSpace(event))
		if !p.burst {
			w.(http.Flusher).Flush()
		}
	}
}

// request returns the n-th request, counted from 0.
func (p *provider) request(t *testing.T, n int) gjson.Result {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n >= len(p.requests) {
		t.Fatalf("the provider got %d requests, want more than %d", len(p.requests), n)
	}
	return gjson.Parse(p.requests[n])
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requests)
}

// text, call and plainReply write a provider's plain replies.
func plainReply(message, finish string) string {
	return fmt.Sprintf(`{"id":"c1","object":"chat.completion","created":1,"model":"m-2026","system_fingerprint":"fp","choices":[{"index":0,"message":%s,"logprobs":null,"finish_reason":%q}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":3}}}`, message, finish)
}

func say(text string) string {
	return plainReply(fmt.Sprintf(`{"role":"assistant","content":%q,"refusal":null,"vendor":{"x":1}}`, text), "stop")
}

func toolCall(id, name, arguments string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, name, arguments)
}

func ask(calls ...string) string {
	return plainReply(`{"role":"assistant","content":null,"tool_calls":[`+strings.Join(calls, ",")+`]}`, "tool_calls")
}

// rig is a loop with tools of a fake server and a scripted approver.
type rig struct {
	catalogue *tools.Catalogue
	loop      *loop.Loop
	router    *models.Router
	journal   *journal.Journal
	events    *loop.Bus
	settings  loop.Settings
	onStart   func(*sink) // is given each run's sink

	mu       sync.Mutex
	ran      []string // calls that reached the server
	decide   func(approvals.Request) approvals.Decision
	onServer func(ctx context.Context, call servers.Call) (*servers.Result, error)
}

func (r *rig) Call(ctx context.Context, call servers.Call) (*servers.Result, error) {
	r.mu.Lock()
	r.ran = append(r.ran, call.Tool+string(call.Arguments))
	r.mu.Unlock()
	if r.onServer != nil {
		return r.onServer(ctx, call)
	}
	return textResult("result of " + call.Tool), nil
}

func textResult(text string) *servers.Result {
	raw, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	return &servers.Result{Raw: raw}
}

func (r *rig) Ask(_ context.Context, req approvals.Request) (approvals.Decision, error) {
	if r.decide == nil {
		return approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByDesk, Reason: "not today"}, nil
	}
	return r.decide(req), nil
}

func approve(approvals.Request) approvals.Decision {
	return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk}
}

var fakeTools = []string{
	`{"name":"read_file","description":"Read a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"annotations":{"readOnlyHint":true}}`,
	`{"name":"write_file","description":"Write a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path"]}}`,
	`{"name":"list_files","description":"List files.","inputSchema":{"type":"object"}}`,
}

func newRig(t *testing.T, p *provider) *rig {
	t.Helper()
	r := &rig{events: loop.NewBus(), settings: loop.Settings{MaxRounds: 8, Parallel: 8, PlanMode: true, LoopSoft: 3, LoopHard: 5}}
	var defs []tools.Definition
	for _, raw := range fakeTools {
		def, err := tools.Parse("fs", []byte(raw), true)
		if err != nil {
			t.Fatal(err)
		}
		defs = append(defs, def)
	}
	classifier, err := tools.NewClassifier(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.catalogue = tools.NewCatalogue(defs, tools.Settings{Classifier: classifier, MaxOffered: 100})
	pins, err := tools.OpenPins(filepath.Join(t.TempDir(), "pins.json"))
	if err != nil {
		t.Fatal(err)
	}
	r.journal, err = journal.Open(filepath.Join(t.TempDir(), "journal.db"), journal.Options{Redact: func(s string) string { return s }, RedactJSON: func(raw json.RawMessage) json.RawMessage { return raw }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.journal.Close() })
	gate := approvals.NewGate(approvals.GateOptions{Require: true, Approver: r})
	caller := calls.New(calls.Options{
		Catalogue: func() *tools.Catalogue { return r.catalogue }, Pins: pins, Servers: r, Gate: gate, Rules: gate.Rules(),
		Recorder: r.journal, OwnFile: func(text string) bool { return strings.Contains(text, "own.yaml") },
	})
	r.loop = loop.New(loop.Options{
		Caller: caller, Catalogue: func() *tools.Catalogue { return r.catalogue },
		Settings: func() loop.Settings { return r.settings }, Recorder: r.journal, Events: r.events,
	})
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{"fake": {BaseURL: p.URL}}
	cfg.DefaultModel = "fake/m"
	cfg.RouterSettings.NumRetries = 0
	r.router, err = models.NewRouter(cfg, models.Options{Resolve: func(_ context.Context, ref string) (string, error) { return ref, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run sends a request body through the loop, plain or streamed.
func (r *rig) run(t *testing.T, body string) (*loop.Result, *sink, error) {
	t.Helper()
	parsed, err := models.ParseBody([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	route, err := r.router.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	req := loop.Request{Models: r.router, Route: route, Body: parsed, Door: "test"}
	s := &sink{}
	if r.onStart != nil {
		r.onStart(s)
	}
	if parsed.Get("stream").Bool() {
		req.Stream = s
	}
	result, err := r.loop.Run(t.Context(), req)
	return result, s, err
}

func (r *rig) mustRun(t *testing.T, body string) (*loop.Result, *sink) {
	t.Helper()
	result, s, err := r.run(t, body)
	if err != nil {
		t.Fatal(err)
	}
	return result, s
}

// sink keeps a streamed answer.
type sink struct {
	events []string
	begun  int
	unsent int // events since the last Flush
}

func (s *sink) Begin(http.Header) { s.begun++ }
func (s *sink) Data(payload []byte) error {
	s.events = append(s.events, string(payload))
	s.unsent++
	return nil
}
func (s *sink) Flush() error {
	s.unsent = 0
	return nil
}

// text joins the content deltas.
func (s *sink) text() string {
	var b strings.Builder
	for _, e := range s.events {
		b.WriteString(gjson.Get(e, "choices.0.delta.content").String())
	}
	return b.String()
}

// finish returns the events that carry a finish_reason.
func (s *sink) finish() []gjson.Result {
	var list []gjson.Result
	for _, e := range s.events {
		if gjson.Get(e, "choices.0.finish_reason").String() != "" {
			list = append(list, gjson.Parse(e))
		}
	}
	return list
}
