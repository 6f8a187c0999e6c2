package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/widget"
)

// otherPrograms puts files of other programs into a home of its own.
func otherPrograms(t *testing.T, files map[string]string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("COPILOT_HOME", "")
	t.Setenv("CODEX_HOME", "")
	for path, text := range files {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// importedFiles are servers in many states.
func importedFiles() map[string]string {
	long := strings.Repeat("名前が長い🙂", 50)
	return map[string]string{
		".cursor/mcp.json": `{"mcpServers": {
			"files": {"command": "npx", "args": ["-y", "files", "` + long + `"], "env": {"API_TOKEN": "` + hush + `"}, "envFile": "x"},
			"there": {"command": "theirs"}, "` + long + `": {"command": "x"}}}`,
		".config/Code/User/mcp.json": `{"inputs": [{"type": "promptString", "id": "tok", "description": "The token", "password": true}],
			"servers": {"asks": {"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${input:tok}"}}, "strange": {"command": "${cwd}/x"}}}`,
		".codex/config.toml": "= broken",
	}
}

func TestServersImported(t *testing.T) {
	otherPrograms(t, importedFiles())
	b := newFormsBench(t, gatewaySetup{yaml: "mcpServers:\n  there: {command: ours, disabled: true}\n"})
	s := b.servers()
	b.until("the servers are listed", func() bool { return s.seen })
	b.tap("Import")
	b.sees("Not added: another server is named \"there\"")
	b.sees("this is no TOML")
	b.sees("Without envFile")
	p := s.imports
	for _, name := range []string{"files", "asks"} {
		p.ticks[name] = true
	}
	p.plan()
	b.tap("Add 2 servers")
	b.sees("needs a value")
	b.fill("Goes to the keychain", hush+"2")
	b.tap("Add 2 servers")
	b.sees("Added 2 servers.")
	b.wantFile([]string{"there: {command: ours", "API_TOKEN: keychain:files_API_TOKEN", "Bearer ${keychain:tok}"}, hush)
	if got := b.secret("tok"); got != hush+"2" {
		t.Errorf("the keychain holds %q", got)
	}
	if got := b.secret("files_API_TOKEN"); got != hush {
		t.Errorf("the keychain holds %q", got)
	}
}

func TestServersExported(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "mcpServers:\n  gh: {command: sleep, env: {TOKEN: " + hush + "}, disabled: false}\n"})
	s := b.servers()
	b.until("the servers are listed", func() bool { return s.seen })
	b.tap("Export")
	b.tap("Copy")
	got := b.ui.app.Clipboard().Content()
	if !strings.Contains(got, `"TOKEN": "${GH_TOKEN}"`) || strings.Contains(got, hush) {
		t.Errorf("copied %s", got)
	}
}

func TestExportIsWritten(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{})
	s := b.servers()
	path, note := filepath.Join(t.TempDir(), "mcp.json"), widget.NewLabel("")
	file, err := storage.Writer(storage.NewFileURI(path))
	if err != nil {
		t.Fatal(err)
	}
	s.writeExport(file, "{}\n", note)
	b.until("it is written", func() bool { return note.Text == "It is in "+path })
	if got, err := os.ReadFile(path); err != nil || string(got) != "{}\n" {
		t.Errorf("the file has %q %v", got, err)
	}
}
