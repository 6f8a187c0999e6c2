package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const importToken = "ghp_0123456789abcdefghijABCDEFGHIJ456789"

// importRig is a home with the files of other programs.
func importRig(t *testing.T, config string) *rig {
	t.Helper()
	r := newRig(t, config)
	r.env["HOME"] = t.TempDir()
	for path, text := range map[string]string{
		".cursor/mcp.json":         `{"mcpServers": {"github": {"command": "npx", "args": ["-y", "gh"], "env": {"GITHUB_TOKEN": "` + importToken + `", "LEVEL": "debug"}, "envFile": "x"}, "taken": {"command": "theirs"}}}`,
		".copilot/mcp-config.json": `{"mcpServers": {"plain": {"type": "local", "command": "plain", "tools": ["*"]}}}`,
		".config/Code/User/mcp.json": `{"inputs": [{"type": "promptString", "id": "tok", "description": "The token", "password": true}],
			"servers": {"asks": {"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${input:tok}"}}}}`,
	} {
		path = filepath.Join(r.env["HOME"], path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *rig) file(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.home, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const takenConfig = "# mine\nmcpServers:\n  taken: {command: ours} # stays\n"

func TestImportShowsAndAddsNothing(t *testing.T) {
	r := importRig(t, takenConfig)
	dry := r.must("servers", "import", "--dry-run")
	for _, want := range []string{"npx -y gh", "without envFile", `skipped: another server is named "taken"`, "https://h.example/mcp", "Copilot CLI"} {
		if !strings.Contains(dry.out, want) {
			t.Errorf("%q is not in\n%s", want, dry.out)
		}
	}
	if strings.Contains(dry.out+dry.errors, importToken) {
		t.Error("a secret is shown")
	}
	if e := r.run("y\n", "servers", "import"); e.code != 2 || !strings.Contains(e.errors, "--yes") {
		t.Errorf("without a terminal: %d %s", e.code, e.errors)
	}
	if r.file(t) != takenConfig {
		t.Errorf("the file was changed: %s", r.file(t))
	}
}

func TestImportAdds(t *testing.T) {
	r := importRig(t, takenConfig)
	e := r.must("servers", "import", "--yes")
	file := r.file(t)
	for _, want := range []string{"# mine", "taken: {command: ours} # stays", "command: plain", "GITHUB_TOKEN: keychain:github_GITHUB_TOKEN", "LEVEL: debug"} {
		if !strings.Contains(file, want) {
			t.Errorf("%q is not in\n%s", want, file)
		}
	}
	if strings.Contains(file, importToken) || strings.Contains(file, "theirs") || strings.Contains(file, "asks") {
		t.Errorf("the file has what it must not:\n%s", file)
	}
	if value, err := r.keychain.Get(t.Context(), "github_GITHUB_TOKEN"); err != nil || value != importToken {
		t.Errorf("in the keychain: %q %v", value, err)
	}
	if !strings.Contains(e.errors, "asks is left out") {
		t.Errorf("what needs an answer is not told: %s", e.errors)
	}
	again := r.run("", "servers", "import", "--from", "copilot", "--yes")
	if again.code != 0 || !strings.Contains(again.out, "it is there already") || r.file(t) != file {
		t.Errorf("again: %d %s %s", again.code, again.out, again.errors)
	}
	r.must("servers", "import", "--from", "cursor", "--yes", "--rename")
	if !strings.Contains(r.file(t), "taken-2:\n    command: theirs") {
		t.Errorf("nothing was renamed:\n%s", r.file(t))
	}
}

func TestExportServers(t *testing.T) {
	r := newRig(t, "mcpServers:\n  gh: {command: npx, env: {T: \"keychain:gh\"}}\n  off: {command: x, disabled: true}\n")
	e := r.must("servers", "export", "--to", "vscode")
	if !strings.Contains(e.out, `"T": "${input:gh}"`) || !strings.Contains(e.errors, "left out: off: it is disabled") {
		t.Errorf("got %s%s", e.out, e.errors)
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	r.must("servers", "export", "gh", "--output", path)
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"T": "${GH}"`) {
		t.Errorf("got %s %v", text, err)
	}
	if e := r.run("", "servers", "export", "gh", "--output", path); e.code != 1 || !strings.Contains(e.errors, "already") {
		t.Errorf("over a file: %d %s", e.code, e.errors)
	}
	if e := r.run("", "servers", "export", "hg"); e.code != 1 || !strings.Contains(e.errors, `did you mean "gh"`) {
		t.Errorf("a server that is not there: %d %s", e.code, e.errors)
	}
}
