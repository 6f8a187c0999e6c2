package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pointsman/gateway/tools"
)

func TestNormalizeArguments(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }
	for _, tt := range []struct {
		name, in, want, err string
	}{
		{"empty", "", `{}`, ""},
		{"blank", " \n", `{}`, ""},
		{"null", "null", `{}`, ""},
		{"object", ` {"b": 1, "a": [true, null]} `, `{"b":1,"a":[true,null]}`, ""},
		{"numbers stay exact", `{"n":9007199254740993,"e":1e400,"z":1.0}`, `{"n":9007199254740993,"e":1e400,"z":1.0}`, ""},
		{"markup stays", `{"a":"<b>&"}`, `{"a":"<b>&"}`, ""},
		{"deepest", deep(1000), deep(1000), ""},
		{"too deep", deep(1001), "", "deeper than 1000"},
		{"lists too deep", `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "", "deeper than 1000"},
		{"cut off", `{"a":"b`, "", "cut off"},
		{"cut off after a value", `{"a":1`, "", "cut off"},
		{"malformed", `{a:1}`, "", "not valid JSON"},
		{"trailing comma", `{"a":1,}`, "", "not valid JSON"},
		{"list", `[1]`, "", "must be a JSON object; got a list"},
		{"string", `"x"`, "", "must be a JSON object; got a string"},
		{"number", `3`, "", "must be a JSON object; got a number"},
		{"two objects", `{}{}`, "", "one JSON object"},
		{"text after", `{} ok`, "", "one JSON object"},
		{"key twice", `{"a":1,"a":2}`, "", `"a" twice`},
		{"key twice, escaped", `{"a":1,"\u0061":2}`, "", `"a" twice`},
		{"key twice inside", `{"x":[{"a":1,"b":{},"a":2}]}`, "", `"a" twice`},
		{"same key at two levels", `{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, `{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, ""},
		{"not UTF-8", "{\"a\":\"\xff\"}", "", "UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tools.NormalizeArguments(tt.in)
			switch {
			case tt.err == "" && (err != nil || string(got) != tt.want):
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("got error %v, want one about %q", err, tt.err)
			}
		})
	}
}

func FuzzNormalizeArguments(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `[`, `{"a":"\ud800"}`, `{"a":{}}{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := tools.NormalizeArguments(text)
		if err != nil {
			return
		}
		var object map[string]any
		if err := json.Unmarshal(got, &object); err != nil || object == nil {
			t.Fatalf("%q was accepted as %s: %v", text, got, err)
		}
		again, err := tools.NormalizeArguments(string(got))
		if err != nil || string(again) != string(got) {
			t.Errorf("%s becomes %s, %v", got, again, err)
		}
	})
}
