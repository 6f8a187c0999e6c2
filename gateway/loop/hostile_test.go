package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

const helloStream = `{"model":"fake/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`

// streamWith is helloStream with the caller's tool, and further members.
func streamWith(members string) string {
	return strings.TrimSuffix(helloStream, "}") + fmt.Sprintf(`,"tools":[%s]%s}`, callersTool, members)
}

func okStream() string {
	return `{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`
}

func delta(members string) string {
	return `{"id":"s","choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
}

func finishing(reason string) string {
	return fmt.Sprintf(`{"id":"s","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

// callers joins the calls that a stream gave the caller, as its client would.
func (s *sink) callers() []string {
	var list []string
	for _, e := range s.events {
		for _, c := range gjson.Get(e, "choices.0.delta.tool_calls").Array() {
			i := int(c.Get("index").Int())
			for len(list) <= i {
				list = append(list, "")
			}
			list[i] += c.Get("id").String() + c.Get("type").String() + c.Get("function.name").String() + c.Get("function.arguments").String()
		}
	}
	return list
}

// TestChunksReachTheCaller: nothing that a chunk says is lost because of what
// stands beside it.
func TestChunksReachTheCaller(t *testing.T) {
	for name, chunk := range map[string]string{
		"role beside an empty list of calls": delta(`"role":"assistant","content":"","tool_calls":[]`),
		"role beside null calls":             delta(`"role":"assistant","content":"","tool_calls":null`),
		"odd calls":                          delta(`"tool_calls":[null]`),
		"no delta":                           `{"id":"s","choices":[{"index":0,"finish_reason":null}]}`,
		"null delta":                         `{"id":"s","choices":[{"index":0,"delta":null}]}`,
		"choices of another shape":           `{"id":"s","choices":{"0":{"finish_reason":"stop"}}}`,
		"choices of nothing":                 `{"id":"s","choices":[null,7]}`,
		"no object":                          `[1]`,
		"a key twice":                        `{"id":"s","id":"s","choices":[{"index":0,"delta":{"content":"x"}}]}`,
		"a vendor's own":                     `{"id":"s","choices":[],"vendor":{"x":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, s := newRig(t, newProvider(t, chunk+"\n"+okStream())).mustRun(t, helloStream)
			if len(s.events) != 2 || s.events[0] != chunk {
				t.Errorf("the caller got %q", s.events)
			}
		})
	}
}

// TestFinishWithoutDelta: the chunk that ends an answer need not have a delta.
func TestFinishWithoutDelta(t *testing.T) {
	for _, end := range []string{
		`{"id":"s","choices":[{"index":0,"finish_reason":"tool_calls"}]}`,
		`{"id":"s","choices":[{"index":0,"delta":null,"finish_reason":"tool_calls"}]}`,
		`{"id":"s","id":"s","choices":[{"index":0,"delta":{"tool_calls":null},"finish_reason":"tool_calls"}]}`,
	} {
		call := delta(`"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"theirs","arguments":"{}"}}]`)
		_, s := newRig(t, newProvider(t, call+"\n"+end)).mustRun(t, streamWith(""))
		for _, e := range s.events {
			if !gjson.Valid(e) {
				t.Errorf("the caller got %s", e)
			}
		}
		if finish := s.finish(); len(finish) != 1 || !finish[0].Get("x_gateway").Exists() {
			t.Errorf("finish is %v", finish)
		}
	}
}

// TestCallersCallsAreMended: ids, types and text are what clients insist on.
func TestCallersCallsAreMended(t *testing.T) {
	for name, test := range map[string]struct {
		deltas []string
		want   []string
	}{
		"good":               {[]string{`{"index":0,"id":"a","type":"function","function":{"name":"theirs","arguments":"{\"q\""}}`, `{"index":0,"function":{"arguments":":1}"}}`}, []string{`afunctiontheirs{"q":1}`}},
		"arguments object":   {[]string{`{"index":0,"id":"a","function":{"name":"theirs","arguments":{"q":1}}}`}, []string{`afunctiontheirs{"q":1}`}},
		"name comes late":    {[]string{`{"index":0,"id":"a","function":{"arguments":"{\"q\""}}`, `{"index":0,"function":{"name":"theirs","arguments":":1"}}`, `{"index":0,"function":{"arguments":"}"}}`}, []string{`afunctiontheirs{"q":1}`}},
		"huge and odd index": {[]string{`{"index":1e300,"id":"a","type":"function","function":{"name":"theirs","arguments":"{}"}}`, `{"index":"x","id":"b","type":"function","function":{"name":"theirs","arguments":"{}"}}`}, []string{`afunctiontheirs{}`, `bfunctiontheirs{}`}},
		"negative index":     {[]string{`{"index":-1,"id":"a","type":"function","function":{"name":"theirs","arguments":"{}"}}`}, []string{`afunctiontheirs{}`}},
	} {
		t.Run(name, func(t *testing.T) {
			var events []string
			for _, d := range test.deltas {
				events = append(events, delta(`"tool_calls":[`+d+`]`))
			}
			_, s := newRig(t, newProvider(t, strings.Join(append(events, finishing("stop")), "\n"))).mustRun(t, streamWith(""))
			if diff := cmp.Diff(test.want, s.callers()); diff != "" {
				t.Error(diff)
			}
			if got := s.finish()[0].Get("choices.0.finish_reason").String(); got != "tool_calls" {
				t.Errorf("finish is %q", got)
			}
		})
	}
}

// TestWholeCallsWithoutIDs: a provider that gives no id and one index for all
// calls sends each in one piece.
func TestWholeCallsWithoutIDs(t *testing.T) {
	call := func(path string) string {
		return delta(`"tool_calls":[{"index":0,"id":"","function":{"name":"fs__read_file","arguments":"{\"path\":\"` + path + `\"}"}}]`)
	}
	r := newRig(t, newProvider(t, call("/1")+"\n"+call("/2")+"\n"+finishing("stop"), okStream()))
	r.settings.Parallel = 1
	r.mustRun(t, helloStream)
	if len(r.ran) != 2 || strings.Contains(r.ran[0], "}{") {
		t.Errorf("ran %v", r.ran)
	}
}

// TestHistoryKeepsVendorsMembers: a provider must get back what it sent beside
// its calls, such as signatures of its thoughts.
func TestHistoryKeepsVendorsMembers(t *testing.T) {
	p := newProvider(t, strings.Join([]string{
		delta(`"role":"assistant","content":""`),
		delta(`"reasoning_content":"hm","reasoning_details":[{"text":"h"}]`),
		delta(`"reasoning_content":"m","reasoning_details":[{"text":"m"}],"refusal":null`),
		delta(`"tool_calls":[{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"sig"}},"function":{"name":"fs__list_files","arguments":"{}"}}]`),
		finishing("tool_calls"),
	}, "\n"), okStream())
	newRig(t, p).mustRun(t, helloStream)
	want := `{"role":"assistant","reasoning_content":"hmm","reasoning_details":[{"text":"h"},{"text":"m"}],"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"fs__list_files","arguments":"{}"},"extra_content":{"google":{"thought_signature":"sig"}}}]}`
	if got := p.request(t, 1).Get("messages.1").Raw; got != want {
		t.Errorf("the history says\n%s, want\n%s", got, want)
	}
}

// TestUsageInTheFinishingChunk: the sum reaches the caller also when the
// provider tells it in the finishing chunk.
func TestUsageInTheFinishingChunk(t *testing.T) {
	withUsage := func(chunk string, n int) string {
		return strings.TrimSuffix(chunk, "}") + fmt.Sprintf(`,"usage":{"total_tokens":%d}}`, n)
	}
	ours := delta(`"tool_calls":[{"index":0,"id":"o","type":"function","function":{"name":"fs__list_files","arguments":"{}"}}]`)
	theirs := delta(`"tool_calls":[{"index":1,"id":"t","type":"function","function":{"name":"theirs","arguments":"{}"}}]`)
	for name, test := range map[string]struct {
		rounds []string
		want   int64
	}{
		"two rounds": {[]string{ours + "\n" + withUsage(finishing("tool_calls"), 5), withUsage(okStream(), 7)}, 12},
		"mixed turn": {[]string{ours + "\n" + theirs + "\n" + withUsage(finishing("tool_calls"), 5)}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := newRig(t, newProvider(t, test.rounds...)).mustRun(t, streamWith(`,"stream_options":{"include_usage":true}`))
			if got := s.finish()[0].Get("usage.total_tokens").Int(); got != test.want {
				t.Errorf("usage is %d, want %d: %s", got, test.want, s.finish()[0])
			}
		})
	}
}

// TestOtherChoices: with our tools off a caller may ask for several.
func TestOtherChoices(t *testing.T) {
	choice := func(index int, members, finish string) string {
		return fmt.Sprintf(`{"id":"s","choices":[{"index":%d,"delta":{%s},"finish_reason":%s}]}`, index, members, finish)
	}
	call := `"tool_calls":[{"index":0,"id":"%d","type":"function","function":{"name":"theirs","arguments":"{}"}}]`
	events := []string{
		choice(0, fmt.Sprintf(call, 0), "null"), choice(1, fmt.Sprintf(call, 1), "null"),
		choice(1, "", `"tool_calls"`), choice(0, "", `"tool_calls"`),
	}
	r := newRig(t, newProvider(t, strings.Join(events, "\n")))
	parsed, err := models.ParseBody([]byte(streamWith(`,"n":2`)))
	if err != nil {
		t.Fatal(err)
	}
	route, err := r.router.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	s := &sink{}
	if _, err := r.loop.Run(t.Context(), loop.Request{Models: r.router, Route: route, Body: parsed, Stream: s, ToolsOff: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(events[:3], s.events[:3]); diff != "" || len(s.events) != 4 {
		t.Errorf("%d events, %s", len(s.events), diff)
	}
}

// TestCutAnswersStayCut: that the provider cut or filtered an answer is not
// hidden by our calls.
func TestCutAnswersStayCut(t *testing.T) {
	mixed := `{"role":"assistant","content":null,"tool_calls":[` + toolCall("o", "fs__list_files", `{}`) + `,` + toolCall("t", "theirs", `{"q":`) + `]}`
	result, _ := newRig(t, newProvider(t, plainReply(mixed, "length"))).mustRun(t, strings.Replace(streamWith(""), `"stream":true`, `"stream":false`, 1))
	if got := gjson.GetBytes(result.Reply, "choices.0.finish_reason").String(); got != "length" {
		t.Errorf("finish is %q", got)
	}
}

// TestRepliesWithAKeyTwice: hidden calls stay hidden, and the report is there.
func TestRepliesWithAKeyTwice(t *testing.T) {
	mixed := `{"role":"assistant","role":"assistant","content":null,"tool_calls":[` + toolCall("o", "fs__list_files", `{}`) + `,` + toolCall("t", "theirs", `{}`) + `]}`
	reply := strings.Replace(plainReply(mixed, "tool_calls"), `{"id":"c1"`, `{"id":"c1","id":"c1"`, 1)
	result, _ := newRig(t, newProvider(t, reply)).mustRun(t, strings.Replace(streamWith(""), `"stream":true`, `"stream":false`, 1))
	if got := gjson.GetBytes(result.Reply, "choices.0.message.tool_calls.#.id").Raw; got != `["t"]` || !gjson.GetBytes(result.Reply, "x_gateway").Exists() {
		t.Errorf("the reply is %s", result.Reply)
	}
}

// TestStoppedMixedTurn: calls of ours that did not run any more have results all
// the same when the caller comes back, or its provider refuses the history.
func TestStoppedMixedTurn(t *testing.T) {
	both := ask(toolCall("o2", "fs__list_files", `{}`), toolCall("t", "theirs", `{}`))
	p := newProvider(t, ask(toolCall("o1", "fs__list_files", `{}`)), both, say("end"))
	r := newRig(t, p)
	r.settings.MaxRounds = 1
	body := strings.Replace(streamWith(""), `"stream":true`, `"stream":false`, 1)
	r.mustRun(t, body)
	r.mustRun(t, strings.Replace(body, `"messages":[{"role":"user","content":"hello"}]`,
		`"messages":[{"role":"user","content":"hello"},{"role":"assistant","tool_calls":[`+toolCall("t", "theirs", `{}`)+`]},{"role":"tool","tool_call_id":"t","content":"T"}]`, 1))
	var got []string
	for _, m := range p.request(t, 2).Get("messages").Array() {
		got = append(got, m.Get("role").String()+m.Get("tool_call_id").String())
	}
	if diff := cmp.Diff([]string{"user", "assistant", "toolo1", "assistant", "toolo2", "toolt"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTooManyCalls(t *testing.T) {
	var calls []string
	for i := range 5_000 {
		calls = append(calls, fmt.Sprintf(`{"index":%d,"id":"%d","function":{"name":"fs__list_files","arguments":"{}"}}`, i, i))
	}
	list := `"tool_calls":[` + strings.Join(calls, ",") + `]`
	for body, reply := range map[string]string{
		hello:       plainReply(`{"role":"assistant",`+list+`}`, "tool_calls"),
		helloStream: delta(list) + "\n" + finishing("stop"),
	} {
		r := newRig(t, newProvider(t, reply, okStream()))
		if _, _, err := r.run(t, body); err == nil || !strings.Contains(err.Error(), "tool calls") || len(r.ran) > 0 {
			t.Errorf("error is %v, and %d calls ran", err, len(r.ran))
		}
	}
}

// gone is a sink whose caller has gone.
type gone struct{ sink }

func (*gone) Flush() error { return errors.New("broken pipe") }

// TestHowRunsEnd: who ended a run is told apart in the record.
func TestHowRunsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		cancel  error // cause; nil: the sink fails
		outcome string
		reason  string
	}{
		"the caller stops reading": {nil, "cancelled", "the caller has gone"},
		"the caller goes":          {context.Canceled, "cancelled", "the caller has gone"},
		"we shut down":             {approvals.ErrShuttingDown, "cancelled", "shutting down"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, newProvider(t, ask(toolCall("a", "fs__list_files", `{}`))))
			events, stop := r.events.Subscribe(100)
			defer stop()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			r.onServer = func(context.Context, servers.Call) (*servers.Result, error) {
				cancel(test.cancel)
				return textResult("x"), nil
			}
			body := hello
			if test.cancel == nil {
				r = newRig(t, newProvider(t, okStream()))
				events, stop = r.events.Subscribe(100)
				defer stop()
				body = helloStream
			}
			parsed, err := models.ParseBody([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			route, err := r.router.Resolve("")
			if err != nil {
				t.Fatal(err)
			}
			req := loop.Request{Models: r.router, Route: route, Body: parsed}
			if test.cancel == nil {
				req.Stream = &gone{}
			}
			if _, err := r.loop.Run(ctx, req); err == nil {
				t.Error("the run went well")
			}
			var last loop.Event
			for len(events) > 0 {
				last = <-events
			}
			if last.Kind != loop.RunFinished || last.Outcome != test.outcome || last.Reason != test.reason {
				t.Errorf("the last event is %+v", last)
			}
		})
	}
}

// TestOddTools: null stands for none, and what is no list is refused here and not
// sent on broken.
func TestOddTools(t *testing.T) {
	for tools, offered := range map[string]int{`null`: 4, `[]`: 4, ` [ ] `: 4, `[` + callersTool + `]`: 5, `{"a":1}`: 0, `"x"`: 0, `7`: 0} {
		p := newProvider(t, say("ok"))
		_, _, err := newRig(t, p).run(t, strings.TrimSuffix(hello, "}")+`,"tools":`+tools+`}`)
		var e *models.Error
		if offered == 0 {
			if !errors.As(err, &e) || e.Status != 400 || e.Param != "tools" {
				t.Errorf("%s: error %v", tools, err)
			}
			continue
		}
		if err != nil || len(p.request(t, 0).Get("tools").Array()) != offered || !gjson.Valid(p.request(t, 0).Raw) {
			t.Errorf("%s: %v, sent %s", tools, err, p.request(t, 0))
		}
	}
}

// FuzzBody: whatever a client sends, what goes to the provider is JSON with the
// client's own fields in it.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		hello, helloStream, streamWith(""), `{"messages":[{}],"tools":null,"n":"2","stream_options":[],"tool_choice":{"type":7}}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"id":"a"},null,{"id":{}}]},{"role":"tool"}],"tool_choice":null,"response_format":"json"}`,
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	var replies, sent []string
	router, l := inMemory(f, &replies, &sent)
	f.Fuzz(func(t *testing.T, text string, stream bool) {
		body, err := models.ParseBody([]byte(text))
		if err != nil {
			return
		}
		route, err := router.Resolve("")
		if err != nil {
			t.Fatal(err)
		}
		req := loop.Request{Models: router, Route: route, Body: body}
		replies, sent = []string{say("ok")}, nil
		if stream {
			replies, req.Stream = []string{okStream()}, &sink{}
		}
		if _, err := l.Run(t.Context(), req); err != nil && len(sent) == 0 {
			return // refused
		}
		if !models.Valid([]byte(sent[0])) {
			t.Fatalf("%q went on as %q", text, sent[0])
		}
		gjson.Parse(text).ForEach(func(key, value gjson.Result) bool {
			if k := key.String(); k == "temperature" || k == "vendor" {
				if got := gjson.Get(sent[0], k).Raw; got != value.Raw {
					t.Fatalf("%q went on as %q", text, sent[0])
				}
			}
			return true
		})
	})
}

// FuzzStream: whatever events a provider sends, nothing panics, what goes on is
// JSON, and the text of valid chunks arrives.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		delta(`"content":"hi"`) + "\n" + finishing("stop"),
		`{"choices":{"0":{"delta":{"content":"x"},"finish_reason":"stop"}}}`,
		`{"choices":[null]}` + "\n" + `{"choices":[{"delta":null,"finish_reason":"tool_calls"}]}`,
		delta(`"tool_calls":{"0":1}`) + "\n" + delta(`"tool_calls":[7,null,[],{"index":"1","id":{},"function":[]}]`) + "\n" + finishing("length"),
		delta(`"content":"a","tool_calls":[{"index":1e99,"id":"a","function":{"name":"fs__list_files","arguments":{"a":[]}}}]`) + "\n" + finishing("tool_calls"),
		delta(`"content":"a","tool_calls":[{"id":"t","custom":{"name":"theirs","input":"x"}}]`) + "\n" + finishing("stop"),
		`{"choices":[{"index":7,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"a":{"b":1}}}` + "\n" + `{"usage":{}}`,
		`{"choices":[],"choices":[{"finish_reason":"stop"}],"usage":[],"id":{},"model":[]}`,
		`"text"` + "\n" + `null` + "\n" + `{"error":1}`,
	} {
		f.Add(seed)
	}
	var replies, sent []string
	router, l := inMemory(f, &replies, &sent)
	f.Fuzz(func(t *testing.T, events string) {
		replies = []string{events, okStream(), okStream()}
		body, err := models.ParseBody([]byte(streamWith(`,"stream_options":{"include_usage":true}`)))
		if err != nil {
			t.Fatal(err)
		}
		route, err := router.Resolve("")
		if err != nil {
			t.Fatal(err)
		}
		s := &sink{}
		_, err = l.Run(t.Context(), loop.Request{Models: router, Route: route, Body: body, Stream: s})
		for _, e := range s.events {
			if !models.Valid([]byte(e)) {
				t.Fatalf("%q made %q", events, e)
			}
		}
		if err != nil {
			return
		}
		var want string
		for _, e := range strings.Split(strings.TrimSpace(events), "\n") {
			if e = strings.TrimSpace(e); strings.HasPrefix(e, "[DONE]") {
				break
			}
			if choices := gjson.Get(e, "choices"); choices.IsArray() && strings.Count(e, "choices") == 1 {
				want += gjson.Get(e, "choices.0.delta.content").String()
			}
		}
		if got := s.text(); !strings.HasPrefix(got, want) {
			t.Fatalf("%q said %q, want it to begin with %q", events, got, want)
		}
	})
}

// inMemory returns a loop without a network and a disk, whose provider answers
// with each of replies and notes what it is sent, and whose calls all go well.
func inMemory(t testing.TB, replies, sent *[]string) (*models.Router, *loop.Loop) {
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{"fake": {BaseURL: "http://fake.example"}}
	cfg.DefaultModel = "fake/m"
	cfg.RouterSettings.NumRetries = 0
	router, err := models.NewRouter(cfg, models.Options{Client: &http.Client{Transport: transport(func(req *http.Request) *http.Response {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		*sent = append(*sent, string(body))
		if !gjson.GetBytes(body, "stream_options").Exists() {
			plain := (*replies)[0]
			*replies = (*replies)[1:]
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(plain)), Request: req}
		}
		var events strings.Builder
		for _, event := range strings.Split(strings.TrimSpace((*replies)[0]), "\n") {
			fmt.Fprintf(&events, "data: %s\n\n", strings.TrimSpace(event))
		}
		*replies = (*replies)[1:]
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(events.String())), Request: req}
	})}})
	if err != nil {
		t.Fatal(err)
	}
	def, err := tools.Parse("fs", []byte(fakeTools[2]), true)
	if err != nil {
		t.Fatal(err)
	}
	catalogue := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{})
	return router, loop.New(loop.Options{
		Caller: caller{}, Catalogue: func() *tools.Catalogue { return catalogue },
		Settings: func() loop.Settings { return loop.Settings{MaxRounds: 1, Parallel: 1, PlanMode: true} },
	})
}

type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req), nil }

type caller struct{}

func (caller) Call(_ context.Context, call calls.Call) calls.Result {
	return calls.Result{Name: call.Name, Allowed: true, Executed: true, Outcome: journal.OK, Text: "done"}
}
