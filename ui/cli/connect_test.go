package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// connectRig is a home with one crowded file of VS Code's.
func connectRig(t *testing.T) (r *rig, file, before string) {
	t.Helper()
	r = newRig(t, scratchConfig)
	r.env["HOME"] = t.TempDir()
	file = filepath.Join(r.env["HOME"], ".config", "Code", "User", "mcp.json")
	before = "{\n\t// mine\n\t\"servers\": {\n\t\t\"a\": {\"env\": {\"TOKEN\": \"" + importToken + "\"}},\n\t},\n}\n"
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	return r, file, before
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestConnect: the change that was previewed is made, listed and taken back.
func TestConnect(t *testing.T) {
	r, file, before := connectRig(t)
	preview := r.must("connect", "preview", "vscode", "--parts", "mcp")
	for _, want := range []string{"--- " + file, `+		"pointsman": {`, "// mine"} {
		if !strings.Contains(preview.out, want) {
			t.Errorf("%q is not in the preview:\n%s", want, preview.out)
		}
	}
	if strings.Contains(preview.out+preview.errors, importToken) || textOf(t, file) != before {
		t.Errorf("the preview shows a secret, or has changed the file:\n%s", preview.out)
	}
	_, revision, found := strings.Cut(strings.TrimSpace(preview.out), "\nrevision: ")
	if !found {
		t.Fatalf("no revision:\n%s", preview.out)
	}
	if e := r.run("y\n", "connect", "apply", "vscode", "--parts", "mcp"); e.code != 2 || !strings.Contains(e.errors, "--revision "+revision) {
		t.Errorf("without a terminal: %d %s", e.code, e.errors)
	}
	if e := r.run("", "connect", "apply", "vscode", "--parts", "mcp", "--revision", "0123456789ab"); e.code != 1 || !strings.Contains(e.errors, "preview") || textOf(t, file) != before {
		t.Errorf("with another revision: %d %s", e.code, e.errors)
	}
	r.must("connect", "apply", "vscode", "--parts", "mcp", "--revision", revision)
	if text := textOf(t, file); !strings.Contains(text, `"POINTSMAN_HOME": "`+r.home+`"`) || !strings.Contains(text, importToken) {
		t.Errorf("applied:\n%s", text)
	}
	var list []struct {
		Client    string
		Installed bool
		Parts     []struct{ Part, Path, State string }
		Warnings  []string
	}
	if err := json.Unmarshal([]byte(r.must("connect", "list", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if c.Client == "vscode" && (!c.Installed || c.Parts[0].State != "absent" || c.Parts[1].State != "set") {
			t.Errorf("listed as %+v", c)
		}
	}
	if e := r.must("connect", "undo", "vscode"); !strings.Contains(e.errors, "restored as it was") || textOf(t, file) != before {
		t.Errorf("undone, saying %s:\n%s", e.errors, textOf(t, file))
	}
}

// TestUndoNeedsNoConfiguration: a setup can be taken back whatever has become of
// our own configuration.
func TestUndoNeedsNoConfiguration(t *testing.T) {
	r, file, before := connectRig(t)
	r.must("connect", "apply", "vscode", "--yes")
	if err := os.WriteFile(filepath.Join(r.home, "config.yaml"), []byte("= broken ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := r.run("", "connect", "list"); e.code != 1 {
		t.Errorf("list ended with %d", e.code)
	}
	r.must("connect", "undo", "vscode")
	if textOf(t, file) != before {
		t.Errorf("undone:\n%s", textOf(t, file))
	}
}

// TestConnectKey: the command that clients take in the place of the key.
func TestConnectKey(t *testing.T) {
	r, _, _ := connectRig(t)
	if got := r.must("connect", "key").out; got != gatewayKey+"\n" {
		t.Errorf("printed %q", got)
	}
	if e := r.must("connect", "snippet", "copilot"); strings.Contains(e.out, gatewayKey) || !strings.Contains(e.out, "connect key") {
		t.Errorf("the lines are\n%s", e.out)
	}
	delete(r.env, "GATEWAY_API_KEY")
	if e := r.run("", "connect", "key"); e.code != 1 || e.out != "" {
		t.Errorf("without a key: %d %q", e.code, e.out)
	}
}

func TestConnectRefuses(t *testing.T) {
	r, _, _ := connectRig(t)
	tests := []struct {
		args []string
		code int
		says string
	}{
		{[]string{"preview", "vscod"}, 2, `did you mean "vscode"?`},
		{[]string{"preview"}, 2, "needs CLIENT"},
		{[]string{"apply", "codex", "--parts", "hooks", "--yes"}, 1, "its parts are mcp"},
		{[]string{"verify", "cursor"}, 1, "it is not set up"},
		{[]string{"snippet", "cursor"}, 1, "needs none"},
	}
	for _, tt := range tests {
		if e := r.run("", append([]string{"connect"}, tt.args...)...); e.code != tt.code || !strings.Contains(e.errors, tt.says) {
			t.Errorf("connect %q ended with %d: %s", tt.args, e.code, e.errors)
		}
	}
}
