package e2e

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// chat is one conversation to have through every SDK, streamed and not.
type chat struct {
	name    string
	body    string // %FOLDER% and %MARK% are filled in
	headers map[string]string
	// check is given the answer and what the provider was asked.
	check func(t *testing.T, o outcome, asked []*recorded)
	// then is sent after the first answer, made of it; nil: nothing.
	then      func(t *testing.T, body []byte, o outcome) []byte
	checkThen func(t *testing.T, o outcome, asked []*recorded)
}

// weather is a tool of the caller's.
const weather = `"tools":[{"type":"function","function":{"name":"weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`

func user(script string) string {
	text, err := json.Marshal("mark %MARK%\n" + script)
	if err != nil {
		panic(err)
	}
	return `"model":"scripted/test","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":` + string(text) + `}]`
}

func chats() []chat { return slices.Concat(plainChats(), toolChats(), mixedChats()) }

// plainChats have no tool in play.
func plainChats() []chat {
	return []chat{
		{
			name: "plain",
			body: `{` + user("@say Hello to you, too.") + `}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "the answer", o.at("content").String(), "Hello to you, too.")
				expect(t, "finish", o.Finish, "stop")
				expect(t, "rounds", o.gateway("rounds").Int(), 1)
				expect(t, "the key", asked[0].header.Get("Authorization"), "Bearer provider-key")
				expect(t, "the first message", asked[0].body.Get("messages.0.content").String(), "Be brief.")
			},
		},
		{
			name:    "tools off",
			body:    `{` + user("@say Hello.") + `}`,
			headers: map[string]string{"X-Pointsman-Tools": "off"},
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "tools", asked[0].body.Get("tools").Exists(), false)
			},
		},
		{
			name: "no tool is wanted",
			body: `{` + user("@say Hello.") + `,"tool_choice":"none",` + weather + `}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "tools", strings.Join(asked[0].tools(), " "), "weather")
			},
		},
		{
			name: "response format",
			body: `{` + user(`@say {"answer": 42}`) + `,"response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"],"additionalProperties":false}}}}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "the answer", gjson.Get(o.at("content").String(), "answer").Int(), 42)
			},
		},
		{
			name: "image parts",
			body: `{"model":"scripted/test","messages":[{"role":"user","content":[{"type":"text","text":"mark %MARK%"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}}]}]}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "the answer", o.at("content").String(), "Hello from the provider.")
			},
		},
		{
			name: "settings and vendor fields",
			body: `{` + user("@say Kept.") + `,"temperature":0.25,"seed":7,"stop":["END"],"metadata":{"a":"b"},"vendor_knob":{"depth":[1,2,{"x":null}]},"vendor_flag":false}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				if !slices.ContainsFunc(o.Chunks, func(c json.RawMessage) bool { return gjson.GetBytes(c, "vendor_region").String() == "north" }) {
					t.Error("the provider's own field is lost")
				}
				if !slices.ContainsFunc(o.Chunks, func(c json.RawMessage) bool { return strings.Contains(string(c), `"vendor_thought":"kept"`) }) {
					t.Error("the provider's own field of the message is lost")
				}
			},
		},
	}
}

// toolChats call tools of one side.
func toolChats() []chat {
	return []chat{
		{
			name: "tool of ours",
			body: `{` + user(`@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}`) + `}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				contains(t, "the answer", o.at("content").String(), "roses are red")
				expect(t, "calls for the caller", o.at("tool_calls.#").Int(), 0)
				expect(t, "finish", o.Finish, "stop")
				expect(t, "rounds", o.gateway("rounds").Int(), 2)
				expect(t, "used tools", o.gateway("used_tools.0").String(), "fs__read_text_file")
				expect(t, "requests", len(asked), 2)
				expect(t, "the result's role", asked[1].body.Get("messages.3.role").String(), "tool")
			},
		},
		{
			name: "tool of theirs",
			body: `{` + user(`@tool weather {"city":"Oslo"}`) + `,` + weather + `}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "finish", o.Finish, "tool_calls")
				expect(t, "calls", o.at("tool_calls.#").Int(), 1)
				expect(t, "arguments", o.at("tool_calls.0.function.arguments").String(), `{"city":"Oslo"}`)
				expect(t, "requests", len(asked), 1)
			},
			then: answerCalls,
			checkThen: func(t *testing.T, o outcome, asked []*recorded) {
				contains(t, "the answer", o.at("content").String(), "result of weather")
				expect(t, "requests", len(asked), 2)
			},
		},
		{
			name: "a tool is required",
			body: `{` + user(`@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}`) + `,"tool_choice":"required"}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				contains(t, "the answer", o.at("content").String(), "roses are red")
				expect(t, "tool_choice after the tool round", asked[1].body.Get("tool_choice").String(), "auto")
			},
		},
	}
}

