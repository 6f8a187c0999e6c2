package responses_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// sameJSON reports whether two texts are the same JSON.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatalf("%v: %s", err, a)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return reflect.DeepEqual(x, y)
}

// What a client has that makes use of all of it.
const (
	richInput = `[
		{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"late"}]},
		{"role":"developer","content":"Be kind."},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Look.","vendor":1},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AA=="},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}]},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed"},
		{"type":"message","role":"assistant","id":"msg_1","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"I look.","annotations":[{"type":"url_citation","url":"x"}]}]},
		{"type":"tool_search_call","id":"tsc_1","execution":"server","call_id":null,"arguments":{"paths":["probe"]},"status":"completed"},
		{"type":"tool_search_output","id":"tso_1","execution":"server","call_id":null,"tools":[],"status":"completed"},
		{"type":"function_call","id":"fc_1","call_id":"c1","name":"echo","namespace":"probe","arguments":"{\"x\":1}","status":"completed"},
		{"type":"custom_tool_call","id":"ctc_1","call_id":"c2","name":"apply_patch","input":"*** Begin","status":"completed"},
		{"type":"local_shell_call","id":"lsc_1","call_id":"c3","action":{"type":"exec","command":["ls"]},"status":"completed"},
		{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"},{"type":"input_text","text":"two"},{"type":"input_image","image_url":"data:image/png;base64,BB=="}]},
		{"type":"custom_tool_call_output","call_id":"c2","output":"Done"},
		{"type":"local_shell_call_output","call_id":"c3","output":"files"},
		{"type":"vendor_thing","id":"v_1","what":"unknown"},
		{"type":"message","role":"user","content":"And now?"}]`
	richTools = `{"type":"namespace","name":"probe","description":"MCP server.","tools":[{"type":"function","name":"echo","parameters":{"type":"object"},"strict":false,"defer_loading":true},{"type":"function","name":"view","parameters":{"type":"object"}}]},
		{"type":"tool_search"},
		{"type":"web_search","filters":{}},
		{"type":"function","name":"view","parameters":{"type":"object"},"strict":null,"vendor":true},
		{"type":"custom","name":"apply_patch","description":"Patch.","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/"}}`
)

// TestUntouched: a provider of the Responses API gets what the caller has sent, of
// known kinds and unknown ones, beside our own tools.
func TestUntouched(t *testing.T) {
	for choice, ours := range map[string]int{
		`"auto"`:                                 1,
		`{"type":"custom","name":"apply_patch"}`: 0, // no room for ours
		`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"view"},{"type":"custom","name":"apply_patch"}]}`: 0,
		`{"type":"web_search"}`: 1,
	} {
		t.Run(choice, func(t *testing.T) {
			fields := `"instructions":"Be brief.","reasoning":{"effort":"high","summary":"auto"},"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},
				"max_output_tokens":100,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","parallel_tool_calls":true,"truncation":"auto","vendor":{"a":[1]},"store":false,"tool_choice":` + choice
			p := newProvider(t, []string{responsesPath}, answer(responsesPath, false, says("Yes.")))
			d := newDoor(t, p, nil)
			status, reply := d.post(t, "/v1/responses", fmt.Sprintf(`{"model":"scripted/m","input":%s,"tools":[%s],%s}`, richInput, richTools, fields))
			if status != 200 {
				t.Fatalf("status %d: %s", status, reply)
			}
			got := p.got()[0].body
			want := gjson.Parse("{" + fields + `,"input":` + richInput + "}")
			want.ForEach(func(key, value gjson.Result) bool {
				if !sameJSON(t, got.Get(key.String()).Raw, value.Raw) {
					t.Errorf("%s arrived as %s", key, got.Get(key.String()).Raw)
				}
				return true
			})
			sent, tools := gjson.Parse("["+richTools+"]").Array(), got.Get("tools").Array()
			if len(tools) != len(sent)+ours {
				t.Fatalf("%d tools arrived, want %d", len(tools), len(sent)+ours)
			}
			for i, tool := range sent {
				if !sameJSON(t, tools[i].Raw, tool.Raw) {
					t.Errorf("a tool arrived as %s", tools[i].Raw)
				}
			}
			for _, tool := range tools[len(sent):] {
				if tool.Get("type").String() != "function" || tool.Get("name").String() != "time__now" {
					t.Errorf("our own tool arrived as %s", tool.Raw)
				}
			}
			if strings.Contains(got.Raw, "messages") || strings.Contains(got.Raw, "x_pointsman") {
				t.Errorf("what is ours is in the request: %s", got.Raw)
			}
		})
	}
}

// messages is richInput for a provider of chat completions.
const messages = `[
	{"role":"system","content":"Be brief."},
	{"role":"developer","content":"Be kind."},
	{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"auto"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,AA==","filename":"a.pdf"}}]},
	{"role":"assistant","content":"I look.","tool_calls":[
		{"id":"c1","type":"function","function":{"name":"echo","arguments":"{\"x\":1}"}},
		{"id":"c2","type":"custom","custom":{"name":"apply_patch","input":"*** Begin"}},
		{"id":"c3","type":"function","function":{"name":"local_shell_call","arguments":"{\"type\":\"exec\",\"command\":[\"ls\"]}"}}]},
	{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},
	{"role":"tool","tool_call_id":"c2","content":"Done"},
	{"role":"tool","tool_call_id":"c3","content":"files"},
	{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,BB=="}}]},
	{"role":"user","content":"And now?"}]`

