package models

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBodyRefuses(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"nothing":       {"", "valid JSON"},
		"text":          {"hello", "valid JSON"},
		"array":         {"[1]", "not an array"},
		"string":        {`"x"`, "not a string"},
		"truncated":     {`{"a": [1,`, "valid JSON"},
		"trailing":      {`{"a":1} {"b":2}`, "valid JSON"},
		"bad UTF-8":     {"{\"a\":\"\xff\"}", "UTF-8"},
		"twice":         {`{"a":1,"\u0061":2}`, `"a" appears twice`},
		"deep arrays":   {`{"a":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}`, "1000 deep"},
		"endless depth": {strings.Repeat("[", 10_000_000), "1000 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseBody([]byte(test.in))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestBodyKeepsWhatIsNotChanged(t *testing.T) {
	const in = ` { "model" : "a", "x\u0031" : 1.0e400 , "messages": [ {"role":"user"} , 2 ], "n":null } `
	b, err := ParseBody([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b.Bytes()); got != in {
		t.Errorf("unchanged body became %q", got)
	}
	c := b.Clone()
	c.SetString("model", "b\"")
	c.Delete("n")
	c.Set("new", []byte("true"))
	if got, want := string(c.Bytes()), `{"model":"b\"","x\u0031":1.0e400,"messages":[ {"role":"user"} , 2 ],"new":true}`; got != want {
		t.Errorf("changed body is\n%s, want\n%s", got, want)
	}
	if got := string(b.Bytes()); got != in {
		t.Errorf("changing a clone changed the body to %q", got)
	}
	if got := b.Get("model").String(); got != "a" {
		t.Errorf("model is %q", got)
	}
	var elements []string
	for _, e := range Elements(b.Raw("messages")) {
		elements = append(elements, string(e))
	}
	if diff := cmp.Diff([]string{`{"role":"user"}`, "2"}, elements); diff != "" {
		t.Error(diff)
	}
}

func TestAppendAndAddMember(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{string(Append(nil, []byte("1"))), "[1]"},
		{string(Append([]byte(" [ ] "), []byte("1"), []byte("2"))), "[ 1,2]"},
		{string(Append([]byte("[0 ]"), []byte("1"))), "[0,1]"},
		{string(AddMember([]byte(" {} "), "a", []byte("1"))), `{"a":1}`},
		{string(AddMember([]byte(`{"b":2 }`), "a", []byte("1"))), `{"b":2,"a":1}`},
	} {
		var got, want any
		if json.Unmarshal([]byte(test.got), &got) != nil || json.Unmarshal([]byte(test.want), &want) != nil || !cmp.Equal(got, want) {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func FuzzParseBody(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":"\\\""}`, `{"a":[{"b":[]}],"c":null}`, `{"a":1,"a":2}`, "{\"\\ud800\":1}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		b, err := ParseBody([]byte(in))
		if err != nil {
			return
		}
		b.Set("added by us", []byte(`[1]`))
		if !json.Valid(b.Bytes()) {
			t.Fatalf("%q became invalid JSON %q", in, b.Bytes())
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal([]byte(in), &before) != nil {
			return // gjson is more lenient about escapes than encoding/json
		}
		if err := json.Unmarshal(b.Bytes(), &after); err != nil {
			t.Fatal(err)
		}
		delete(after, "added by us")
		delete(before, "added by us")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("%q changed: %s", in, diff)
		}
	})
}