// mixedChats call our tools and the caller's.
func mixedChats() []chat {
	return []chat{
		{
			name: "both in one turn",
			body: `{` + user("@say Looking.\n"+`@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}`+"\n"+`@tool weather {"city":"Oslo"}`) + `,` + weather + `}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "finish", o.Finish, "tool_calls")
				expect(t, "calls", o.at("tool_calls.#").Int(), 1)
				expect(t, "the call", o.at("tool_calls.0.function.name").String(), "weather")
				expect(t, "arguments", o.at("tool_calls.0.function.arguments").String(), `{"city":"Oslo"}`)
				expect(t, "text", o.at("content").String(), "Looking.")
				expect(t, "used tools", o.gateway("used_tools.0").String(), "fs__read_text_file")
				expect(t, "requests", len(asked), 1)
			},
			then: answerCalls,
			checkThen: func(t *testing.T, o outcome, asked []*recorded) {
				contains(t, "the answer", o.at("content").String(), "result of weather")
				contains(t, "the answer", o.at("content").String(), "roses are red")
				messages := asked[1].body.Get("messages")
				expect(t, "calls put back", messages.Get("2.tool_calls.#.function.name").Raw, `["fs__read_text_file","weather"]`)
				expect(t, "our result", messages.Get("3.tool_call_id").String(), messages.Get("2.tool_calls.0.id").String())
				expect(t, "their result", messages.Get("4.tool_call_id").String(), messages.Get("2.tool_calls.1.id").String())
				expect(t, "messages", messages.Get("#").Int(), 5)
			},
		},
		{
			name: "both in one turn, with ids that other conversations have too",
			body: `{` + user("@id call\n"+`@tool fs__read_text_file {"path":"%FOLDER%/%MARK%.txt"}`+"\n"+`@tool weather {"city":"Oslo"}`) + `,` + weather + `}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "the call", o.at("tool_calls.0.id").String(), "call-1")
			},
			then: answerCalls,
			checkThen: func(t *testing.T, o outcome, asked []*recorded) {
				messages := asked[1].body.Get("messages")
				mark := strings.Fields(messages.Get("1.content").String())[1]
				contains(t, "our call", messages.Get("2.tool_calls.0.function.arguments").String(), mark)
				contains(t, "our result", messages.Get("3.content").String(), mark)
			},
		},
		{
			name: "ours, then theirs",
			body: `{` + user(`@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}`+"\n@then\n"+`@tool weather {"city":"Oslo"}`) + `,` + weather + `}`,
			check: func(t *testing.T, o outcome, asked []*recorded) {
				expect(t, "finish", o.Finish, "tool_calls")
				expect(t, "the call", o.at("tool_calls.#.function.name").Raw, `["weather"]`)
				expect(t, "requests", len(asked), 2)
			},
			then: answerCalls,
			checkThen: func(t *testing.T, o outcome, asked []*recorded) {
				contains(t, "the answer", o.at("content").String(), "roses are red")
				contains(t, "the answer", o.at("content").String(), "result of weather")
				expect(t, "roles", asked[2].body.Get("messages.#.role").Raw, `["system","user","assistant","tool","assistant","tool"]`)
			},
		},
	}
}

