package responses_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
)

// noEffort is what a provider says on chat completions that takes tools there
// without reasoning alone.
func noEffort(path string, body gjson.Result) string {
	if path == chatPath && body.Get("tools").Exists() && body.Get("reasoning_effort").String() != "none" {
		return "Function tools with reasoning_effort are not supported. Please use /v1/responses instead."
	}
	return ""
}

// refusesThere is what a provider says whose Responses API takes little.
func refusesThere(path string, _ gjson.Result) string {
	if path == responsesPath {
		return "tools are not taken here"
	}
	return ""
}

// kinds returns the types of a request's input items, and of reasoning what it is.
func kinds(input gjson.Result) string {
	var list []string
	for _, item := range input.Array() {
		kind := item.Get("type").String()
		if sealed := item.Get("encrypted_content").String(); sealed != "" {
			kind += "(" + sealed + ")"
		}
		list = append(list, kind)
	}
	return strings.Join(list, " ")
}

// chatAnswer returns the message of a chat completion, put together when it was
// streamed.
func chatAnswer(t *testing.T, stream bool, reply []byte) (text string, calls []string, last gjson.Result) {
	t.Helper()
	if !stream {
		last = gjson.ParseBytes(reply)
		for _, call := range last.Get("choices.0.message.tool_calls.#.id").Array() {
			calls = append(calls, call.String())
		}
		return last.Get("choices.0.message.content").String(), calls, last
	}
	for _, e := range readEvents(t, reply) {
		text += e.data.Get("choices.0.delta.content").String()
		for _, call := range e.data.Get("choices.0.delta.tool_calls").Array() {
			if id := call.Get("id").String(); id != "" {
				calls = append(calls, id)
			}
		}
		if e.data.Get("choices.0.finish_reason").String() != "" {
			last = e.data
		}
	}
	return text, calls, last
}

// TestBridge has a caller of chat completions keep the reasoning effort that its
// provider takes with tools on the Responses API alone; what the model thought, and
// nobody can read, goes along from round to round and from turn to turn.
func TestBridge(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			p := newProvider(t, []string{chatPath, responsesPath},
				answer(responsesPath, stream, thinks("one"), calling("a", "time__now", "{}")),
				answer(responsesPath, stream, thinks("two"), calling("b", "view", `{"x":1}`)),
				answer(responsesPath, stream, thinks("three"), says("Done.")))
			p.refused = noEffort
			d := newDoor(t, p, nil)
			ask := func(messages string) []byte {
				status, reply := d.post(t, "/v1/chat/completions", fmt.Sprintf(`{"model":"scripted/gpt-6-sol","stream":%v,"reasoning_effort":"high","max_tokens":500,
					"tools":[{"type":"function","function":{"name":"view","parameters":{"type":"object"}}}],"messages":[%s]}`, stream, messages))
				if status != 200 {
					t.Fatalf("status %d: %s", status, reply)
				}
				if strings.Contains(string(reply), "x_pointsman") || strings.Contains(string(reply), "sealed") {
					t.Errorf("the caller sees what is ours alone:\n%s", reply)
				}
				return reply
			}
			const first = `{"role":"system","content":"Be brief."},{"role":"user","content":"Look."}`
			_, calls, last := chatAnswer(t, stream, ask(first))
			if len(calls) != 1 || calls[0] != "b" || last.Get("choices.0.finish_reason").String() != "tool_calls" {
				t.Fatalf("the caller got the calls %q, finished as %s", calls, last.Get("choices.0.finish_reason"))
			}
			if notices := last.Get("x_gateway.notices").Raw; notices != "" {
				t.Errorf("notices: %s", notices)
			}
			text, _, last := chatAnswer(t, stream, ask(first+`,{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"view","arguments":"{\"x\":1}"}}]},{"role":"tool","tool_call_id":"b","content":"a view"}`))
			if text != "Done." || last.Get("choices.0.finish_reason").String() != "stop" {
				t.Errorf("the answer is %q, finished as %s", text, last.Get("choices.0.finish_reason"))
			}
			got := p.got()
			if len(got) != 3 {
				t.Fatalf("%d requests, want 3", len(got))
			}
			want := []string{
				"message message",
				"message message reasoning(sealed-one) function_call function_call_output",
				"message message reasoning(sealed-one) function_call function_call_output reasoning(sealed-two) function_call function_call_output",
			}
			for i, r := range got {
				if r.path != responsesPath || kinds(r.body.Get("input")) != want[i] {
					t.Errorf("request %d to %s has the input\n%s\nwant\n%s", i, r.path, kinds(r.body.Get("input")), want[i])
				}
				checkBridged(t, r.body)
			}
		})
	}
}

