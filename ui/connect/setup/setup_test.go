package setup_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pointsman/ui/connect"
	"pointsman/ui/connect/setup"
)

const key = "pm-0123456789abcdefghijklmnop"

// bench is a machine of its own.
type bench struct {
	*setup.Setup
	t *testing.T
}

func newBench(t *testing.T, env map[string]string) *bench {
	t.Helper()
	home := t.TempDir()
	getenv := func(name string) string {
		if value, set := env[name]; set {
			return value
		}
		return map[string]string{"PATH": os.Getenv("PATH"), "APPDATA": filepath.Join(home, "roaming")}[name]
	}
	return &bench{t: t, Setup: &setup.Setup{
		Machine: connect.Machine{Home: home, Folder: filepath.Join(home, "work"), Getenv: getenv, OS: "linux"},
		State:   filepath.Join(home, "state"),
		Gateway: setup.Gateway{
			Endpoint: "http://127.0.0.1:8640/v1", Default: "gpt-6-sol", Program: "/opt/pointsman", Key: func(context.Context) (string, error) { return key, nil },
			Models: []setup.Model{{ID: "gpt-6-sol", Name: "GPT-6 Sol", Context: 1_050_000, Output: 128_000}, {ID: "corp/x"}},
		},
		LookPath: func(string) (string, error) { return "", fs.ErrNotExist },
	}}
}

