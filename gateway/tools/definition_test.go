package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pointsman/gateway/tools"
)

const toolJSON = `{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","properties":{"a":{"maximum":9007199254740993}}},
	"annotations":{"title":"A","readOnlyHint":false,"openWorldHint":"yes"},"execution":{"taskSupport":"forbidden"},"id":7}`

func TestParse(t *testing.T) {
	def, err := tools.Parse("srv", json.RawMessage(toolJSON), true)
	if err != nil {
		t.Fatal(err)
	}
	a := def.Annotations
	switch {
	case def.Server != "srv" || def.Name != "t" || def.Title != "T" || def.Description != "d" || !def.Trusted:
		t.Errorf("got %+v", def)
	case string(def.Raw) != toolJSON:
		t.Errorf("Raw is %s", def.Raw)
	case a.Title != "A" || a.ReadOnlyHint == nil || *a.ReadOnlyHint || a.DestructiveHint != nil || a.OpenWorldHint != nil:
		t.Errorf("annotations are %+v", a)
	case !strings.HasPrefix(def.Hash, "sha256:") || len(def.Hash) != len("sha256:")+64:
		t.Errorf("hash is %q", def.Hash)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"no JSON":            `{`,
		"a list":             `[]`,
		"no name":            `{"description":"d"}`,
		"an empty name":      `{"name":""}`,
		"another case":       `{"NAME":"t"}`,
		"a description list": `{"name":"t","description":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := tools.Parse("srv", json.RawMessage(raw), false); err == nil || !strings.Contains(err.Error(), `"srv"`) {
				t.Errorf("got error %v, want one that names the server", err)
			}
		})
	}
}

func TestHash(t *testing.T) {
	base := mustHash(t, toolJSON)
	for _, tt := range []struct {
		name, old, new string
		same           bool
	}{
		{"order of keys", `"name":"t","title":"T"`, `"title":"T","name":"t"`, true},
		{"whitespace", `{"type":"object",`, "{ \"type\" :\n\"object\" ,", true},
		{"an unknown field", `"id":7`, `"id":8`, true},
		{"the title", `"title":"T"`, `"title":"U"`, false},
		{"the description", `"description":"d"`, `"description":"e"`, false},
		{"the last digit of a number", `9007199254740993`, `9007199254740992`, false},
		{"a hint", `"readOnlyHint":false`, `"readOnlyHint":true`, false},
		{"a hint gone", `"readOnlyHint":false,`, ``, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(toolJSON, tt.old, tt.new, 1)
			if changed == toolJSON {
				t.Fatal("nothing was replaced")
			}
			if got := mustHash(t, changed); (got == base) != tt.same {
				t.Errorf("hash equal: %v, want %v", got == base, tt.same)
			}
		})
	}
}

func mustHash(t *testing.T, raw string) string {
	t.Helper()
	def, err := tools.Parse("srv", json.RawMessage(raw), false)
	if err != nil {
		t.Fatal(err)
	}
	return def.Hash
}
