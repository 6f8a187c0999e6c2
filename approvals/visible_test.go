package approvals_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pointsman/approvals"
)

func TestVisible(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "rm -rf /tmp/x", "rm -rf /tmp/x"},
		{"letters of all scripts", "grüße 世界 שלום", "grüße 世界 שלום"},
		{"escape sequence", "\x1b[2K\x1b[1Aok", "<U+001B>[2K<U+001B>[1Aok"},
		{"line break", "a\nb\r\tc", "a<U+000A>b<U+000D><U+0009>c"},
		{"C1 control", "a\u009bb", "a<U+009B>b"},
		{"direction override", "a\u202etxt.exe\u202c", "a<U+202E>txt.exe<U+202C>"},
		{"direction isolate", "\u2066a\u2069", "<U+2066>a<U+2069>"},
		{"zero width", "pa\u200bypal\ufeff", "pa<U+200B>ypal<U+FEFF>"},
		{"soft hyphen", "a\u00adb", "a<U+00AD>b"},
		{"tag characters", "a\U000e0041", "a<U+E0041>"},
		{"variation selectors", "a\ufe0f\U000e0100", "a<U+FE0F><U+E0100>"},
		{"fillers", "\u3164\u115f\u2800\u034f", "<U+3164><U+115F><U+2800><U+034F>"},
		{"blanks that are no space", "a\u00a0b\u3000c", "a<U+00A0>b<U+3000>c"},
		{"line separator", "a\u2028b", "a<U+2028>b"},
		{"private use", "\ue000", "<U+E000>"},
		{"bytes that are no text", "a\xff\xc0b", "a<0xFF><0xC0>b"},
		{"the replacement character itself", "\ufffd", "\ufffd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := approvals.Visible(tc.in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	if got := approvals.VisibleText("a\n\tb\x00"); got != "a\n\tb<U+0000>" {
		t.Errorf("VisibleText: %q", got)
	}
}

func TestEscapedJSON(t *testing.T) {
	const doc = "{\r\n\t\"a\u202e\u009b31m\x7f\": \"grüße 世界 \U000e0041\xff\"}"
	const want = "{ \n\t\"a\\u202e\\u009b31m\\u007f\": \"grüße 世界 \\udb40\\udc41\ufffd\"}"
	got := approvals.EscapedJSON([]byte(doc))
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	var before, after map[string]string
	if err := errors.Join(json.Unmarshal([]byte(doc), &before), json.Unmarshal(got, &after)); err != nil || !maps.Equal(before, after) {
		t.Errorf("it means %q, and meant %q: %v", after, before, err)
	}
}

func TestVisibleJSON(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"laid out, in its own order", `{"b":1,"a":[true,null]}`, "{\n  \"b\": 1,\n  \"a\": [\n    true,\n    null\n  ]\n}"},
		{"escapes that hide letters", `{"c":"\u0072\u006d -rf \u003c"}`, "{\n  \"c\": \"rm -rf <\"\n}"},
		{"escapes that hide controls", `["\u202e\u001b"]`, "[\n  \"<U+202E>\\u001b\"\n]"},
		{"a line break in text", `["a\nb"]`, "[\n  \"a\\nb\"\n]"},
		{"quotes and backslashes", `["a\"b\\"]`, "[\n  \"a\\\"b\\\\\"\n]"},
		{"a key twice", `{"a":1,"a":2}`, "{\n  \"a\": 1,\n  \"a\": 2\n}"},
		{"not JSON", "{\x1b", "{<U+001B>"},
		{"nothing", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := approvals.VisibleJSON(json.RawMessage(tc.in)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[0m", "a\u202eb", "\xff", `{"a":"\u202e\\"}`, "\U000e0001", `["`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		one, all := approvals.Visible(s), approvals.VisibleJSON(json.RawMessage(s))
		for _, out := range []string{one, all} {
			if !utf8.ValidString(out) {
				t.Errorf("%q is no text", out)
			}
			for _, r := range out {
				if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
					t.Errorf("%U is left in %q", r, out)
				}
			}
		}
		if strings.ContainsAny(one, "\n\t") {
			t.Errorf("%q is more than a line", one)
		}
	})
}