// write makes a file below the home directory, and returns its path.
func (b *bench) write(name, text string) string {
	b.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(b.Machine.Home, filepath.FromSlash(name))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) read(path string) string {
	b.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

func (b *bench) plan(client string, parts ...string) setup.Plan {
	b.t.Helper()
	p, err := b.Plan(b.t.Context(), client, parts...)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) apply(client string, parts ...string) setup.Plan {
	b.t.Helper()
	p := b.plan(client, parts...)
	if _, err := b.Apply(b.t.Context(), p); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) undo(client string) []setup.Undone {
	b.t.Helper()
	undone, err := b.Undo(b.t.Context(), client)
	if err != nil {
		b.t.Fatal(err)
	}
	return undone
}

// state is how a part of a program is set up.
func (b *bench) state(client, part string) string {
	b.t.Helper()
	for _, s := range b.List() {
		for _, p := range s.Parts {
			if s.Client == client && p.Part == part {
				return p.State
			}
		}
	}
	b.t.Fatalf("%s has no part %s", client, part)
	return ""
}

// places are the files that are changed, one for each client and part.
func places() []struct{ client, part, path string } {
	const code = ".config/Code/User/"
	return []struct{ client, part, path string }{
		{"copilot", setup.MCP, ".copilot/mcp-config.json"},
		{"copilot", setup.Hooks, ".copilot/hooks/pointsman.json"},
		{"copilot", setup.Models, ".copilot/providers.json"},
		{"vscode", setup.MCP, code + "mcp.json"},
		{"vscode", setup.Models, code + "chatLanguageModels.json"},
		{"vscode-insiders", setup.MCP, ".config/Code - Insiders/User/mcp.json"},
		{"vscode-insiders", setup.Models, ".config/Code - Insiders/User/chatLanguageModels.json"},
		{"claude-code", setup.MCP, ".claude.json"},
		{"claude-desktop", setup.MCP, ".config/Claude/claude_desktop_config.json"},
		{"cursor", setup.MCP, ".cursor/mcp.json"},
		{"codex", setup.MCP, ".codex/config.toml"},
	}
}

// crowds are what may be in such a file before.
func crowds(path, part string) map[string]string {
	switch {
	case strings.HasSuffix(path, ".toml"):
		return map[string]string{
			"crowded": "# mine\nmodel = \"x\"\n\n[mcp_servers.docs]\ncommand = \"npx\" # yes\nargs = [\n  \"-y\",\n]\n[mcp_servers.docs.env]\nTOKEN = \"t0psecrettoken1234\"\nWHO = 'private-value-7'\n\n# the end\n",
			"windows": "\ufeffmodel = 'x'\r\n[profiles.a]\r\nb = 1\r\n",
			"older":   "[mcp_servers.pointsman]\nurl = \"http://old\"\nenabled = true\n\n[z]\nq = 1\n",
			"empty":   "",
		}
	case strings.HasSuffix(path, "chatLanguageModels.json"):
		return map[string]string{
			"crowded": "// mine\n[\n\t{\n\t\t\"name\": \"Other\", // note\n\t\t\"vendor\": \"ollama\",\n\t},\n\t/* end */\n]\n",
			"windows": "\ufeff[\r\n    {\r\n        \"name\": \"Other\",\r\n        \"vendor\": \"x\"\r\n    }\r\n]",
			"older":   "[{\"name\":\"Pointsman\",\"vendor\":\"customendpoint\",\"apiKey\":\"${input:chat.lm.secret.1}\",\"models\":[]},{\"name\":\"Z\",\"vendor\":\"z\"}]",
			"empty":   "\n",
		}
	case part == setup.Hooks:
		return map[string]string{"another version": "{\"version\": 1, \"hooks\": {}}\n"}
	}
	servers := "mcpServers"
	if strings.HasSuffix(path, "User/mcp.json") {
		servers = "servers"
	}
	return map[string]string{
		"crowded": "// mine, with " + key + "\n{\n\t\"x\": [1, 2,], // two\n\t\"" + servers + "\": {\n\t\t// the files\n\t\t\"fs\": {\"command\": \"npx\", \"env\": {\"API_TOKEN\": \"t0psecrettoken1234\", \"WHO\": \"private-value-7\"}}, // really\n\t\t/* end */\n\t},\n\t\"providers\": [{\"name\": \"a\"}],\n\t\"models\": [],\n}\n",
		"windows": "\ufeff{\r\n  \"" + servers + "\": {\r\n    \"fs\": {\r\n      \"command\": \"npx\"\r\n    }\r\n  },\r\n  \"inputs\": []\r\n}\r\n",
		"older":   "{\"" + servers + "\":{\"pointsman\":{\"url\":\"http://old\",\"timeout\":5},\"z\":{}},\"providers\":[{\"name\":\"pointsman\",\"baseUrl\":\"old\"}],\"models\":[{\"id\":\"gone\",\"provider\":\"pointsman\"}]}",
		"empty":   "",
	}
}

// TestApplyUndo: for each file of each program, however it was written before,
// applying sets it up, applying again changes nothing, and undoing restores every
// byte.
func TestApplyUndo(t *testing.T) {
	for _, place := range places() {
		files := crowds(place.path, place.part)
		files["fresh"] = "-"
		for name, text := range files {
			t.Run(place.client+"/"+place.part+"/"+name, func(t *testing.T) {
				b := newBench(t, nil)
				path := filepath.Join(b.Machine.Home, filepath.FromSlash(place.path))
				if name != "fresh" {
					b.write(place.path, text)
				}
				before := b.tree()
				plan := b.apply(place.client, place.part)
				set := b.read(path)
				if got := b.state(place.client, place.part); got != setup.Current {
					t.Errorf("after applying it is %q:\n%s", got, set)
				}
				if strings.HasSuffix(path, "providers.json") && strings.Contains(set, `"gone"`) {
					t.Errorf("a model that is gone is still there:\n%s", set)
				}
				if !strings.Contains(plan.Changes[0].Diff, "+++ "+path) {
					t.Errorf("the preview does not show the file:\n%s", plan.Changes[0].Diff)
				}
				for _, secret := range []string{key, "t0psecrettoken1234", "private-value-7"} {
					if strings.Contains(plan.Changes[0].Diff, secret) {
						t.Errorf("the preview shows a secret:\n%s", plan.Changes[0].Diff)
					}
				}
				if again := b.apply(place.client, place.part); again.Changed() || b.read(path) != set {
					t.Errorf("applying again changes it:\n%s", again.Changes[0].Diff)
				}
				undone := b.undo(place.client)
				if !slices.ContainsFunc(undone, func(u setup.Undone) bool { return u.Path == path && u.Exact }) {
					t.Errorf("undoing was not exact: %+v", undone)
				}
				if after := b.tree(); !slices.Equal(before, after) {
					t.Errorf("undoing left\n%q\nbefore it was\n%q", after, before)
				}
			})
		}
	}
}

// tree is everything below the home directory but the backups: names, and what is
// in files.
func (b *bench) tree() []string {
	b.t.Helper()
	var all []string
	err := filepath.WalkDir(b.Machine.Home, func(path string, d fs.DirEntry, err error) error {
		if path == b.State {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			path += "\n" + b.read(path)
		}
		all = append(all, path)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

// TestRefuse: a file that cannot be read with certainty, or is not the one that was
// shown, is left as it is.
func TestRefuse(t *testing.T) {
	t.Run("no JSON", func(t *testing.T) {
		b := newBench(t, nil)
		path := b.write(".cursor/mcp.json", "{ what }")
		_, err := b.Plan(t.Context(), "cursor")
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "left as it is") {
			t.Errorf("plan: %v", err)
		}
		if got := b.state("cursor", setup.MCP); got != setup.Broken {
			t.Errorf("it is listed as %q", got)
		}
	})
	t.Run("changed since the preview", func(t *testing.T) {
		b := newBench(t, nil)
		path := b.write(".cursor/mcp.json", "{}")
		plan := b.plan("cursor")
		b.write(path, "{\"a\": 1}")
		if _, err := b.Apply(t.Context(), plan); !errors.Is(err, setup.ErrChanged) {
			t.Errorf("apply: %v", err)
		}
		if text := b.read(path); text != "{\"a\": 1}" {
			t.Errorf("it became %q", text)
		}
		if b.plan("cursor").Revision == plan.Revision {
			t.Error("both previews have one revision")
		}
	})
	t.Run("made since the preview", func(t *testing.T) {
		b := newBench(t, nil)
		plan := b.plan("cursor")
		b.write(".cursor/mcp.json", "")
		if _, err := b.Apply(t.Context(), plan); !errors.Is(err, setup.ErrChanged) {
			t.Errorf("apply: %v", err)
		}
	})
	t.Run("a folder", func(t *testing.T) {
		b := newBench(t, nil)
		b.write(".cursor/mcp.json/x", "")
		if _, err := b.Plan(t.Context(), "cursor"); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("plan: %v", err)
		}
	})
	t.Run("a damaged backup", func(t *testing.T) {
		b := newBench(t, nil)
		path := b.write(".cursor/mcp.json", "{}")
		b.apply("cursor")
		set := b.read(path)
		backups, err := filepath.Glob(filepath.Join(b.State, "*.before"))
		if err != nil || len(backups) != 1 {
			t.Fatalf("backups: %v, %v", backups, err)
		}
		if err := os.Remove(backups[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Undo(t.Context(), "cursor"); err == nil || b.read(path) != set {
			t.Errorf("undo: %v", err)
		}
	})
}

// TestRefuseNames: programs and parts that there are not.
func TestRefuseNames(t *testing.T) {
	t.Run("no such client", func(t *testing.T) {
		if _, err := newBench(t, nil).Plan(t.Context(), "emacs"); err == nil || !strings.Contains(err.Error(), "codex") {
			t.Errorf("plan: %v", err)
		}
	})
	t.Run("no such part", func(t *testing.T) {
		if _, err := newBench(t, nil).Plan(t.Context(), "codex", "hooks"); err == nil || !strings.Contains(err.Error(), "its parts are mcp") {
			t.Errorf("plan: %v", err)
		}
	})
}

// TestLinksAndModes: a link stays one, and a file keeps its mode; a new one is the
// user's alone.
func TestLinksAndModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has neither")
	}
	b := newBench(t, nil)
	real := b.write("dotfiles/cursor.json", "{}")
	if err := os.Chmod(real, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(b.Machine.Home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "dotfiles", "cursor.json"), link); err != nil {
		t.Fatal(err)
	}
	b.apply("cursor")
	mode := func(path string) fs.FileMode {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if mode(link).Type() != fs.ModeSymlink || mode(real) != 0o644 || !strings.Contains(b.read(real), "/opt/pointsman") {
		t.Errorf("the link is %v, its file %v:\n%s", mode(link), mode(real), b.read(real))
	}
	b.undo("cursor")
	if mode(link).Type() != fs.ModeSymlink || mode(real) != 0o644 || b.read(real) != "{}" {
		t.Errorf("undone, the link is %v, its file %v: %q", mode(link), mode(real), b.read(real))
	}
	b.apply("copilot", setup.Models)
	if got := mode(filepath.Join(b.Machine.Home, ".copilot", "providers.json")); got != 0o600 {
		t.Errorf("the new file has mode %v", got)
	}
}

// TestSecretByName: the key is written where it is asked for by name, and shown
// nowhere.
func TestSecretByName(t *testing.T) {
	b := newBench(t, nil)
	plan := b.apply("copilot")
	if len(plan.Changes) != 2 || len(plan.LeftOut) != 1 || !strings.Contains(plan.LeftOut[0], "providers.json") {
		t.Errorf("without being asked: %d changes, left out %q", len(plan.Changes), plan.LeftOut)
	}
	if strings.Contains(plan.Snippet, key) || !strings.Contains(plan.Snippet, "COPILOT_PROVIDER_API_KEY_COMMAND") {
		t.Errorf("the snippet:\n%s", plan.Snippet)
	}
	plan = b.apply("copilot", setup.Models)
	if diff := plan.Changes[0].Diff; strings.Contains(diff, key) || !strings.Contains(diff, "the endpoint's key") || !slices.ContainsFunc(plan.Changes[0].Notes, func(n string) bool { return strings.Contains(n, "key") }) {
		t.Errorf("the preview, with notes %q:\n%s", plan.Changes[0].Notes, diff)
	}
	file := filepath.Join(b.Machine.Home, ".copilot", "providers.json")
	if !strings.Contains(b.read(file), key) {
		t.Errorf("the key is not there:\n%s", b.read(file))
	}
	b.Gateway.Key = func(context.Context) (string, error) { return "pm-another-0123456789abcdef", nil }
	if plan = b.plan("copilot", setup.Models); !plan.Changed() || plan.Changes[0].Diff == "" || strings.Contains(plan.Changes[0].Diff, key) || strings.Contains(plan.Changes[0].Diff, "pm-another") {
		t.Errorf("a new key:\n%s", plan.Changes[0].Diff)
	}
	b.Gateway.Open = true
	if plan = b.plan("copilot"); strings.Contains(plan.Snippet, "KEY") {
		t.Errorf("no key is asked for, and the snippet is\n%s", plan.Snippet)
	}
}

// TestTrueLimits: VS Code gets each model with its limits, and none without.
func TestTrueLimits(t *testing.T) {
	b := newBench(t, nil)
	plan := b.apply("vscode", setup.Models)
	text := b.read(plan.Changes[0].Path)
	for _, part := range []string{`"maxInputTokens": 922000`, `"maxOutputTokens": 128000`, `"url": "http://127.0.0.1:8640/v1/chat/completions"`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is missing:\n%s", part, text)
		}
	}
	if strings.Contains(text, "corp/x") || strings.Contains(text, key) || !strings.Contains(strings.Join(plan.Changes[0].Notes, " "), "corp/x") {
		t.Errorf("notes %q:\n%s", plan.Changes[0].Notes, text)
	}
	theirs := strings.Replace(strings.Replace(text, `"vision": false`, `"vision": true`, 1), `"toolCalling"`, `"thinking": true, "toolCalling"`, 1)
	b.write(plan.Changes[0].Path, theirs)
	if again := b.apply("vscode", setup.Models); again.Changed() && !strings.Contains(b.read(plan.Changes[0].Path), `"vision": true`) || !strings.Contains(b.read(plan.Changes[0].Path), `"thinking": true`) {
		t.Errorf("what the user has set is lost:\n%s", b.read(plan.Changes[0].Path))
	}
	b.write(plan.Changes[0].Path, text)
	b.Gateway.Models = nil
	if _, err := b.Plan(t.Context(), "vscode"); err == nil || !strings.Contains(err.Error(), "limits") {
		t.Errorf("without models: %v", err)
	}
	if got := b.state("vscode", setup.Models); got != setup.Stale {
		t.Errorf("without models it is %q", got)
	}
	if undone := b.undo("vscode"); !undone[0].Exact {
		t.Errorf("without models, undo: %+v", undone)
	}
}

// TestWorkspace: a folder's own files, and no others.
func TestWorkspace(t *testing.T) {
	for client, name := range map[string]string{"vscode": ".vscode/mcp.json", "claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "codex": ".codex/config.toml"} {
		b := newBench(t, nil)
		b.Setup.Workspace = true
		plan := b.apply(client)
		if want := filepath.Join(b.Machine.Folder, filepath.FromSlash(name)); len(plan.Changes) != 1 || plan.Changes[0].Path != want || len(plan.Changes[0].Notes) == 0 {
			t.Errorf("%s: %+v, want a change to %s", client, plan.Changes, want)
		}
	}
	b := newBench(t, nil)
	b.Setup.Workspace = true
	if _, err := b.Plan(t.Context(), "copilot"); err == nil {
		t.Error("copilot has no file of a workspace")
	}
}
