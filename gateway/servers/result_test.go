package servers_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"pointsman/gateway/servers"
)

func TestText(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"text blocks", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb"},
		{"nothing", `{"content":[]}`, "(no output)"},
		{"null structured content", `{"content":[],"structuredContent":null}`, "(no output)"},
		{"structured content alone", `{"structuredContent":{"a": [1, 2]}}`, `{"a":[1,2]}`},
		{"structured content that a text block says", `{"content":[{"type":"text","text":"{\"b\":2, \"a\":1}"}],"structuredContent":{"a":1,"b":2}}`, `{"b":2, "a":1}`},
		{"structured content that differs", `{"content":[{"type":"text","text":"two rows"}],"structuredContent":{"rows":2}}`, "two rows\n{\"rows\":2}"},
		{"large numbers that differ", `{"content":[{"type":"text","text":"{\"n\":9007199254740993}"}],"structuredContent":{"n":9007199254740992}}`,
			"{\"n\":9007199254740993}\n{\"n\":9007199254740992}"},
		{"image", `{"content":[{"type":"image","mimeType":"image/png","data":"aGVsbG8="}]}`, "[image image/png, 5 bytes]"},
		{"audio", `{"content":[{"type":"audio","mimeType":"audio/wav","data":"aGVsbG8h"}]}`, "[audio audio/wav, 6 bytes]"},
		{"embedded text", `{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"inside"}}]}`, "inside"},
		{"embedded empty text", `{"content":[{"type":"text","text":"x"},{"type":"resource","resource":{"uri":"file:///a","text":""}}]}`, "x\n"},
		{"embedded blob", `{"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"application/zip","blob":"aGk="}}]}`, "[resource file:///a application/zip, 2 bytes]"},
		{"link", `{"content":[{"type":"resource_link","uri":"file:///a","name":"A"}]}`, "[resource file:///a A]"},
		{"unknown block", `{"content":[{"type":"hologram","x":1}]}`, "[hologram]"},
		{"not a result", `{"content":"?"}`, `{"content":"?"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			res := servers.Result{Raw: json.RawMessage(test.raw)}
			if got := res.Text(0); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTextIsCutAtACharacter(t *testing.T) {
	res := servers.Result{Raw: json.RawMessage(`{"content":[{"type":"text","text":"aéé"}]}`)}
	if got, want := res.Text(4), "aé\n[cut: 3 of 5 bytes shown]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := res.Text(5); got != "aéé" {
		t.Errorf("cut what fits: %q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"é"}],"structuredContent":{}}`), 1)
	f.Add([]byte(`{"content":[{"type":"image","data":"=="}]}`), 0)
	f.Fuzz(func(t *testing.T, raw []byte, limit int) {
		res := servers.Result{Raw: raw}
		got := res.Text(limit % 1000)
		if got == "" {
			t.Error("a model gets an empty result")
		}
		if json.Valid(raw) && utf8.Valid(raw) && !utf8.ValidString(got) {
			t.Errorf("no valid text: %q", got)
		}
	})
}
