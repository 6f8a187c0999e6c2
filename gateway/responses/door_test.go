package responses_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// outline tells items in short: reasoning:hm message:Hello function_call:view{}.
func outline(items gjson.Result) string {
	var list []string
	for _, item := range items.Array() {
		told := item.Get("type").String() + ":"
		for _, path := range []string{"content.#.text", "summary.#.text"} {
			for _, text := range item.Get(path).Array() {
				told += text.String()
			}
		}
		told += item.Get("name").String() + item.Get("arguments").String() + item.Get("input").String()
		if space := item.Get("namespace").String(); space != "" {
			told += "@" + space
		}
		list = append(list, told)
	}
	return strings.Join(list, " ")
}

// checkStream checks the grammar of a stream: sequence numbers without a gap, each
// item begun before it is told of and ended once, under one id and at one place,
// and one last event that repeats the items. It returns the response at the end.
func checkStream(t *testing.T, events []event) gjson.Result {
	t.Helper()
	ids, done := map[int64]string{}, map[int64]string{}
	counts := map[string]int{}
	for i, e := range events {
		kind := e.data.Get("type").String()
		counts[kind]++
		if e.name != kind {
			t.Errorf("event %d is named %q and is of type %q", i, e.name, kind)
		}
		if got := e.data.Get("sequence_number"); !got.Exists() || got.Int() != int64(i) {
			t.Errorf("event %d (%s) has the sequence_number %s", i, kind, got.Raw)
		}
		place := e.data.Get("output_index")
		switch {
		case kind == "response.output_item.added":
			if place.Int() != int64(len(ids)) {
				t.Errorf("the item at %s is added as number %d", place, len(ids))
			}
			ids[place.Int()] = e.data.Get("item.id").String()
		case kind == "response.output_item.done":
			if e.data.Get("item.id").String() != ids[place.Int()] || done[place.Int()] != "" {
				t.Errorf("the item at %s began as %q and ends as %s (ended before: %v)", place, ids[place.Int()], e.data.Get("item.id"), done[place.Int()] != "")
			}
			done[place.Int()] = e.data.Get("item").Raw
		case place.Exists() && e.data.Get("item_id").String() != ids[place.Int()]:
			t.Errorf("%s is about %s at %s, where %q is", kind, e.data.Get("item_id"), place, ids[place.Int()])
		}
	}
	if counts["response.created"] != 1 || counts["response.in_progress"] > 1 || counts["response.completed"]+counts["response.incomplete"]+counts["response.failed"] != 1 {
		t.Errorf("the stream begins and ends %v", counts)
	}
	last := events[len(events)-1].data
	response := last.Get("response")
	for i, item := range response.Get("output").Array() {
		if item.Raw != done[int64(i)] {
			t.Errorf("the response at the end has at %d\n%s, and the item ended as\n%s", i, item.Raw, done[int64(i)])
		}
	}
	if first := events[0].data; first.Get("type").String() != "response.created" || first.Get("response.id").String() != response.Get("id").String() {
		t.Errorf("the stream begins with %s of %s and ends with %s", first.Get("type"), first.Get("response.id"), response.Get("id"))
	}
	if len(done) != len(response.Get("output").Array()) {
		t.Errorf("%d items ended, and the response has %d", len(done), len(response.Get("output").Array()))
	}
	return response
}

const theirTool = `{"type":"function","name":"view","description":"View.","parameters":{"type":"object"},"strict":true}`

// exchange is a request, what a model says to it in one turn after the other, and
// what comes of that.
type exchange struct {
	name   string
	turns  [][]said
	tools  string
	plain  string // the outline of the output; of a stream that of all rounds
	stream string
	ran    int // calls of ours
}

func exchanges() []exchange {
	return []exchange{
		{
			name: "text", turns: [][]said{{says("Hello")}},
			plain: "message:Hello", stream: "message:Hello",
		},
		{
			name: "thought and text", turns: [][]said{{thinks("hm"), says("Hello")}},
			plain: "reasoning:hm message:Hello", stream: "reasoning:hm message:Hello",
		},
		{
			name: "tool of ours", turns: [][]said{{calling("a", "time__now", "{}")}, {says("It is noon")}}, ran: 1,
			plain: "message:It is noon", stream: "message:It is noon",
		},
		{
			name: "tool of theirs", turns: [][]said{{calling("a", "view", `{"x":1}`), calling("b", "view", `{}`)}}, tools: theirTool,
			plain: `function_call:view{"x":1} function_call:view{}`, stream: `function_call:view{"x":1} function_call:view{}`,
		},
		{
			name: "both in one turn", turns: [][]said{{calling("a", "time__now", "{}"), calling("b", "view", "{}")}}, tools: theirTool, ran: 1,
			plain: "function_call:view{}", stream: "function_call:view{}",
		},
		{
			name: "custom tool of theirs", turns: [][]said{{said{call: "patch", custom: true, id: "a", arguments: "*** Begin"}}},
			tools: `{"type":"custom","name":"patch","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/"}}`,
			plain: "custom_tool_call:patch*** Begin", stream: "custom_tool_call:patch*** Begin",
		},
	}
}

// TestResponses has a caller of the Responses API served by both kinds of
// providers, streamed and not.
func TestResponses(t *testing.T) {
	for _, path := range []string{chatPath, responsesPath} {
		for _, stream := range []bool{false, true} {
			for _, test := range exchanges() {
				t.Run(fmt.Sprintf("%s/stream=%v/%s", path[1:], stream, test.name), func(t *testing.T) {
					var replies []string
					for _, turn := range test.turns {
						replies = append(replies, answer(path, stream, turn...))
					}
					p := newProvider(t, []string{path}, replies...)
					d := newDoor(t, p, nil)
					status, reply := d.post(t, "/v1/responses", fmt.Sprintf(`{"model":"scripted/m","stream":%v,"input":"What time is it?","instructions":"Be brief.","tools":[%s]}`, stream, test.tools))
					if status != 200 {
						t.Fatalf("status %d: %s", status, reply)
					}
					response, want := gjson.ParseBytes(reply), test.plain
					if stream {
						response, want = checkStream(t, readEvents(t, reply)), test.stream
					}
					if got := outline(response.Get("output")); got != want {
						t.Errorf("the output is\n%s\nwant\n%s", got, want)
					}
					if len(d.ran) != test.ran {
						t.Errorf("calls of ours that ran: %q, want %d", d.ran, test.ran)
					}
					checkObject(t, response, int64(len(test.turns)), test.tools)
				})
			}
		}
	}
}

// checkObject checks what a response object says beside its items.
func checkObject(t *testing.T, response gjson.Result, rounds int64, tools string) {
	t.Helper()
	for path, want := range map[string]string{
		"object": "response", "status": "completed", "instructions": "Be brief.", "store": "false", "tools": "[" + tools + "]",
		"usage.input_tokens": fmt.Sprint(10 * rounds), "usage.output_tokens_details.reasoning_tokens": fmt.Sprint(rounds), "x_gateway.rounds": fmt.Sprint(rounds),
	} {
		if got := response.Get(path).String(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}
