package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// texts are JSON and what is nearly JSON.
var texts = []string{
	`{}`, `[]`, `{"a":1}`, ` { "a" : [ 1 , { "b" : null } ] , "c" : "d" } `, `{"a":-0.5e+10,"b":[true,false]}`,
	`{"a":"\u00e9\n\"\\"}`, `{"a":"é €"}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{,}`, `{"a":1 "b":2}`, `[1,]`, `[,1]`, `[1 2]`,
	`{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":-}`, `{"a":+1}`, `{"a":nul}`, `{"a":truE}`, `{"a":"`, `{"a":"\`, `{"a":"\x"}`,
	`{"a":"\u12g4"}`, `{"a":"\u12`, "{\"a\":\"\n\"}", "{\"a\":\"\x1f\"}", "{\"a\":\"\x7f\"}", `{a:1}`, `{'a':1}`, `{"a":1}}`, `{"a":1]`, `{"a":[1}`, "{\"a\":\v1}",
}

func FuzzParseBodyAgrees(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAgainstStandardLibrary(t, data)
	})
}

func TestParseBodyAgreesWithTheStandardLibrary(t *testing.T) {
	for _, text := range texts {
		for pad := range 17 {
			checkAgainstStandardLibrary(t, []byte(text))
			checkAgainstStandardLibrary(t, fmt.Appendf(nil, `{"pad":"%s","x":%s}`, strings.Repeat("p", pad), text))
			checkAgainstStandardLibrary(t, bytes.Replace([]byte(text), []byte(`:"`), []byte(`:"`+strings.Repeat("p", pad)), 1))
		}
	}
}

// checkAgainstStandardLibrary holds that an object is taken just when
// encoding/json takes it, and that its members are what gjson finds.
func checkAgainstStandardLibrary(t *testing.T, data []byte) {
	t.Helper()
	b, err := ParseBody(bytes.Clone(data))
	if err != nil {
		said := err.Error()
		object := json.Valid(data) && gjson.ParseBytes(data).IsObject()
		if object && !strings.Contains(said, "UTF-8") && !strings.Contains(said, "deep") && !strings.Contains(said, "twice") {
			t.Fatalf("%q is refused: %v", data, err)
		}
		return
	}
	if !json.Valid(data) {
		t.Fatalf("%q is taken", data)
	}
	n := 0
	gjson.ParseBytes(data).ForEach(func(key, value gjson.Result) bool {
		n++
		if got := string(b.Raw(key.String())); got != value.Raw {
			t.Fatalf("%q: member %q is %q, want %q", data, key.String(), got, value.Raw)
		}
		return true
	})
	if n != len(b.members) {
		t.Fatalf("%q has %d members, want %d", data, len(b.members), n)
	}
}

func TestParseBodyOfManyKeys(t *testing.T) {
	var text strings.Builder
	for i := range 300_000 { // comparing each with each would take minutes
		fmt.Fprintf(&text, `"key%d":%d,`, i, i)
	}
	if _, err := ParseBody([]byte("{" + text.String() + `"end":1}`)); err != nil {
		t.Error(err)
	}
	if _, err := ParseBody([]byte("{" + text.String() + `"key7":1}`)); err == nil || !strings.Contains(err.Error(), `"key7" appears twice`) {
		t.Errorf("error %v, want one that names key7", err)
	}
}

func BenchmarkParseBody(b *testing.B) {
	line := `The model said \"yes\", and the file C:\\temp\\log.txt has the rest.\n`
	data := []byte(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat(line, 100_000/len(line)) + `"}]}`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := ParseBody(data); err != nil {
			b.Fatal(err)
		}
	}
}
