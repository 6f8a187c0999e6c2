package responses_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// TestRefused says what of a request is refused, and how.
func TestRefused(t *testing.T) {
	tests := []struct {
		name, body  string
		status      int
		param, code string
		message     string
	}{
		{"no JSON", `{`, 400, "", "invalid_request", "not valid JSON"},
		{"no input", `{"model":"scripted/m"}`, 400, "input", "invalid_request", "input is missing"},
		{"empty input", `{"model":"scripted/m","input":[]}`, 400, "input", "invalid_request", "input is empty"},
		{"input of another type", `{"model":"scripted/m","input":7}`, 400, "input", "invalid_request", "must be a text or a list"},
		{"an item that is no object", `{"model":"scripted/m","input":["x"]}`, 400, "input", "invalid_request", "input[0] must be an object"},
		{"an item that is nothing", `{"model":"scripted/m","input":[{}]}`, 400, "input", "invalid_request", "input[0] has neither"},
		{"a reference", `{"model":"scripted/m","input":[{"type":"item_reference","id":"msg_1"}]}`, 400, "input", "invalid_request", `the item "msg_1"`},
		{"an earlier response", `{"model":"scripted/m","input":"x","previous_response_id":"resp_\"1"}`, 400, "previous_response_id", "previous_response_not_found", `id 'resp_"1' not found`},
		{"a conversation", `{"model":"scripted/m","input":"x","conversation":{"id":"conv_1"}}`, 400, "conversation", "invalid_request", "not supported"},
		{"in the background", `{"model":"scripted/m","input":"x","background":true}`, 400, "background", "invalid_request", "not supported"},
		{"an unknown model", `{"model":"nobody","input":"x"}`, 400, "model", "invalid_request", `"nobody" is unknown`},
		{"what the provider refuses", `{"model":"scripted/m","input":"x"}`, 400, "", "", "the script is over"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDoor(t, newProvider(t, []string{chatPath}), nil)
			for _, stream := range []bool{false, true} {
				body := test.body
				if stream {
					body = strings.Replace(body, `{"model"`, `{"stream":true,"model"`, 1)
				}
				status, reply := d.post(t, "/v1/responses", body)
				e := gjson.GetBytes(reply, "error")
				if status != test.status || e.Get("param").String() != test.param || e.Get("code").String() != test.code || !strings.Contains(e.Get("message").String(), test.message) {
					t.Errorf("stream %v: status %d, %s", stream, status, reply)
				}
			}
		})
	}
}

// TestBrokenStream says how a stream ends that breaks: by response.failed when it
// has begun, else by an error status.
func TestBrokenStream(t *testing.T) {
	begun := strings.Split(responseStream([]said{says("Hello")}), "\n")
	tests := []struct {
		name, path, stream string
		status             int
		message            string
		code               string
	}{
		{"failed at once", responsesPath, begun[0] + "\n" + `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"it broke"}}}`, 502, "it broke", "upstream_error"},
		{"limited at once", responsesPath, begun[0] + "\n" + `{"type":"error","code":"rate_limit_exceeded","message":"too fast"}`, 429, "too fast", "rate_limited"},
		{"failed in the middle", responsesPath, strings.Join(begun[:5], "\n") + "\n@wait\n" + `{"type":"error","error":{"code":"server_error","message":"it broke"}}`, 200, "it broke", "upstream_error"},
		{"cut in the middle", responsesPath, strings.Join(begun[:5], "\n") + "\n@wait", 200, "ended in the middle", "upstream_error"},
		{"no JSON in the middle", responsesPath, strings.Join(begun[:5], "\n") + "\n@wait\n{", 200, "not JSON", "upstream_error"},
		{"chat, cut in the middle", chatPath, chunk(`{"content":"Hel"}`, "null") + "\n@wait", 200, "ended in the middle", "upstream_error"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDoor(t, newProvider(t, []string{test.path}, test.stream), nil)
			status, reply := d.post(t, "/v1/responses", `{"model":"scripted/m","stream":true,"input":"x"}`)
			failure := gjson.GetBytes(reply, "error")
			if test.status == 200 {
				events := readEvents(t, reply)
				last := events[len(events)-1]
				if last.name != "response.failed" || last.data.Get("response.status").String() != "failed" {
					t.Errorf("the last event is %s: %s", last.name, last.data.Raw)
				}
				failure = last.data.Get("response.error")
			}
			if status != test.status || !strings.Contains(failure.Get("message").String(), test.message) || failure.Get("code").String() != test.code {
				t.Errorf("status %d, %s", status, failure.Raw)
			}
		})
	}
}

