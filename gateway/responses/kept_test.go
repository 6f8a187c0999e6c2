package responses_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestTheirs: calls that the caller alone can answer go back to it, also under names
// that nobody has offered, beside a tool of ours.
func TestTheirs(t *testing.T) {
	tests := []struct{ name, input, call, want string }{
		{
			"of a namespace", `"x"`, `{"id":"fc_0","type":"function_call","call_id":"a","name":"loaded","namespace":"probe","arguments":"{}","status":"completed"}`,
			"function_call:loaded{}@probe",
		},
		{
			"of a kind of its own", `"x"`, `{"id":"lsc_0","type":"local_shell_call","call_id":"a","action":{"type":"exec","command":["ls"]},"status":"completed"}`,
			"local_shell_call:",
		},
		{
			"that a search has found", `[{"type":"tool_search_output","call_id":"s","execution":"client","tools":[{"type":"function","name":"loaded"}]},{"role":"user","content":"x"}]`,
			`{"id":"fc_0","type":"function_call","call_id":"a","name":"loaded","arguments":"{}","status":"completed"}`, "function_call:loaded{}",
		},
	}
	for _, test := range tests {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", test.name, stream), func(t *testing.T) {
				p := newProvider(t, []string{responsesPath}, answer(responsesPath, stream, said{raw: test.call}, calling("b", "time__now", "{}")))
				d := newDoor(t, p, nil)
				status, reply := d.post(t, "/v1/responses", fmt.Sprintf(`{"model":"scripted/m","stream":%v,"input":%s}`, stream, test.input))
				if status != 200 {
					t.Fatalf("status %d: %s", status, reply)
				}
				response := gjson.ParseBytes(reply)
				if stream {
					events := readEvents(t, reply)
					response = events[len(events)-1].data.Get("response")
				}
				if got := outline(response.Get("output")); got != test.want {
					t.Errorf("the output is %q, want %q", got, test.want)
				}
				if len(d.ran) != 1 || len(p.got()) != 1 {
					t.Errorf("%d calls of ours ran in %d rounds", len(d.ran), len(p.got()))
				}
			})
		}
	}
}

// TestIncomplete: an answer that was cut says so, and why.
func TestIncomplete(t *testing.T) {
	for _, path := range []string{chatPath, responsesPath} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", path[1:], stream), func(t *testing.T) {
				reply := strings.NewReplacer(`"finish_reason":"stop"`, `"finish_reason":"length"`,
					`"status":"completed","model"`, `"status":"incomplete","model"`, `"incomplete_details":null`, `"incomplete_details":{"reason":"max_output_tokens"}`,
					`,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":1}`, "", `response.completed`, `response.incomplete`,
				).Replace(answer(path, stream, says("Hel")))
				d := newDoor(t, newProvider(t, []string{path}, reply), nil)
				_, body := d.post(t, "/v1/responses", fmt.Sprintf(`{"model":"scripted/m","stream":%v,"input":"x"}`, stream))
				response := gjson.ParseBytes(body)
				if stream {
					events := readEvents(t, body)
					response = checkStream(t, events)
					if last := events[len(events)-1].name; last != "response.incomplete" {
						t.Errorf("the last event is %s", last)
					}
				}
				for path, want := range map[string]string{
					"status": "incomplete", "incomplete_details.reason": "max_output_tokens", "output.0.content.0.text": "Hel", "usage.output_tokens": "2",
				} {
					if got := response.Get(path).String(); got != want {
						t.Errorf("%s is %q, want %q", path, got, want)
					}
				}
				if !response.Get("usage.output_tokens_details.reasoning_tokens").Exists() || !response.Get("usage.input_tokens_details.cached_tokens").Exists() {
					t.Errorf("the usage is %s", response.Get("usage").Raw)
				}
				if path == chatPath && response.Get("output.0.status").String() != "incomplete" {
					t.Errorf("the item is %s", response.Get("output.0").Raw)
				}
			})
		}
	}
}

// TestThoughtsReturn: what a provider of chat completions has let be known of its
// thoughts goes back to it in its own words, and to no provider that seals them.
func TestThoughtsReturn(t *testing.T) {
	const input = `[{"role":"user","content":"x"},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]},{"type":"function_call","call_id":"a","name":"view","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"v"}]`
	for path, want := range map[string]string{chatPath: `["hm"]`, responsesPath: "[]"} {
		p := newProvider(t, []string{path}, answer(path, false, says("Done.")))
		d := newDoor(t, p, nil)
		if status, reply := d.post(t, "/v1/responses", `{"model":"scripted/m","input":`+input+`}`); status != 200 {
			t.Fatalf("status %d: %s", status, reply)
		}
		got := p.got()
		last := got[len(got)-1].body
		told := last.Get("messages.#.reasoning_content").Raw
		if path == responsesPath {
			told = last.Get(`input.#(type=="reasoning")#`).Raw
		}
		if told != want {
			t.Errorf("%s: the provider was told %s, want %s", path, told, want)
		}
	}
}

// TestOrphans: reasoning that led to calls of ours, which the caller has not seen,
// stays away from a provider that would miss them.
func TestOrphans(t *testing.T) {
	sealed := func(id string) string {
		return fmt.Sprintf(`{"type":"reasoning","id":%q,"summary":[],"encrypted_content":%q}`, id, id)
	}
	p := newProvider(t, []string{responsesPath}, answer(responsesPath, false, says("Done.")))
	d := newDoor(t, p, nil)
	input := strings.Join([]string{
		`{"type":"message","role":"user","content":"x"}`, sealed("a"), sealed("b"), `{"type":"message","role":"assistant","content":"y"}`, sealed("c"),
		`{"type":"message","role":"user","content":"z"}`, sealed("d"),
	}, ",")
	if status, reply := d.post(t, "/v1/responses", `{"model":"scripted/m","input":[`+input+`]}`); status != 200 {
		t.Fatalf("status %d: %s", status, reply)
	}
	if got, want := kinds(p.got()[0].body.Get("input")), "message reasoning(b) message message"; got != want {
		t.Errorf("the input is %s, want %s", got, want)
	}
}

// TestModelsSayWhere: a model says at which of the door's addresses it answers.
func TestModelsSayWhere(t *testing.T) {
	d := newDoor(t, newProvider(t, nil), nil)
	response, err := http.Get(d.URL + "/v1/models/gpt-6-sol")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := gjson.GetBytes(data, "metadata.endpoints").Raw; got != `["/v1/chat/completions","/v1/responses"]` {
		t.Errorf("the model answers at %s", got)
	}
}
