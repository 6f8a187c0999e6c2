package hooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pointsman/gateway/hooks"
)

// TestDoor: a tool of our own MCP door is allowed at once, and not recorded: the
// door does both.
func TestDoor(t *testing.T) {
	r := newRig(t)
	if v := r.Handle(t.Context(), r.event("pointsman-gpt6_chat", object{"prompt": "x"})); !v.Allow {
		t.Fatalf("the verdict is %+v", v)
	}
	if v := r.Handle(t.Context(), r.asked("pointsman/gpt6_chat", object{"prompt": "x"})); !v.Allow {
		t.Errorf("the answer to Copilot's question is %+v", v)
	}
	r.Handle(t.Context(), r.event("pointsman-gpt6_chat", object{"prompt": "x"}, ran))
	if len(r.rows) > 0 || len(r.alarms) > 0 {
		t.Errorf("%d rows, alarms %q", len(r.rows), r.alarms)
	}
}

func TestDoorNames(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	config := fmt.Sprintf(`{"mcpServers":{
		"ours":   {"command":%q,"args":["mcp"]},
		"chat":   {"command":%q,"args":["chat"]},
		"other":  {"command":"/bin/sh","args":["mcp"]},
		"remote": {"type":"http","url":"http://127.0.0.1:8640/mcp"}}}`, program, program)
	if err := os.WriteFile(filepath.Join(home, "mcp-config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if names := hooks.DoorNames(home, program); !slices.Equal(names, []string{"ours"}) {
		t.Errorf("the names are %q", names)
	}
	if names := hooks.DoorNames(t.TempDir(), program); names != nil {
		t.Errorf("without a file they are %q", names)
	}
	for tool, want := range map[string]string{
		"ours-fs__write_file": "fs__write_file", "ours-": "", "oursx-a": "", "ours": "", "ours-a-b": "", "evil-ours-a": "",
		"ours-" + strings.Repeat("x", 60): "",
	} {
		if own, ok := hooks.DoorTool("ours", tool); ok != (want != "") || ok && own != want {
			t.Errorf("%s is %q, %v", tool, own, ok)
		}
	}
}