// checkBridged checks the fields of a request that has come over the bridge.
func checkBridged(t *testing.T, body gjson.Result) {
	t.Helper()
	for path, want := range map[string]string{
		"reasoning.effort": "high", "store": "false", "include.0": "reasoning.encrypted_content", "max_output_tokens": "500",
		"tools.0.name": "view", "tools.1.name": "time__now", "model": "gpt-6-sol",
	} {
		if got := body.Get(path).String(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	for _, left := range []string{"messages", "reasoning_effort", "max_tokens", "stream_options"} {
		if body.Get(left).Exists() {
			t.Errorf("%s is in the request", left)
		}
	}
}

// TestBridgeCarries: what was thought before a call of the caller's alone comes back
// with its result, and a call id that the provider has used twice is told apart.
func TestBridgeCarries(t *testing.T) {
	for _, stream := range []bool{false, true} {
		p := newProvider(t, []string{responsesPath},
			answer(responsesPath, stream, thinks("one"), calling("b", "view", "{}"), calling("b", "view", `{"x":2}`)),
			answer(responsesPath, stream, thinks("two"), calling("c", "view", "{}")),
			answer(responsesPath, stream, says("Done.")))
		d := newDoor(t, p, nil)
		history := `{"role":"user","content":"Look."}`
		for range 3 {
			status, reply := d.post(t, "/v1/chat/completions", fmt.Sprintf(`{"model":"scripted/gpt-6-sol","stream":%v,"reasoning_effort":"high",
				"tools":[{"type":"function","function":{"name":"view","parameters":{"type":"object"}}}],"messages":[%s]}`, stream, history))
			if status != 200 {
				t.Fatalf("status %d: %s", status, reply)
			}
			_, calls, _ := chatAnswer(t, stream, reply)
			var sent, results []string
			for _, id := range calls {
				sent = append(sent, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"view","arguments":"{}"}}`, id))
				results = append(results, fmt.Sprintf(`,{"role":"tool","tool_call_id":%q,"content":"a view"}`, id))
			}
			history += `,{"role":"assistant","content":null,"tool_calls":[` + strings.Join(sent, ",") + `]}` + strings.Join(results, "")
		}
		got := p.got()
		last := got[len(got)-1].body.Get("input")
		want := "message function_call function_call function_call_output function_call_output reasoning(sealed-two) function_call function_call_output"
		if kinds(last) != want {
			t.Errorf("stream %v: the input is\n%s\nwant\n%s", stream, kinds(last), want)
		}
		ids := last.Get("#.call_id").Array()
		if len(ids) != 6 || ids[0].String() == ids[1].String() || ids[0].String() != ids[2].String() || ids[1].String() != ids[3].String() {
			t.Errorf("stream %v: the calls' ids are %s", stream, ids)
		}
	}
}

// turn says where one of a caller of chat completions goes.
type turn struct {
	name, model, fields string
	off                 bool
	paths               []string // that the provider has; nil: both
	before              string   // a request that goes ahead
	want                []string // where the request, and the one before it, went
	effort              string   // that arrived
	notice              string
	refused             func(path string, body gjson.Result) string
}

func turns() []turn {
	const tool = `"tools":[{"type":"function","function":{"name":"view","parameters":{"type":"object"}}}]`
	return []turn{
		{name: "effort and tools", model: "gpt-6-sol", fields: `"reasoning_effort":"low",` + tool, want: []string{responsesPath}, effort: "low"},
		{name: "switched off", model: "gpt-6-sol", fields: `"reasoning_effort":"low",` + tool, off: true, want: []string{chatPath}, effort: "none", notice: `"low" was sent as "none"`},
		{name: "no effort, and not known", model: "gpt-6-sol", fields: tool, want: []string{chatPath}, effort: "none"},
		{name: "no effort, and proven", model: "gpt-6-sol", fields: tool, before: `"reasoning_effort":"low",` + tool, want: []string{responsesPath, responsesPath}},
		{name: "effort none", model: "gpt-6-sol", fields: `"reasoning_effort":"none",` + tool, before: `"reasoning_effort":"low",` + tool, want: []string{responsesPath, chatPath}, effort: "none"},
		{name: "another model", model: "other", fields: `"reasoning_effort":"low",` + tool, want: []string{chatPath}, effort: "low"},
		{name: "what only chat completions have", model: "gpt-6-sol", fields: `"reasoning_effort":"low","stop":["x"],` + tool, want: []string{chatPath}, effort: "none", notice: `"low" was sent as "none"`},
		{name: "what asks for nothing", model: "gpt-6-sol", fields: `"reasoning_effort":"low","stop":null,"n":1,"logprobs":false,` + tool, want: []string{responsesPath}, effort: "low"},
		{
			name: "it refuses, and was not known", model: "gpt-6-sol", fields: `"reasoning_effort":"low",` + tool,
			refused: refusesThere, want: []string{responsesPath, chatPath}, effort: "none", notice: `"low" was sent as "none"`,
		},
		{
			name: "there is none", model: "gpt-6-sol", fields: `"reasoning_effort":"low",` + tool, paths: []string{chatPath},
			want: []string{responsesPath, chatPath}, effort: "none", notice: "has no Responses API",
		},
		{
			name: "there is none, and it is known", model: "gpt-6-sol", fields: `"reasoning_effort":"low",` + tool, paths: []string{chatPath},
			before: `"reasoning_effort":"low",` + tool, want: []string{responsesPath, chatPath, chatPath}, effort: "none", notice: `"low" was sent as "none"`,
		},
	}
}

// TestBridgeUsed says where a turn goes of a caller of chat completions.
func TestBridgeUsed(t *testing.T) {
	for _, test := range turns() {
		t.Run(test.name, func(t *testing.T) {
			if test.paths == nil {
				test.paths = []string{chatPath, responsesPath}
			}
			var replies []string
			for _, path := range test.want {
				if path == chatPath || len(test.paths) == 2 && test.refused == nil {
					replies = append(replies, answer(path, false, says("Yes.")))
				}
			}
			p := newProvider(t, test.paths, replies...)
			p.refused = test.refused
			d := newDoor(t, p, func(cfg *config.Config) {
				if test.off {
					cfg.Quirks.ResponsesBridge = "off"
				}
			})
			var reply []byte
			for _, fields := range []string{test.before, test.fields} {
				if fields == "" {
					continue
				}
				status, answer := d.post(t, "/v1/chat/completions", fmt.Sprintf(`{"model":"scripted/%s","messages":[{"role":"user","content":"?"}],%s}`, test.model, fields))
				if status != 200 {
					t.Fatalf("status %d: %s", status, answer)
				}
				reply = answer
			}
			var paths []string
			for _, r := range p.got() {
				paths = append(paths, r.path)
			}
			if fmt.Sprint(paths) != fmt.Sprint(test.want) {
				t.Fatalf("the requests went to %q, want %q", paths, test.want)
			}
			last := p.got()[len(paths)-1].body
			if got := last.Get("reasoning_effort").String() + last.Get("reasoning.effort").String(); got != test.effort {
				t.Errorf("the effort that arrived is %q, want %q", got, test.effort)
			}
			notices := gjson.GetBytes(reply, "x_gateway.notices").Raw
			if said := strings.ReplaceAll(notices, `\"`, `"`); test.notice == "" && said != "" || !strings.Contains(said, test.notice) {
				t.Errorf("the notices are %s, want %q", notices, test.notice)
			}
			if test.before != "" && strings.Contains(notices, "has no Responses API") {
				t.Errorf("it is said again: %s", notices)
			}
		})
	}
}

// TestAskedByItAlone has models that LiteLLM's configuration has asked by the
// Responses API, whatever the request.
func TestAskedByItAlone(t *testing.T) {
	for name, entry := range map[string]config.Deployment{
		"by its name": {LiteLLMParams: config.LiteLLMParams{Model: "openai/responses/other"}},
		"by its mode": {LiteLLMParams: config.LiteLLMParams{Model: "openai/other"}, ModelInfo: map[string]any{"mode": "responses"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, []string{responsesPath}, answer(responsesPath, false, says("Yes.")))
			d := newDoor(t, p, func(cfg *config.Config) {
				cfg.Quirks.ResponsesBridge = "off"
				entry.ModelName, entry.LiteLLMParams.APIBase = "alone", p.URL+"/v1"
				cfg.ModelList = []config.Deployment{entry}
			})
			status, reply := d.post(t, "/v1/chat/completions", `{"model":"alone","messages":[{"role":"user","content":"?"}],"stop":["x"]}`)
			if text, _, last := chatAnswer(t, false, reply); status != 200 || text != "Yes." || !strings.Contains(last.Get("x_gateway.notices").Raw, "stop was not sent") {
				t.Fatalf("status %d: %s", status, reply)
			}
			if got := p.got(); len(got) != 1 || got[0].path != responsesPath || got[0].body.Get("model").String() != "other" || got[0].body.Get("stop").Exists() {
				t.Errorf("the provider got %v", got)
			}
		})
	}
}

// TestFallback has one run answered by a provider of each kind: what the first has
// sealed stays away from the second, and the caller sees one response.
func TestFallback(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			broken := `{"object":"response","status":"failed","error":{"code":"server_error","message":"it broke"},"output":[]}`
			if stream {
				broken = `{"type":"response.failed","response":` + broken + `}`
			}
			native := newProvider(t, []string{responsesPath}, answer(responsesPath, stream, thinks("one"), says("I look."), calling("a", "time__now", "{}")), broken)
			chat := newProvider(t, []string{chatPath}, answer(chatPath, stream, says("It is noon.")))
			d := newDoor(t, native, func(cfg *config.Config) {
				for name, p := range map[string]*provider{"native": native, "chat": chat} {
					cfg.ModelList = append(cfg.ModelList, config.Deployment{ModelName: name, LiteLLMParams: config.LiteLLMParams{Model: "openai/m", APIBase: p.URL + "/v1"}})
				}
				cfg.RouterSettings.Fallbacks = []map[string][]string{{"native": {"chat"}}}
			})
			status, reply := d.post(t, "/v1/responses", fmt.Sprintf(`{"model":"native","stream":%v,"input":"What time is it?"}`, stream))
			if status != 200 {
				t.Fatalf("status %d: %s", status, reply)
			}
			response, want := gjson.ParseBytes(reply), "message:It is noon."
			if stream {
				response, want = checkStream(t, readEvents(t, reply)), "reasoning:one message:I look. message:It is noon."
			}
			if got := outline(response.Get("output")); got != want {
				t.Errorf("the output is %q, want %q", got, want)
			}
			got := chat.got()
			last := got[len(got)-1].body
			if strings.Contains(last.Raw, "sealed") || strings.Contains(last.Raw, "x_pointsman") || fmt.Sprint(last.Get("messages.#.role")) != `["user","assistant","tool"]` {
				t.Errorf("the second provider got %s", last.Raw)
			}
		})
	}
}

// TestBridgeFallsBack: a provider of chat completions that steps in gets nothing of
// what the bridge has carried.
func TestBridgeFallsBack(t *testing.T) {
	native := newProvider(t, []string{responsesPath}, answer(responsesPath, false, thinks("one"), calling("a", "time__now", "{}")), `{"error":{"code":"server_error","message":"it broke"}}`)
	chat := newProvider(t, []string{chatPath}, answer(chatPath, false, says("It is noon.")))
	d := newDoor(t, native, func(cfg *config.Config) {
		for name, p := range map[string]*provider{"native": native, "chat": chat} {
			cfg.ModelList = append(cfg.ModelList, config.Deployment{ModelName: name, LiteLLMParams: config.LiteLLMParams{Model: "openai/gpt-6-sol", APIBase: p.URL + "/v1"}})
		}
		cfg.RouterSettings.Fallbacks = []map[string][]string{{"native": {"chat"}}}
	})
	status, reply := d.post(t, "/v1/chat/completions", `{"model":"native","reasoning_effort":"high","messages":[{"role":"user","content":"What time is it?"}]}`)
	if text, _, _ := chatAnswer(t, false, reply); status != 200 || text != "It is noon." {
		t.Fatalf("status %d: %s", status, reply)
	}
	got := chat.got()
	last := got[len(got)-1].body
	if strings.Contains(last.Raw, "sealed") || strings.Contains(last.Raw, "x_pointsman") || fmt.Sprint(last.Get("messages.#.role")) != `["user","assistant","tool"]` {
		t.Errorf("the second provider got %s", last.Raw)
	}
}
