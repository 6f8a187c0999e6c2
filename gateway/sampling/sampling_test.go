package sampling_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/models"
	"pointsman/gateway/sampling"
)

func TestBody(t *testing.T) {
	for name, c := range map[string]struct{ params, want string }{
		"text": {
			`{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10,"systemPrompt":"be brief","temperature":0,"stopSequences":["."],"includeContext":"allServers"}`,
			`{"max_tokens":10,"messages":[{"content":"be brief","role":"system"},{"content":"hi","role":"user"}],"model":"m","stop":["."],"stream":false,"temperature":0}`,
		},
		"no more tokens than ours": {
			`{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"maxTokens":100000}`,
			`{"max_tokens":50,"messages":[{"content":"hi","role":"user"}],"model":"m","stream":false}`,
		},
		"image and sound": {
			`{"messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"BB==","mimeType":"audio/wav"}]}],"maxTokens":1}`,
			`{"max_tokens":1,"messages":[{"content":[{"text":"see","type":"text"},{"image_url":{"url":"data:image/png;base64,AA=="},"type":"image_url"},{"input_audio":{"data":"BB==","format":"wav"},"type":"input_audio"}],"role":"user"}],"model":"m","stream":false}`,
		},
		"tools": {
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"done"}]}]}],"maxTokens":1,"tools":[{"name":"t","description":"d","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"}}`,
			`{"max_tokens":1,"messages":[{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":1}","name":"t"},"id":"1","type":"function"}]},{"content":"done","role":"tool","tool_call_id":"1"}],"model":"m","stream":false,"tool_choice":"required","tools":[{"function":{"description":"d","name":"t","parameters":{"type":"object"}},"type":"function"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := sampling.Read(json.RawMessage(c.params))
			if err != nil {
				t.Fatal(err)
			}
			body, err := r.Body("m", 50)
			if err != nil || string(body.Bytes()) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, body.Bytes(), c.want)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	for params, fault := range map[string]string{
		`[]`: "object", `{"maxTokens":1}`: "no messages",
		`{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`:                 "maxTokens",
		`{"maxTokens":1,"messages":[{"role":"system","content":{"type":"text","text":"x"}}]}`: "messages[0]",
		`{"maxTokens":1,"messages":[{"role":"user","content":{"type":"video"}}]}`:             `"video"`,
	} {
		if _, err := sampling.Read(json.RawMessage(params)); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: got %v, want %q", params, err, fault)
		}
	}
}

func TestModel(t *testing.T) {
	model := func(id, tier, by string, aliases ...string) models.Info {
		return models.Info{CatalogueModel: config.CatalogueModel{ID: id, Tier: tier, Aliases: aliases}, OwnedBy: by}
	}
	list := []models.Info{
		model("gpt-6-luna", "low", "openai", "luna"), model("gpt-6-sol", "medium", "openai"), model("gpt-6-astra", "high", "openai"),
		model("other-luna", "low", "other"), model("keyless-big", "high", "keyless"),
	}
	usable := func(id string) bool { return !strings.HasPrefix(id, "keyless") }
	for preferences, want := range map[string]string{
		`{}`:                           "",
		`{"hints":[{"name":"ASTRA"}]}`: "gpt-6-astra",
		`{"hints":[{"name":"claude"},{"name":"other"}],"intelligencePriority":1}`: "other-luna",
		`{"hints":[{"name":"keyless"}]}`:                                          "",
		`{"hints":[{"name":""},{}]}`:                                              "",
		`{"intelligencePriority":0.9,"costPriority":0.2}`:                         "gpt-6-astra",
		`{"speedPriority":0.9,"intelligencePriority":0.2}`:                        "gpt-6-luna",
		`{"costPriority":0.5,"intelligencePriority":0.5}`:                         "",
	} {
		r, err := sampling.Read(json.RawMessage(`{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"modelPreferences":` + preferences + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Model(list, "gpt-6-sol", usable); got != want {
			t.Errorf("%s: got %q, want %q", preferences, got, want)
		}
	}
}

func TestResult(t *testing.T) {
	for name, c := range map[string]struct{ completion, want string }{
		"text":   {`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`, `{"content":{"text":"hi","type":"text"},"model":"m","role":"assistant","stopReason":"endTurn"}`},
		"cut":    {`{"choices":[{"message":{"content":"h"},"finish_reason":"length"}]}`, `{"content":{"text":"h","type":"text"},"model":"m","role":"assistant","stopReason":"maxTokens"}`},
		"silent": {`{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`, `{"content":{"text":"","type":"text"},"model":"m","role":"assistant","stopReason":"endTurn"}`},
		"tools":  {`{"choices":[{"message":{"content":"so","tool_calls":[{"id":"1","function":{"name":"t","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]}`, `{"content":[{"text":"so","type":"text"},{"id":"1","input":{"a":1},"name":"t","type":"tool_use"}],"model":"m","role":"assistant","stopReason":"toolUse"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sampling.Result("m", []byte(c.completion))
			if err != nil || string(got) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
	if _, err := sampling.Result("m", []byte(`{"choices":[]}`)); err == nil {
		t.Error("no answer is taken for one")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{}]}]}],"maxTokens":1,"tools":[{}]}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		r, err := sampling.Read(params)
		if err != nil {
			return
		}
		body, err := r.Body("m", 10)
		if err == nil && gjson.GetBytes(body.Bytes(), "max_tokens").Int() > 10 {
			t.Errorf("asks for more than ours: %s", body.Bytes())
		}
	})
}
