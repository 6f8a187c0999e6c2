package model_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/elicit"
	"pointsman/ui/model"
)

func TestPageOf(t *testing.T) {
	for address, want := range map[string]model.Page{
		"https://example.com":                {Before: "https://", Host: "example.com"},
		"https://example.com/a?b=c#d":        {Before: "https://", Host: "example.com", After: "/a?b=c#d"},
		"http://127.0.0.1:8080?x":            {Before: "http://", Host: "127.0.0.1:8080", After: "?x"},
		"https://[::1]:443/":                 {Before: "https://", Host: "[::1]:443", After: "/"},
		"https://раураl.example/login":       {Before: "https://", Host: "xn--l-7sba6dbr.example", After: "/login"},
		"https://example.com/@evil.example/": {Before: "https://", Host: "example.com", After: "/@evil.example/"},
		"https://example.com/\u202egnp.exe":  {Before: "https://", Host: "example.com", After: "/<U+202E>gnp.exe"},
	} {
		got, err := model.PageOf(address)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", address, got, err, want)
		}
	}
	if _, err := model.PageOf("javascript:alert(1)"); err == nil {
		t.Error("a script is a page")
	}
}

func TestQuestionWords(t *testing.T) {
	q := elicit.Question{Server: "s\u202e", Deadline: time.Date(2126, 1, 1, 12, 5, 0, 0, time.UTC)}
	if got := model.QuestionHead(q); strings.Contains(got, "\u202e") {
		t.Errorf("the head hides something: %q", got)
	}
	for want, tools := range map[string][]string{
		"of its own accord": nil, "while its tool t runs": {"t"}, "while 2 calls of its tools run": {"t", "u"},
	} {
		q.Tools = tools
		if got := model.QuestionCause(q, time.UTC); !strings.Contains(got, want) || !strings.Contains(got, "12:05:00") {
			t.Errorf("got %q, want it to say %q", got, want)
		}
	}
	if _, body := model.QuestionNotice([]elicit.Question{q, q, q, q}); !strings.HasSuffix(body, "and 1 more") || strings.Contains(body, "\u202e") {
		t.Errorf("the notice says %q", body)
	}
}

func TestFieldWords(t *testing.T) {
	one, three := 1.0, 3.0
	for want, f := range map[string]elicit.Field{
		"":                                      {Kind: elicit.Text, Required: true},
		"Can be left empty.":                    {Kind: elicit.Text},
		"What. From 1 to 3 characters.":         {Kind: elicit.Text, Required: true, Description: "What.", Min: &one, Max: &three},
		"At most 3 of them. Can be left empty.": {Kind: elicit.Choices, Max: &three},
		"At least 1.":                           {Kind: elicit.Integer, Required: true, Min: &one},
		"A title too long for a label.":         {Kind: elicit.Switch, Title: "A title too long for a label"},
	} {
		if got := model.FieldHint(f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, preset := range map[string]string{"a": `"a"`, "1.5": `1.5`, "": ``} {
		f := elicit.Field{}
		if preset != "" {
			f.Default = json.RawMessage(preset)
		}
		if got := model.FieldPreset(f); got != want {
			t.Errorf("a field preset to %s holds %q", preset, got)
		}
	}
}
