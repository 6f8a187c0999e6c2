package responses_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
	"pointsman/gateway/responses"
)

// FuzzRequest: whatever a caller sends, it is refused, or both kinds of providers
// get JSON; the items that a provider of the Responses API gets are the caller's,
// but for reasoning that leads to nothing.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"input":"x","instructions":"y","stream":true,"tool_choice":"auto"}`))
	f.Add([]byte(`{"input":` + richInput + `,"tools":[` + richTools + `],"tool_choice":{"type":"custom","name":"apply_patch"},"reasoning":{"effort":"low"},"text":{"format":{"type":"json_schema","name":"x"}}}`))
	f.Add([]byte(`{"input":[{"type":"function_call","call_id":"a"},{"type":"x_output","call_id":"a"},{"role":"user"}],"tools":{},"stream_options":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := responses.ParseRequest(data)
		var refused *models.Error
		if err != nil {
			if !errors.As(err, &refused) {
				t.Fatalf("refused by %T: %v", err, err)
			}
			return
		}
		native, chat := req.Body.Clone(), req.Body.Clone()
		responses.Dialect{}.Request(native)
		responses.Dialect{}.Chat(&models.Deployment{Provider: "other"}, chat)
		for _, body := range [][]byte{req.Body.Bytes(), native.Bytes(), chat.Bytes()} {
			if !models.Valid(body) {
				t.Fatalf("this is no JSON: %s", body)
			}
		}
		if strings.Contains(string(data), "x_pointsman") {
			return // what is ours in a request is not looked for below
		}
		if bytes.Contains(chat.Bytes(), []byte(models.ItemsMember)) {
			t.Fatalf("a provider of chat completions gets what is ours: %s", chat.Bytes())
		}
		sent := models.Elements([]byte(gjson.GetBytes(data, "input").Raw))
		for _, item := range native.Elements("input") {
			for len(sent) > 0 && !bytes.Equal(sent[0], item) && gjson.GetBytes(sent[0], "type").String() == "reasoning" {
				sent = sent[1:]
			}
			if len(sent) > 0 && !bytes.Equal(sent[0], item) {
				t.Fatalf("the item %s became %s", sent[0], item)
			}
			sent = sent[min(1, len(sent)):]
		}
	})
}

// FuzzEvents: whatever events a provider sends, they are refused or made chunks,
// and those a stream of numbered events that ends once.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(responseStream([]said{thinks("hm"), says("Hello"), calling("a", "view", `{}`), {raw: `{"type":"vendor_thing"}`}})))
	f.Add([]byte(`{"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"x"}]},{"type":"function_call","call_id":"a"}],"usage":{}}}`))
	f.Add([]byte(`{"type":"response.output_text.delta","output_index":-1,"delta":7}` + "\n" + `{"type":"error","error":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := responses.ParseRequest([]byte(`{"input":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, keep := range []bool{false, true} {
			translation := responses.Dialect{}.Translation(keep)
			sequence, ends := int64(0), 0
			writer := responses.NewWriter(req, func(kind string, data []byte) {
				if !models.Valid(data) || gjson.GetBytes(data, "sequence_number").Int() != sequence {
					t.Fatalf("event %d is %s", sequence, data)
				}
				sequence++
				if kind == "response.completed" || kind == "response.incomplete" || kind == "response.failed" {
					ends++
				}
			})
			for line := range bytes.Lines(data) {
				chunks, err := translation.Event(bytes.TrimSpace(line))
				if err != nil {
					break
				}
				for _, chunk := range chunks {
					if string(chunk) == "[DONE]" {
						continue
					}
					if !models.Valid(chunk) {
						t.Fatalf("a chunk is %s", chunk)
					}
					writer.Take(chunk)
				}
			}
			writer.End()
			if ends != 1 {
				t.Fatalf("the stream ends %d times", ends)
			}
			for _, item := range translation.Items() {
				if !models.Valid(item) {
					t.Fatalf("an item is %s", item)
				}
			}
		}
	})
}
