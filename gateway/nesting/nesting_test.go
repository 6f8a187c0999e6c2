package nesting_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pointsman/gateway/nesting"
)

func TestTooDeep(t *testing.T) {
	arrays := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"nothing", "", false},
		{"as deep as may be", arrays(nesting.Most), false},
		{"deeper", arrays(nesting.Most + 1), true},
		{"objects", strings.Repeat(`{"a":`, nesting.Most+1) + "1" + strings.Repeat("}", nesting.Most+1), true},
		{"never closed", strings.Repeat("[", 10_000_000), true},
		{"many beside each other", "[" + strings.Repeat("[],{},", 5000) + "1]", false},
		{"brackets in a string", `["` + strings.Repeat(`[{\"`, 5000) + `"]`, false},
		{"after a string with a quote", `["\"",` + arrays(nesting.Most) + "]", true},
		{"after a string that ends in a backslash", `["\\",` + arrays(nesting.Most) + "]", true},
		{"a string that never ends", `"` + strings.Repeat("[", 5000), false},
	} {
		if got := nesting.TooDeep([]byte(test.text)); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

// FuzzTooDeep compares with the standard library's own count, of what is valid.
func FuzzTooDeep(f *testing.F) {
	for _, seed := range []string{`{"a":["\"",{}]}`, `["[",[[]]]`, `[`, `"\`} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, wrapped uint8) {
		outer := nesting.Most - int(wrapped)%8
		text := append(bytes.Repeat([]byte{'['}, outer), data...)
		text = append(text, bytes.Repeat([]byte{']'}, outer)...)
		got := nesting.TooDeep(text)
		if !json.Valid(text) {
			return // that it ends is enough
		}
		depth, most := 0, 0
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			token, err := d.Token()
			if err != nil {
				break
			}
			switch token {
			case json.Delim('['), json.Delim('{'):
				depth++
			case json.Delim(']'), json.Delim('}'):
				depth--
			}
			most = max(most, depth)
		}
		if want := most > nesting.Most; got != want {
			t.Errorf("%d levels are held to be too deep: %t", most, got)
		}
	})
}
