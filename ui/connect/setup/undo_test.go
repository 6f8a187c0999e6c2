package setup_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"pointsman/ui/connect/setup"
)

// TestUndoChanged: in a file that somebody has changed since, only our entries go,
// and what stood in their place comes back.
func TestUndoChanged(t *testing.T) {
	tests := []struct {
		name, client, part, path, before string
		change                           func(string) string
		has, not                         []string
	}{
		{
			"another server", "cursor", setup.MCP, ".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"fs\": {} // mine\n  }\n}\n",
			func(s string) string { return strings.Replace(s, "\"fs\": {}", "\"fs\": {\"a\": 1}", 1) }, []string{"\"fs\": {\"a\": 1}", "// mine"}, []string{"pointsman"},
		},
		{
			"ours stood there before", "claude-code", setup.MCP, ".claude.json", `{"mcpServers": {"pointsman": {"command": "hand", "args": ["written"]}}}`,
			func(s string) string { return strings.Replace(s, "{", "{\"n\": 1, ", 1) }, []string{"\"n\": 1", "hand", "written"}, []string{"/opt/pointsman"},
		},
		{
			"the key came in", "vscode", setup.Models, ".config/Code/User/chatLanguageModels.json", "[]",
			func(s string) string {
				return strings.Replace(s, `"apiType"`, `"apiKey": "${input:chat.lm.secret.9}", "apiType"`, 1)
			}, []string{"["}, []string{"Pointsman"},
		},
		{
			"a table", "codex", setup.MCP, ".codex/config.toml", "a = 1\n",
			func(s string) string { return s + "\n[b]\nc = 2 # c\n" }, []string{"a = 1", "[b]\nc = 2 # c"}, []string{"pointsman"},
		},
		{
			"providers", "copilot", setup.Models, ".copilot/providers.json", `{"providers": [{"name": "o"}], "models": []}`,
			func(s string) string { return strings.Replace(s, `"o"`, `"other"`, 1) }, []string{`"other"`}, []string{"pointsman", key},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, nil)
			path := b.write(tt.path, tt.before)
			b.apply(tt.client, tt.part)
			changed := tt.change(b.read(path))
			if changed == b.read(path) {
				t.Fatal("nothing was changed")
			}
			b.write(path, changed)
			undone := b.undo(tt.client)
			if !slices.ContainsFunc(undone, func(u setup.Undone) bool {
				return u.Path == path && u.Changed && !u.Exact && strings.Contains(u.Words, "only our entries")
			}) {
				t.Errorf("it says %+v", undone)
			}
			text := b.read(path)
			for _, part := range tt.has {
				if !strings.Contains(text, part) {
					t.Errorf("%q is lost:\n%s", part, text)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(text, part) {
					t.Errorf("%q is still there:\n%s", part, text)
				}
			}
		})
	}
}

// TestApplyOverChange: what somebody has written between two applies is in what
// undoing leaves.
func TestApplyOverChange(t *testing.T) {
	b := newBench(t, nil)
	path := b.write(".cursor/mcp.json", "{}")
	b.apply("cursor")
	b.write(path, strings.Replace(b.read(path), "{", "{ // theirs\n", 1))
	b.Gateway.Program = "/opt/newer"
	b.apply("cursor")
	if text := b.read(path); !strings.Contains(text, "/opt/newer") || !strings.Contains(text, "// theirs") {
		t.Fatalf("applied:\n%s", text)
	}
	b.undo("cursor")
	if text := b.read(path); strings.Contains(text, "pointsman") || !strings.Contains(text, "// theirs") {
		t.Errorf("undone:\n%s", text)
	}
}

// TestHooksChanged: what somebody made of the hooks file is kept aside.
func TestHooksChanged(t *testing.T) {
	b := newBench(t, nil)
	b.apply("copilot", setup.Hooks)
	path := b.write(".copilot/hooks/pointsman.json", `{"theirs": 1}`)
	undone, err := b.Undo(t.Context(), "copilot", setup.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the hooks file is still there: %v", err)
	}
	_, aside, _ := strings.Cut(undone[0].Words, " is in ")
	if got := b.read(aside); got != `{"theirs": 1}` {
		t.Errorf("kept aside: %q", got)
	}
}
