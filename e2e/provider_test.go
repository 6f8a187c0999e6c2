package e2e

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// provider is a scripted model behind OpenAI's wire. What it answers stands in
// the last user message, as lines; rounds are parted by a line "@then":
//
//	@say TEXT           the answer's text; one token a word
//	@tool NAME JSON     a tool call; several make one turn of several calls
//	@pace DURATION      the pause before each token
//	@fail STATUS SECS   an error status, with Retry-After unless SECS is 0
//	@html               an error page
//	@cut                a stream that breaks after its first token
//	@hold               a first token, then nothing until the caller goes
//	@bare               a stream without [DONE]
//	@finish REASON      another finish_reason
//	@id TEXT            what the calls' ids begin with
//
// When the script is at its end, the answer tells the results of the tools.
type provider struct {
	*httptest.Server
	native bool // it has the Responses API, too

	mu       sync.Mutex // guards the field below
	requests []*recorded
}

// recorded is a request the provider got.
type recorded struct {
	header http.Header
	body   gjson.Result
	own    gjson.Result  // of the Responses API: the request as it came
	gone   chan struct{} // closed when the caller went before the answer's end
	sent   []time.Time   // when each token was sent
	mu     sync.Mutex    // guards sent
}

func newProvider(t testing.TB) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

// about returns the requests whose messages hold text, in the order they came.
func (p *provider) about(text string) []*recorded {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*recorded
	for _, r := range p.requests {
		if strings.Contains(r.body.Get("messages").Raw, text) {
			list = append(list, r)
		}
	}
	return list
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err == nil && p.native && r.URL.Path == "/v1/responses" && gjson.ValidBytes(data) {
		p.respond(w, r, data)
		return
	}
	if err != nil || r.URL.Path != "/v1/chat/completions" || !gjson.ValidBytes(data) {
		http.Error(w, "this provider takes chat completions alone", http.StatusNotFound)
		return
	}
	rec := &recorded{header: r.Header, body: gjson.ParseBytes(data), gone: make(chan struct{})}
	p.mu.Lock()
	p.requests = append(p.requests, rec)
	p.mu.Unlock()
	if !newReply(w, r, rec).send() {
		close(rec.gone)
	}
}

// round is one round of a script.
type round struct {
	say, finish, id       string
	calls                 [][2]string // name and arguments
	pace                  time.Duration
	status, retryAfter    int
	cut, hold, html, bare bool
}

// readRound finds the script and returns the round that the messages are at.
func readRound(messages []gjson.Result) round {
	last, script := -1, ""
	for i, m := range messages {
		if text := textOf(m); m.Get("role").String() == "user" && (last < 0 || strings.Contains(text, "\n@") || strings.HasPrefix(text, "@")) {
			last, script = i, text
		}
	}
	turns := 0
	for _, m := range messages[last+1:] {
		if m.Get("role").String() == "assistant" {
			turns++
		}
	}
	rounds := strings.Split(script, "\n@then")
	if turns >= len(rounds) {
		return round{say: "Tools said: " + results(messages[last+1:])}
	}
	return parseRound(rounds[turns])
}

func parseRound(script string) round {
	r := round{}
	for line := range strings.Lines(script) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "@say":
			r.say = rest
		case "@finish":
			r.finish = rest
		case "@id":
			r.id = rest
		case "@tool":
			name, arguments, _ := strings.Cut(rest, " ")
			r.calls = append(r.calls, [2]string{name, arguments})
		case "@pace":
			r.pace, _ = time.ParseDuration(rest)
		case "@fail":
			_, _ = fmt.Sscan(rest, &r.status, &r.retryAfter)
		case "@html":
			r.html = true
		case "@cut":
			r.cut = true
		case "@hold":
			r.hold = true
		case "@bare":
			r.bare = true
		}
	}
	if r.say == "" && len(r.calls) == 0 {
		r.say = "Hello from the provider."
	}
	return r
}

// textOf returns a message's text, also of one made of parts.
func textOf(message gjson.Result) string {
	content := message.Get("content")
	if !content.IsArray() {
		return content.String()
	}
	var parts []string
	for _, part := range content.Array() {
		parts = append(parts, part.Get("text").String())
	}
	return strings.Join(parts, "\n")
}

func results(messages []gjson.Result) string {
	var said []string
	for _, m := range messages {
		if m.Get("role").String() == "tool" {
			said = append(said, textOf(m))
		}
	}
	return strings.Join(said, " | ")
}

// usage is what each answer cost.
const usage = `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}`

// reply is one answer on its way.
type reply struct {
	round
	w      http.ResponseWriter
	req    *http.Request
	rec    *recorded
	answer string // its id
}

