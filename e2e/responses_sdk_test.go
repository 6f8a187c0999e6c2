package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/gjson"
)

// responded is what an SDK made of a response.
type responded struct {
	Response json.RawMessage `json:"response"`
	Text     string          `json:"text"`  // as it came; of a plain one as the SDK reads it
	Kinds    []string        `json:"kinds"` // of the events
	Error    *sdkError       `json:"error"`
}

func (r responded) at(path string) gjson.Result { return gjson.GetBytes(r.Response, path) }

// respondVia makes one request of the Responses API through each official SDK.
var respondVia = map[string]func(t *testing.T, j job) responded{
	"node": func(t *testing.T, j job) responded {
		var r responded
		runNode(t.Context(), t, "responses.mjs", j, &r)
		return r
	},
	"go": respondViaGo,
}

func respondViaGo(t *testing.T, j job) responded {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := openai.NewClient(option.WithBaseURL(j.BaseURL), option.WithAPIKey(j.APIKey), option.WithMaxRetries(0))
	params := param.Override[responses.ResponseNewParams](j.Body)
	if !j.Stream {
		response, err := client.Responses.New(ctx, params)
		if err != nil {
			return goRefused(t, err)
		}
		return responded{Response: json.RawMessage(response.RawJSON()), Text: response.OutputText()}
	}
	stream := client.Responses.NewStreaming(ctx, params)
	defer stream.Close()
	var r responded
	for stream.Next() {
		event := stream.Current()
		r.Kinds = append(r.Kinds, event.Type)
		switch e := event.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			r.Text += e.Delta
		case responses.ResponseCompletedEvent:
			r.Response = json.RawMessage(e.Response.RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		return goRefused(t, err)
	}
	return r
}

func goRefused(t *testing.T, err error) responded {
	var refused *openai.Error
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	return responded{Error: &sdkError{Status: refused.StatusCode, Code: refused.Code, Message: refused.Message}}
}

// TestResponsesSDKs has the official SDKs speak the Responses API, to both kinds of
// providers.
func TestResponsesSDKs(t *testing.T) {
	t.Parallel()
	const city = `"tools":[{"type":"function","name":"weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}}},"strict":false}]`
	tests := []struct {
		name, script, fields string
		text                 string
		calls                string // names and arguments of the caller's
		code                 string // of the refusal
	}{
		{name: "text", script: "@say Hello, response.", text: "Hello, response."},
		{name: "tool of ours", script: `@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}`, text: "Tools said: roses are red"},
		{name: "tool of theirs", script: `@tool weather {"city":"Rome"}`, fields: "," + city, calls: `weather {"city":"Rome"}`},
		{
			name: "both in one turn", script: `@tool fs__list_directory {"path":"%FOLDER%"}` + "\n" + `@tool weather {"city":"Rome"}`, fields: "," + city,
			calls: `weather {"city":"Rome"}`,
		},
		{name: "refused", script: "@say no", fields: `,"previous_response_id":"resp_1"`, code: "previous_response_not_found"},
	}
	for _, native := range []bool{false, true} {
		setup := withFiles(t, "")
		setup.native = native
		p := serve(t, setup)
		for sdk, ask := range respondVia {
			for i, test := range tests {
				for _, streamed := range []bool{false, true} {
					t.Run(fmt.Sprintf("native=%v/%s/%s/stream=%v", native, sdk, test.name, streamed), func(t *testing.T) {
						script, err := json.Marshal("mark %MARK%\n" + test.script)
						if err != nil {
							t.Fatal(err)
						}
						body := p.fill(fmt.Sprintf(`{"model":"scripted/test","instructions":"Be brief.","input":%s%s}`, script, test.fields), fmt.Sprintf("%s-%d-%v", sdk, i, streamed))
						r := ask(t, job{BaseURL: p.url + "/v1", APIKey: key, Body: body, Stream: streamed})
						if test.code != "" {
							if r.Error == nil || r.Error.Code != test.code || r.Error.Status != 400 {
								t.Errorf("refused with %+v, want %s", r.Error, test.code)
							}
							return
						}
						if r.Error != nil {
							t.Fatalf("refused: %+v", r.Error)
						}
						if !strings.HasPrefix(r.Text, test.text) || test.text == "" && r.Text != "" {
							t.Errorf("the text is %q, want %q", r.Text, test.text)
						}
						var calls []string
						for _, item := range r.at("output").Array() {
							if item.Get("type").String() == "function_call" {
								calls = append(calls, item.Get("name").String()+" "+item.Get("arguments").String())
							}
						}
						expect(t, "the calls", strings.Join(calls, ", "), test.calls)
						expect(t, "the status", r.at("status").String(), "completed")
						expect(t, "the instructions", r.at("instructions").String(), "Be brief.")
						if streamed && (r.Kinds[0] != "response.created" || !slices.Contains(r.Kinds, "response.output_item.done")) {
							t.Errorf("the events are %q", r.Kinds)
						}
					})
				}
			}
		}
	}
}
