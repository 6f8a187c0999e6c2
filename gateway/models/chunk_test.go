package models

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestParseChunk(t *testing.T) {
	for name, test := range map[string]struct {
		in      string
		ok      bool
		finish  string
		calls   string
		failure string
	}{
		"text":              {in: `{"id":"a","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}`, ok: true},
		"end":               {in: ` {"choices": [ {"delta":{}, "finish_reason": "stop"} ]} `, ok: true, finish: "stop"},
		"calls":             {in: `{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, ok: true, calls: `[{"index":0}]`},
		"calls in the text": {in: `{"choices":[{"delta":{"content":"\"tool_calls\""}}]}`, ok: true},
		"error":             {in: `{"error":{"message":"too many"}}`, ok: true, failure: "too many"},
		"error as text":     {in: `{"error":"no more"}`, ok: true, failure: "no more"},
		"null error":        {in: `{"error":null}`, ok: true},
		"error with text":   {in: `{"error":{"message":"x"},"choices":[{"delta":{"content":"hi"}}]}`, ok: true},
		"no object":         {in: `[1]`, ok: true},
		"odd choices":       {in: `{"choices":[null]}`, ok: true},
		"odd delta":         {in: `{"choices":[{"delta":7,"finish_reason":7}]}`, ok: true},
		"cut":               {in: `{"choices":[{"del`},
		"two":               {in: `{}{}`},
		"nothing":           {in: ` `},
	} {
		t.Run(name, func(t *testing.T) {
			c, ok := ParseChunk([]byte(test.in))
			if ok != test.ok || Text(c.Finish) != test.finish || string(c.Calls) != test.calls || c.Failure() != test.failure {
				t.Errorf("got %v, finish %q, calls %s, failure %q", ok, Text(c.Finish), c.Calls, c.Failure())
			}
		})
	}
}

func FuzzParseChunk(f *testing.F) {
	f.Add([]byte(`{"id":"a","model":"m","usage":{"n":1},"choices":[{"index":0,"delta":{"content":"hi","tool_calls":[]},"finish_reason":"stop"},{}]}`))
	f.Add([]byte(`{"error":{"message":"x"},"choices":[]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := ParseChunk(data)
		var whole map[string]json.RawMessage
		if json.Unmarshal(data, &whole) != nil || bytes.Contains(data, []byte(`\`)) {
			return // no object, or a key that is written with escapes: those are not looked for
		}
		if !ok {
			t.Fatalf("%q is refused", data)
		}
		for key, got := range map[string][]byte{"id": c.ID, "model": c.Model, "usage": c.Usage, "error": c.Error} {
			if want := whole[key]; string(got) != string(want) {
				t.Fatalf("%q: %s is %q, want %q", data, key, got, want)
			}
		}
	})
}