func newReply(w http.ResponseWriter, req *http.Request, rec *recorded) *reply {
	return &reply{
		round: readRound(rec.body.Get("messages").Array()), w: w, req: req, rec: rec, answer: "chatcmpl-" + rand.Text()[:8],
	}
}

// offered returns the offered tool's name that is name or ends in it.
func (r *recorded) offered(name string) string {
	names := r.tools()
	if i := slices.IndexFunc(names, func(n string) bool { return n == name || strings.HasSuffix(n, "-"+name) }); i >= 0 {
		return names[i]
	}
	return name
}

// tools returns the names of the tools that the request offers.
func (r *recorded) tools() []string {
	var names []string
	for _, name := range r.body.Get("tools.#.function.name").Array() {
		names = append(names, name.String())
	}
	return names
}

// send writes the answer and reports whether the caller stayed to its end.
func (r *reply) send() bool {
	switch {
	case r.status != 0:
		r.fail()
	case r.html:
		r.w.Header().Set("Content-Type", "text/html")
		r.w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(r.w, "<html><body>Bad gateway</body></html>")
	case r.rec.body.Get("stream").Bool():
		return r.stream()
	default:
		return r.plain()
	}
	return true
}

func (r *reply) fail() {
	if r.retryAfter > 0 {
		r.w.Header().Set("Retry-After", strconv.Itoa(r.retryAfter))
	}
	r.w.Header().Set("Content-Type", "application/json")
	r.w.WriteHeader(r.status)
	_, _ = fmt.Fprintf(r.w, `{"error":{"message":"scripted failure %d","type":"scripted","param":null,"code":"scripted"}}`, r.status)
}

func (r *reply) finishReason() string {
	switch {
	case r.finish != "":
		return r.finish
	case len(r.calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func (r *reply) call(i int, arguments string) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("%s-%d", cmp.Or(r.id, r.answer), i), "type": "function",
		"function": map[string]any{"name": r.rec.offered(r.calls[i][0]), "arguments": arguments},
	}
}

// plain answers at once. A held answer waits for its caller to go.
func (r *reply) plain() bool {
	if r.hold {
		<-r.req.Context().Done()
		return false
	}
	message := map[string]any{"role": "assistant", "content": r.say, "vendor_thought": "kept"}
	var calls []any
	for i := range r.calls {
		calls = append(calls, r.call(i, r.calls[i][1]))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	r.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(r.w).Encode(map[string]any{
		"id": r.answer, "object": "chat.completion", "created": 1700000000, "model": r.rec.body.Get("model").String(),
		"choices":       []any{map[string]any{"index": 0, "message": message, "finish_reason": r.finishReason()}},
		"usage":         json.RawMessage(usage),
		"vendor_region": "north",
	})
	return true
}

// stream answers token by token.
func (r *reply) stream() bool {
	r.w.Header().Set("Content-Type", "text/event-stream")
	r.delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for i, token := range tokens(r.say) {
		select {
		case <-time.After(r.pace):
		case <-r.req.Context().Done():
			return false
		}
		r.rec.mark()
		r.delta(map[string]any{"content": token}, nil)
		if i == 0 && r.cut {
			panic(http.ErrAbortHandler)
		}
		if i == 0 && r.hold {
			<-r.req.Context().Done()
			return false
		}
	}
	r.streamCalls()
	r.delta(map[string]any{"vendor_thought": "kept"}, r.finishReason())
	if r.rec.body.Get("stream_options.include_usage").Bool() {
		r.event(map[string]any{"choices": []any{}, "usage": json.RawMessage(usage)})
	}
	if !r.bare {
		_, _ = io.WriteString(r.w, "data: [DONE]\n\n")
	}
	return r.req.Context().Err() == nil
}

// tokens parts text after each space.
func tokens(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

func (r *recorded) mark() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, time.Now())
}

func (r *recorded) sentAt() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

// streamCalls sends each call's name first and its arguments in two halves.
func (r *reply) streamCalls() {
	for i, c := range r.calls {
		head := r.call(i, "")
		head["index"] = i
		r.delta(map[string]any{"tool_calls": []any{head}}, nil)
		half := len(c[1]) / 2
		for _, part := range []string{c[1][:half], c[1][half:]} {
			r.delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": part}}}}, nil)
		}
	}
}

func (r *reply) delta(delta map[string]any, finish any) {
	r.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (r *reply) event(chunk map[string]any) {
	chunk["id"], chunk["object"], chunk["created"], chunk["model"] = r.answer, "chat.completion.chunk", 1700000000, r.rec.body.Get("model").String()
	chunk["vendor_region"] = "north"
	data, err := json.Marshal(chunk)
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintf(r.w, "data: %s\n\n", data)
	_ = http.NewResponseController(r.w).Flush()
}