// TestTranslated: a provider of chat completions gets all that it has a place for,
// and calls of a namespace's tools go back as what they are.
func TestTranslated(t *testing.T) {
	turn := []said{calling("c9", "probe__view", "{}"), calling("c8", "echo", "{}"), {call: "apply_patch", custom: true, id: "c7", arguments: "*** End"}}
	for _, stream := range []bool{false, true} {
		choice, ours := `{"type":"function","name":"view"}`, ""
		if stream { // now with a tool of ours
			choice, ours = `"auto"`, `,{"type":"function","function":{"name":"time__now","description":"Tell the time.","parameters":{"properties":{},"type":"object"}}}`
		}
		p := newProvider(t, []string{chatPath}, answer(chatPath, stream, turn...))
		d := newDoor(t, p, nil)
		status, reply := d.post(t, "/v1/responses", fmt.Sprintf(`{"model":"scripted/m","stream":%v,"input":%s,"tools":[%s],"instructions":"Be brief.","reasoning":{"effort":"high"},
			"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}},"max_output_tokens":100,"prompt_cache_key":"k","store":true,
			"include":["reasoning.encrypted_content"],"temperature":0.5,"tool_choice":%s}`, stream, richInput, richTools, choice))
		if status != 200 {
			t.Fatalf("status %d: %s", status, reply)
		}
		got := p.got()[1].body // the first has found out that there is no Responses API
		if !sameJSON(t, got.Get("messages").Raw, messages) {
			t.Errorf("the messages that arrived are\n%s", got.Get("messages").Raw)
		}
		tools := `[
			{"type":"function","function":{"name":"echo","parameters":{"type":"object"},"strict":false}},
			{"type":"function","function":{"name":"probe__view","parameters":{"type":"object"}}},
			{"type":"function","function":{"name":"view","parameters":{"type":"object"},"strict":null,"vendor":true}},
			{"type":"custom","custom":{"name":"apply_patch","description":"Patch.","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /.+/"}}}}` + ours + "]"
		if !sameJSON(t, got.Get("tools").Raw, tools) {
			t.Errorf("the tools that arrived are\n%s", got.Get("tools").Raw)
		}
		const fields = `{"reasoning_effort":"high","verbosity":"low","max_tokens":100,"temperature":0.5,
			"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"},"strict":true}}}`
		gjson.Parse(fields).ForEach(func(key, value gjson.Result) bool {
			if !sameJSON(t, got.Get(key.String()).Raw, value.Raw) {
				t.Errorf("%s arrived as %s", key, got.Get(key.String()).Raw)
			}
			return true
		})
		if choice := got.Get("tool_choice"); !stream && choice.Get("function.name").String() != "view" || stream && choice.String() != "auto" {
			t.Errorf("tool_choice arrived as %s", choice.Raw)
		}
		for _, left := range []string{"input", "instructions", "text", "reasoning", "store", "include", "prompt_cache_key", "max_output_tokens"} {
			if got.Get(left).Exists() {
				t.Errorf("%s arrived", left)
			}
		}
		response := gjson.ParseBytes(reply)
		if stream {
			response = checkStream(t, readEvents(t, reply))
		}
		if got, want := outline(response.Get("output")), "function_call:view{}@probe function_call:echo{}@probe custom_tool_call:apply_patch*** End"; got != want {
			t.Errorf("the output is %s, want %s", got, want)
		}
		if notices := response.Get("x_gateway.notices").Raw; !strings.Contains(notices, "web_search") {
			t.Errorf("the notices are %s", notices)
		}
	}
}

// TestTurnToTurn: what was hidden of a turn of a caller of the Responses API is
// put back when it sends the results of its own calls.
func TestTurnToTurn(t *testing.T) {
	for _, path := range []string{chatPath, responsesPath} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", path[1:], stream), func(t *testing.T) {
				p := newProvider(t, []string{path},
					answer(path, stream, thinks("one"), calling("a", "time__now", "{}")),
					answer(path, stream, thinks("two"), calling("b", "time__now", `{"x":1}`), calling("c", "view", "{}")),
					answer(path, stream, says("Done.")))
				d := newDoor(t, p, nil)
				ask := func(input string) gjson.Result {
					status, reply := d.post(t, "/v1/responses", fmt.Sprintf(`{"model":"scripted/m","stream":%v,"tools":[%s],"input":%s,"reasoning":{"effort":"low"}}`, stream, theirTool, input))
					if status != 200 {
						t.Fatalf("status %d: %s", status, reply)
					}
					if stream {
						return checkStream(t, readEvents(t, reply))
					}
					return gjson.ParseBytes(reply)
				}
				const said = `{"type":"message","role":"user","content":"Look."}`
				first := ask("[" + said + "]").Get("output").Raw
				ask("[" + said + "," + strings.Trim(first, "[]") + `,{"type":"function_call_output","call_id":"c","output":"a view"}]`)
				last := p.got()[len(p.got())-1].body
				got, want := kinds(last.Get("input")), "message reasoning(sealed-one) function_call function_call_output reasoning(sealed-two) function_call function_call function_call_output function_call_output"
				if path == chatPath {
					got, want = fmt.Sprint(last.Get("messages.#.role"), last.Get("messages.#.tool_calls.#.id"), last.Get("messages.#.reasoning_content")),
						`["user","assistant","tool","assistant","tool","tool"] [["a"],["b","c"]] ["one","two"]`
				}
				if got != want {
					t.Errorf("the provider was told\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}
