package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"pointsman/gateway/control"
	"pointsman/ui/connect/setup"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// connectFiles are programs in many states.
func connectFiles() map[string]string {
	return map[string]string{
		".cursor/mcp.json":                          "{\n  // mine\n  \"mcpServers\": {\n    \"fs\": {\"command\": \"npx\", \"env\": {\"API_TOKEN\": \"" + hush + "\"}}\n  }\n}\n",
		".config/Code/User/settings.json":           "{}",
		".codex/config.toml":                        "= broken",
		".copilot/settings.json":                    `{"disableAllHooks": true}`,
		".copilot/providers.json":                   `{"providers": [{"name": "a-left-over-with-quite-a-long-name", "baseUrl": "http://127.0.0.1:1"}]}`,
		".config/Claude/claude_desktop_config.json": `{"mcpServers": {"pointsman": {"command": "/an/older/pointsman", "args": ["mcp"]}}}`,
	}
}

// connected opens the Connect screen on a machine with some programs.
func connected(t *testing.T, face theme.Choice, files map[string]string) (*formsBench, *connectScreen) {
	t.Helper()
	otherPrograms(t, files)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "POINTSMAN_HOME", "POINTSMAN_CONFIG", "COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDERS_CONFIG", "PATH"} {
		t.Setenv(name, "")
	}
	b := newFormsBench(t, gatewaySetup{yaml: "default_model: gpt-6-sol\n", face: face})
	b.ui.opts.Home = b.home
	s := newConnectScreen(b.ui).(*connectScreen)
	b.show(s)
	s.watch(model.State{Serving: "127.0.0.1:8640"}, control.Settings{Config: b.store.Config()})
	return b, s
}

// row is a program's row, once it is known.
func (b *formsBench) connectRow(s *connectScreen, client string) *connectRow {
	b.t.Helper()
	var row *connectRow
	b.until("the row of "+client, func() bool {
		for _, r := range s.rows {
			if r.client == client {
				row = r
			}
		}
		return row != nil
	})
	return row
}

func TestConnectPrograms(t *testing.T) {
	b, s := connected(t, theme.Light, connectFiles())
	row := b.connectRow(s, "cursor")
	file := filepath.Join(os.Getenv("HOME"), ".cursor", "mcp.json")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b.sees("not set up: tools")
	b.sees("disableAllHooks")
	b.sees("to be updated: tools")
	b.sees("this is no TOML")

	row.change.OnTapped()
	b.sees("+    \"pointsman\": {")
	if strings.Contains(b.words(), hush) {
		t.Error("a secret is shown")
	}
	b.tap("Apply")
	b.until("it is set up", func() bool { return row.undo.Visible() && row.status.Parts[0].State == setup.Current })
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "pointsman") || !strings.Contains(string(text), "// mine") {
		t.Errorf("the file is %s, %v", text, err)
	}
	row.undo.OnTapped()
	b.until("it is undone", func() bool { return row.status.Parts[0].State == setup.Absent })
	if text, err := os.ReadFile(file); err != nil || string(text) != string(before) {
		t.Errorf("the file is %s, %v", text, err)
	}
	b.sees("restored as it was")
}

// TestConnectShownPlan: a file that changes while its preview is before the user
// is left as it is.
func TestConnectShownPlan(t *testing.T) {
	b, s := connected(t, theme.Light, connectFiles())
	row := b.connectRow(s, "cursor")
	file := filepath.Join(os.Getenv("HOME"), ".cursor", "mcp.json")
	row.change.OnTapped()
	b.sees("+    \"pointsman\": {")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.tap("Apply")
	b.sees("changed since the preview")
	if text, err := os.ReadFile(file); err != nil || string(text) != "{}" {
		t.Errorf("the file is %s, %v", text, err)
	}
}

// TestConnectCopilotsModels: the part that holds the key is asked for by a tick, and
// the key is not in sight.
func TestConnectCopilotsModels(t *testing.T) {
	b, s := connected(t, theme.Light, nil)
	key, err := b.gateway.AccessKey()
	if err != nil {
		t.Fatal(err)
	}
	row := b.connectRow(s, "copilot")
	row.change.OnTapped()
	b.sees("hooks/pointsman.json")
	if strings.Contains(b.words(), "\"providers\"") {
		t.Error("the models are in the change already")
	}
	b.check(alsoModels)
	b.sees("\"providers\"")
	if strings.Contains(b.words(), key) {
		t.Error("the key is shown")
	}
	b.tap("Apply")
	b.until("it is set up", func() bool { return row.status.Parts[2].State == setup.Current })
	if text, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".copilot", "providers.json")); err != nil || !strings.Contains(string(text), key) {
		t.Errorf("the file is %s, %v", text, err)
	}
}

// TestConnectPictures: the screen looks as it was looked at.
func TestConnectPictures(t *testing.T) {
	for _, face := range []theme.Choice{theme.Light, theme.Dark} {
		b, s := connected(t, face, map[string]string{
			".cursor/mcp.json": "{}", ".codex/config.toml": "", ".config/Claude/claude_desktop_config.json": `{"mcpServers": {"pointsman": {"command": "/an/older/pointsman", "args": ["mcp"]}}}`,
		})
		row := b.connectRow(s, "cursor")
		b.until("the key is known", func() bool { return s.key.value != "" })
		words, _ := checkWords([]setup.Check{{Part: "mcp", OK: true, Words: "it answered in 30 ms, with 12 tools"}})
		row.say(words, nil)
		b.window.Resize(fyne.NewSize(860, 1100))
		looksLike(t, "connect-"+string(face)+".png", b.window.Canvas())
	}
}

func TestCheckWords(t *testing.T) {
	words, ok := checkWords([]setup.Check{{Part: "mcp", OK: true, Words: "12 tools"}, {Part: "models", Words: "refused", Fix: "apply it again"}})
	if ok || !strings.HasPrefix(words, "✓ mcp: 12 tools\n✗ models: refused") || !strings.Contains(words, "Apply it again") {
		t.Errorf("it says %q, %v", words, ok)
	}
}

// TestConnectShots takes pictures to be looked at.
func TestConnectShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	for _, face := range []theme.Choice{theme.Light, theme.Dark} {
		b, s := connected(t, face, connectFiles())
		row := b.connectRow(s, "cursor")
		b.arranged("connect-" + string(face))
		row.change.OnTapped()
		b.sees("+    \"pointsman\": {")
		b.arranged("connect-change-" + string(face))
		b.tap("Apply")
		b.until("it is set up", func() bool { return row.undo.Visible() })
		b.connectRow(s, "copilot").change.OnTapped()
		b.sees("hooks/pointsman.json")
		b.arranged("connect-copilot-" + string(face))
		b.tap("Cancel")
		words, _ := checkWords([]setup.Check{{Part: "mcp", OK: true, Words: "it answered in 230 ms, with 12 tools"}, {Part: "models", Words: "asking the endpoint: connection refused", Fix: "start Pointsman: pointsman"}})
		row.say(words, nil)
		b.connectRow(s, "codex").change.OnTapped()
		b.sees("left as it is")
		b.arranged("connect-fault-" + string(face))
		b.tap("Cancel")
		b.window.Resize(fyne.NewSize(860, 1250))
		b.arranged("connect-set-" + string(face))
		e, empty := connected(t, face, nil)
		e.connectRow(empty, "cursor")
		e.arranged("connect-empty-" + string(face))
	}
}