// TestOddStreams has providers that leave events out.
func TestOddStreams(t *testing.T) {
	turn := []said{thinks("hm"), says("Hello"), calling("a", "view", `{"x":1}`), {raw: `{"id":"v_3","type":"vendor_thing","x":1}`}}
	whole := strings.Split(responseStream(turn), "\n")
	without := func(parts ...string) string {
		var kept []string
		for _, line := range whole {
			kind := gjson.Get(line, "type").String()
			drop := false
			for _, part := range parts {
				drop = drop || strings.HasSuffix(kind, part)
			}
			if !drop {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "\n")
	}
	const want = `reasoning:hm message:Hello function_call:view{"x":1} vendor_thing:`
	tests := []struct{ name, stream string }{
		{"all", without()},
		{"no deltas", without(".delta")},
		{"no deltas nor their ends", without(".delta", "text.done", "arguments.done")},
		{"no beginnings of items", without("output_item.added")},
		{"no ends of items", without("output_item.done")},
		{"the last event alone", whole[len(whole)-1]},
		{"a whole object", responseObject(turn, "completed")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body := fmt.Sprintf(`{"model":"scripted/gpt-6-sol","stream":true,"reasoning_effort":"low","reasoning":{"effort":"low"},"input":"x","messages":[{"role":"user","content":"x"}],"tools":[%s]}`, theirTool)
			for _, door := range []string{"/v1/responses", "/v1/chat/completions"} {
				p := newProvider(t, []string{responsesPath}, test.stream)
				d := newDoor(t, p, nil)
				if test.name == "a whole object" {
					p.plainly = true
				}
				status, reply := d.post(t, door, body)
				if status != 200 {
					t.Fatalf("status %d: %s", status, reply)
				}
				if door == "/v1/responses" {
					events := readEvents(t, reply)
					if got := outline(events[len(events)-1].data.Get("response.output")); got != want {
						t.Errorf("the output is\n%s\nwant\n%s", got, want)
					}
					continue
				}
				text, calls, last := chatAnswer(t, true, reply)
				if text != "Hello" || len(calls) != 1 || last.Get("choices.0.finish_reason").String() != "tool_calls" {
					t.Errorf("in chat completions it is %q with the calls %q, finished as %s", text, calls, last.Get("choices.0.finish_reason"))
				}
			}
		})
	}
}

// TestCallerGoes: when the caller goes in the middle of a stream, so does the
// request to the provider.
func TestCallerGoes(t *testing.T) {
	for path, stream := range map[string]string{
		chatPath:      chunk(`{"content":"Hel"}`, "null") + "\n@hold",
		responsesPath: strings.Join(strings.Split(responseStream([]said{says("Hello")}), "\n")[:5], "\n") + "\n@hold",
	} {
		t.Run(path[1:], func(t *testing.T) {
			p := newProvider(t, []string{path}, stream)
			d := newDoor(t, p, nil)
			ctx, leave := context.WithTimeout(t.Context(), 10*time.Second)
			defer leave()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+"/v1/responses", strings.NewReader(`{"model":"scripted/m","stream":true,"input":"x"}`))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if _, err := response.Body.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			leave()
			select {
			case <-p.gone:
			case <-time.After(10 * time.Second):
				t.Error("the provider's request goes on")
			}
		})
	}
}