// answerCalls makes the follow-up request: the assistant's message as the SDK
// has it, and a result for each call in it.
func answerCalls(t *testing.T, body []byte, o outcome) []byte {
	t.Helper()
	var request map[string]any
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	messages := append(request["messages"].([]any), json.RawMessage(o.Message))
	for _, call := range o.at("tool_calls").Array() {
		messages = append(messages, map[string]any{
			"role": "tool", "tool_call_id": call.Get("id").String(), "content": "result of " + call.Get("function.name").String(),
		})
	}
	request["messages"] = messages
	out, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestChat(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, ""))
	for name, ask := range sdks() {
		for _, streamed := range []bool{false, true} {
			for i, c := range chats() {
				mark := fmt.Sprintf("%s-%v-%d", name, streamed, i)
				t.Run(fmt.Sprintf("%s/stream=%v/%s", name, streamed, c.name), func(t *testing.T) {
					p.converse(t, ask, c, streamed, mark)
				})
			}
		}
	}
}

// converse has a conversation and checks each of its answers.
func (p *pointsman) converse(t *testing.T, ask sdk, c chat, streamed bool, mark string) {
	t.Helper()
	body := p.fill(c.body, mark)
	j := p.job(body, streamed)
	j.Headers = c.headers
	o := ask(t.Context(), t, j)
	if o.Error != nil {
		t.Fatalf("the SDK says %+v", *o.Error)
	}
	asked := p.about("mark " + mark)
	keepsFields(t, body, asked[0].body)
	c.check(t, o, asked)
	if c.then == nil {
		return
	}
	o = ask(t.Context(), t, p.job(c.then(t, body, o), streamed))
	if o.Error != nil {
		t.Fatalf("at the second request, the SDK says %+v", *o.Error)
	}
	c.checkThen(t, o, p.about("mark "+mark))
}

// fill makes a request of a case's body.
func (p *pointsman) fill(body, mark string) []byte {
	return []byte(strings.NewReplacer(folderMark, p.folder, "%MARK%", mark).Replace(body))
}

func (p *pointsman) job(body []byte, streamed bool) job {
	return job{BaseURL: p.url + "/v1", APIKey: key, Body: body, Stream: streamed}
}

// keepsFields checks that all that was sent has reached the provider: but for
// the model's name and the tools, which are ours to change, as it was.
func keepsFields(t *testing.T, sent []byte, got gjson.Result) {
	t.Helper()
	gjson.ParseBytes(sent).ForEach(func(name, value gjson.Result) bool {
		switch name.String() {
		case "model":
		case "tools":
			for _, tool := range value.Array() {
				contains(t, "tools", got.Get("tools").Raw, tool.Get("function.name").Raw)
			}
		default:
			if !reflect.DeepEqual(got.Get(name.String()).Value(), value.Value()) {
				t.Errorf("%s was sent as %s and arrived as %s", name, value.Raw, got.Get(name.String()).Raw)
			}
		}
		return true
	})
}

func TestUsage(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, ""))
	tests := []struct {
		name     string
		streamed bool
		options  string
		rounds   int64
		want     bool
	}{
		{"plain", false, "", 1, true},
		{"plain, two rounds", false, "", 2, true},
		{"not asked for", true, "", 2, false},
		{"asked for", true, `,"stream_options":{"include_usage":true}`, 1, true},
		{"asked for, two rounds", true, `,"stream_options":{"include_usage":true}`, 2, true},
		{"refused", true, `,"stream_options":{"include_usage":false}`, 1, false},
	}
	for name, ask := range sdks() {
		for i, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				mark := fmt.Sprintf("%s-%d", name, i)
				script := "@say Hello."
				if test.rounds == 2 {
					script = `@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}`
				}
				o := ask(t.Context(), t, p.job(p.fill(`{`+user(script)+test.options+`}`, mark), test.streamed))
				if o.Error != nil {
					t.Fatalf("%+v", *o.Error)
				}
				total := gjson.GetBytes(o.Usage, "total_tokens").Int()
				if want := 110 * test.rounds; test.want && total != want || !test.want && len(o.Usage) > 0 && string(o.Usage) != "null" {
					t.Errorf("usage is %s, want %v of %d tokens", o.Usage, test.want, want)
				}
				for _, r := range p.about(mark) {
					expect(t, "the provider is asked for usage", r.body.Get("stream_options.include_usage").Bool(), test.streamed)
				}
			})
		}
	}
}

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func contains(t *testing.T, what, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s: %q is not in %q", what, part, text)
	}
}
