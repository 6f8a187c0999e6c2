package ollama_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/models"
	"pointsman/gateway/ollama"
)

const (
	png  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	head = `"model":"m","stream":false`
)

func TestChat(t *testing.T) {
	for name, test := range map[string]struct {
		asked, want string
		efforts     []string
	}{
		"streamed unless said otherwise": {
			`{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`, nil,
		},
		"plain": {`{` + head + `,"messages":[{"role":"system","content":"s"}],"tools":[],"format":"","options":null,"think":null}`, `{"model":"m","messages":[{"role":"system","content":"s"}]}`, nil},
		"options": {
			`{` + head + `,"messages":[{"role":"user","content":"x"}],"options":{"temperature":0,"top_p":0.9,"seed":7,"stop":["a","b"],"num_predict":12,"presence_penalty":1,
				"frequency_penalty":-1,"num_ctx":8192,"top_k":40,"mirostat":null,"repeat_penalty":"x"}}`,
			`{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":0,"top_p":0.9,"seed":7,"stop":["a","b"],"max_tokens":12,"presence_penalty":1,"frequency_penalty":-1}`, nil,
		},
		"as much as there is": {`{` + head + `,"messages":[{"role":"user","content":"x"}],"options":{"num_predict":-1,"stop":[],"seed":null}}`, `{"model":"m","messages":[{"role":"user","content":"x"}]}`, nil},
		"json":                {`{` + head + `,"messages":[{"role":"user","content":"x"}],"format":"json"}`, `{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_object"}}`, nil},
		"schema": {
			`{` + head + `,"messages":[{"role":"user","content":"x"}],"format":{"type":"object"}}`,
			`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}}`, nil,
		},
		"think":                    {`{` + head + `,"messages":[{"role":"user","content":"x"}],"think":true}`, `{"model":"m","messages":[{"role":"user","content":"x"}]}`, []string{"none", "low"}},
		"think hard":               {`{` + head + `,"messages":[{"role":"user","content":"x"}],"think":"high"}`, `{"model":"m","messages":[{"role":"user","content":"x"}],"reasoning_effort":"high"}`, nil},
		"do not think":             {`{` + head + `,"messages":[{"role":"user","content":"x"}],"think":false}`, `{"model":"m","messages":[{"role":"user","content":"x"}],"reasoning_effort":"none"}`, []string{"none", "low"}},
		"cannot help but to think": {`{` + head + `,"messages":[{"role":"user","content":"x"}],"think":false}`, `{"model":"m","messages":[{"role":"user","content":"x"}]}`, []string{"low"}},
		"image": {
			`{` + head + `,"messages":[{"role":"user","content":"see","images":["` + png + `"]}]}`,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}}]}]}`, nil,
		},
		"calls without ids": {
			`{` + head + `,"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"a","arguments":{"x": 1}}},{"function":{"name":"b"}}]},
				{"role":"tool","tool_name":"b","content":"B"},{"role":"tool","name":"a","content":"A"}]}`,
			`{"model":"m","messages":[{"role":"assistant","content":"","tool_calls":[
				{"id":"call_0_0","type":"function","function":{"name":"a","arguments":"{\"x\":1}"}},{"id":"call_0_1","type":"function","function":{"name":"b","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"call_0_1","content":"B"},{"role":"tool","tool_call_id":"call_0_0","content":"A"}]}`, nil,
		},
		"the same tool twice, and no name": {
			`{` + head + `,"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"i1","function":{"name":"a","arguments":"{}"}},{"id":"i2","function":{"name":"a","arguments":null}}]},
				{"role":"tool","tool_name":"a","content":"1"},{"role":"tool","content":"2"}]}`,
			`{"model":"m","messages":[{"role":"assistant","content":"","tool_calls":[
				{"id":"i1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"i2","type":"function","function":{"name":"a","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"i1","content":"1"},{"role":"tool","tool_call_id":"i2","content":"2"}]}`, nil,
		},
		"a picture in a result": {
			`{` + head + `,"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"i1","function":{"name":"a","arguments":{}}},{"id":"i2","function":{"name":"b","arguments":{}}}]},
				{"role":"tool","tool_call_id":"i1","content":"1","images":["` + png + `"]},{"role":"tool","tool_call_id":"i2","content":"2"},{"role":"user","content":"so?"}]}`,
			`{"model":"m","messages":[{"role":"assistant","content":"","tool_calls":[
				{"id":"i1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"i2","type":"function","function":{"name":"b","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"i1","content":"1"},{"role":"tool","tool_call_id":"i2","content":"2"},
				{"role":"user","content":[{"type":"text","text":"The images of the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}}]},
				{"role":"user","content":"so?"}]}`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			chat, err := ollama.ParseChat([]byte(test.asked))
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(chat.Body(test.efforts).Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the request differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChatRefusals(t *testing.T) {
	for name, test := range map[string]struct{ asked, says string }{
		"no JSON":              {`hello`, "not valid JSON"},
		"a key twice":          {`{"model":"m","model":"n"}`, "appears twice"},
		"a number for a model": {`{"model":7}`, "model must be a string"},
		"a word for stream":    {`{"stream":"yes"}`, "stream must be true or false"},
		"a text for messages":  {`{"messages":"hi"}`, "messages must be a list"},
		"a text for a message": {`{"messages":["hi"]}`, "messages[0]"},
		"another format":       {`{"messages":[],"format":"xml"}`, `format must be "json"`},
		"a number for think":   {`{"think":3}`, "think must be"},
		"a list of options":    {`{"options":[1]}`, "options must be an object"},
		"a word for a number":  {`{"options":{"temperature":"hot"}}`, "options.temperature must be a number"},
		"a number for stop":    {`{"options":{"stop":3}}`, "options.stop must be a list"},
		"no base64":            {`{"messages":[{"role":"user","content":"x","images":["%%%%"]}]}`, "images[0]: it is no base64"},
		"no image":             {`{"messages":[{"role":"user","content":"x","images":["aGVsbG8gd29ybGQh"]}]}`, "images[0]: it is no image but text/plain"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ollama.ParseChat([]byte(test.asked)); err == nil || !strings.Contains(err.Error(), test.says) || models.AsError(err).Status != 400 {
				t.Errorf("it is refused with %v", err)
			}
		})
	}
}

// TestAnswerWithCalls: calls come in parts, and are told whole, once.
func TestAnswerWithCalls(t *testing.T) {
	for name, test := range map[string]struct {
		parts []string
		want  string // calls of the last line but one, or the error
	}{
		"two, in turn": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
		}, `[{"id":"a","function":{"index":0,"name":"f","arguments":{"x":1}}},{"id":"b","function":{"index":1,"name":"g","arguments":{}}}]`},
		"arguments that are no object": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
			`{"choices":[{"delta":{"content":"more"}}]}`,
		}, `"the model's call of f cannot be passed on: its arguments are not a JSON object"`},
	} {
		t.Run(name, func(t *testing.T) {
			chat, err := ollama.ParseChat([]byte(`{"model":"m","messages":[{"role":"user","content":"x"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			answer := ollama.NewAnswer(chat)
			var out []byte
			for _, part := range test.parts {
				out = answer.Event(out, []byte(part))
			}
			lines := strings.Split(strings.TrimSpace(string(answer.End(out))), "\n")
			var line struct {
				Message struct {
					ToolCalls json.RawMessage `json:"tool_calls"`
				}
				Error json.RawMessage
			}
			if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
				t.Fatal(err)
			}
			got := string(line.Message.ToolCalls)
			if line.Error != nil {
				got = string(line.Error)
				if len(lines) != 1 {
					t.Errorf("the stream goes on behind its error: %q", lines[1:])
				}
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// FuzzChat: whatever a client sends is refused, or becomes a request that can be
// read; whatever a provider sends becomes lines of JSON.
func FuzzChat(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"tool","content":"x","images":["`+png+`"]}],"options":{"stop":"a"},"format":{},"think":"x"}`), []byte(`{"choices":[{"delta":{"content":"x"}}]}`))
	f.Add([]byte(`{"messages":[{"tool_calls":[{"function":{"arguments":[1]}}]}],"keep_alive":"0s"}`), []byte(`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{}}}]},"finish_reason":"stop"}],"usage":{},"x_gateway":{"a":[1e999]}}`))
	f.Fuzz(func(t *testing.T, asked, event []byte) {
		chat, err := ollama.ParseChat(asked)
		if err != nil {
			return
		}
		if _, err := models.ParseObject(chat.Body([]string{"none"}).Bytes()); err != nil {
			t.Fatalf("the request is %s: %v", chat.Body(nil).Bytes(), err)
		}
		if !models.Valid(event) { // the loop passes nothing else on
			return
		}
		answer := ollama.NewAnswer(chat)
		out := answer.End(answer.Waiting(answer.Event(nil, event)))
		for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
			if !json.Valid([]byte(line)) {
				t.Fatalf("a line is %q", line)
			}
		}
	})
}
