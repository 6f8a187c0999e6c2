package connect_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
	"pointsman/ui/connect"
)

// machine is a machine with these files below its home; the workspace is
// HOME/work.
func machine(t testing.TB, files map[string]string) connect.Machine {
	t.Helper()
	home := t.TempDir()
	for path, text := range files {
		path = filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "HOME", home)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return connect.Machine{Home: home, Folder: filepath.Join(home, "work"), OS: "linux"}
}

// one reads the only server of a machine's only file.
func one(t *testing.T, m connect.Machine, client string) connect.Found {
	t.Helper()
	sources := connect.Read(m, client)
	if len(sources) != 1 || len(sources[0].Servers) != 1 {
		t.Fatalf("got %+v", sources)
	}
	return sources[0].Servers[0]
}

func TestReadFindsEachProgramsFiles(t *testing.T) {
	const entry = `{"mcpServers": {"s": {"command": "run"}}}`
	m := machine(t, map[string]string{
		".config/Code/User/mcp.json":                 `{"servers": {"s": {"command": "run"}}}`,
		"work/.vscode/mcp.json":                      `{"servers": {"s": {"command": "run"}}}`,
		".copilot/mcp-config.json":                   entry,
		"work/.mcp.json":                             entry,
		"work/.github/mcp.json":                      entry,
		".config/Claude/claude_desktop_config.json":  entry,
		".claude.json":                               `{"mcpServers": {"s": {"command": "run"}}, "projects": {"HOME/work": {"mcpServers": {"mine": {"command": "run"}}}}}`,
		".cursor/mcp.json":                           entry,
		"work/.cursor/mcp.json":                      entry,
		".codex/config.toml":                         "[mcp_servers.s]\ncommand = \"run\"\n",
		"work/.codex/config.toml":                    "[mcp_servers.s]\ncommand = \"run\"\n",
		".config/Code - Insiders/User/settings.json": "{}",
	})
	var got []string
	for _, s := range connect.Read(m) {
		path, err := filepath.Rel(m.Home, s.Path)
		if err != nil || s.Fault != "" || len(s.Servers) != 1 || s.Servers[0].Entry.Command != "run" {
			t.Errorf("%s: %+v %v", s.Path, s, err)
		}
		got = append(got, s.Client+" "+s.Level+" "+filepath.ToSlash(path))
	}
	want := []string{
		"vscode user .config/Code/User/mcp.json", "vscode workspace work/.vscode/mcp.json",
		"copilot user .copilot/mcp-config.json", "copilot workspace work/.mcp.json", "copilot workspace work/.github/mcp.json",
		"claude-desktop user .config/Claude/claude_desktop_config.json",
		"claude-code user .claude.json", "claude-code workspace .claude.json", "claude-code workspace work/.mcp.json",
		"cursor user .cursor/mcp.json", "cursor workspace work/.cursor/mcp.json",
		"codex user .codex/config.toml", "codex workspace work/.codex/config.toml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadOnOtherSystems(t *testing.T) {
	tests := map[string]string{
		"darwin":  "Library/Application Support/Claude/claude_desktop_config.json",
		"windows": "Roaming/Claude/claude_desktop_config.json",
	}
	for system, path := range tests {
		m := machine(t, map[string]string{path: `{"mcpServers": {"s": {"command": "run"}}}`})
		m.OS, m.Getenv = system, func(name string) string {
			return map[string]string{"APPDATA": filepath.Join(m.Home, "Roaming")}[name]
		}
		if got := one(t, m, "claude-desktop"); got.Entry.Command != "run" {
			t.Errorf("%s: %+v", system, got)
		}
	}
}

func TestReadEntries(t *testing.T) {
	const vscode, copilot, desktop, code, cursor, codex = "work/.vscode/mcp.json", ".copilot/mcp-config.json", ".config/Claude/claude_desktop_config.json", ".claude.json", ".cursor/mcp.json", ".codex/config.toml"
	tests := map[string]struct {
		client, file, text string
		want               config.MCPServer
		lost               []string
	}{
		"comments and trailing commas": {"vscode", vscode, `{ // mine
			"servers": {"s": {"type": "stdio", "command": "npx", "args": ["-y", "x",], /* why */ },},}`, config.MCPServer{Type: "stdio", Command: "npx", Args: []string{"-y", "x"}}, nil},
		"values that are no texts": {"vscode", vscode, `{"servers": {"s": {"command": "x", "env": {"A": 8080, "B": null, "C": true, "D": {}}}}}`,
			config.MCPServer{Command: "x", Env: map[string]config.Secret{"A": "8080", "C": "true"}}, []string{"env.B: null", "env.D: it is no text"}},
		"references of VS Code": {"vscode", vscode, `{"servers": {"s": {"command": "${workspaceFolder}/x", "args": ["${userHome}", "$LOGNAME", "${env:A}"]}}}`,
			config.MCPServer{Command: "HOME/work/x", Args: []string{"${userHome}", "$$LOGNAME", "${env:A}"}}, nil},
		"keys of VS Code": {"vscode", vscode, `{"servers": {"s": {"url": "https://h/mcp", "oauth": {"clientId": "c"}, "envFile": "x", "sandboxEnabled": true}}}`,
			config.MCPServer{URL: "https://h/mcp", OAuthClientID: "c"}, []string{"envFile: ", "sandboxEnabled: "}},
		"keys of Copilot": {"copilot", copilot, `{"mcpServers": {"s": {"type": "local", "command": "x", "tools": ["a"], "timeout": 5000, "deferTools": "auto", "cwd": "/w"}}}`,
			config.MCPServer{Type: "local", Command: "x", Tools: []string{"a"}, Timeout: 5000, Cwd: "/w"}, []string{"deferTools: "}},
		"references of Copilot": {"copilot", copilot, `{"mcpServers": {"s": {"command": "x", "env": {"A": "$B", "C": "${D}", "E": "${keychain:gateway}"}}}}`,
			config.MCPServer{Command: "x", Env: map[string]config.Secret{"A": "$B", "C": "${D}", "E": "$${keychain:gateway}"}}, nil},
		"a gate is not loosened": {"copilot", copilot, `{"mcpServers": {"s": {"command": "x", "trustAnnotations": true, "prefix": "", "sandbox": {"enabled": false}}}}`,
			config.MCPServer{Command: "x"}, []string{"prefix: ", "sandbox: ", "trustAnnotations: "}},
		"Claude Desktop has no references": {"claude-desktop", desktop, `{"mcpServers": {"s": {"command": "x", "env": {"P": "pa$word ${B} $$C"}}}}`,
			config.MCPServer{Command: "x", Env: map[string]config.Secret{"P": "pa$$word $${B} $$$C"}}, nil},
		"references of Claude Code": {"claude-code", code, `{"mcpServers": {"s": {"type": "http", "url": "https://h/${A:-b}", "headers": {"H": "Bearer ${T}"}}}}`,
			config.MCPServer{Type: "http", URL: "https://h/${A:-b}", Headers: map[string]config.Secret{"H": "Bearer ${T}"}}, nil},
		"Cursor": {"cursor", cursor, `{"mcpServers": {"s": {"url": "https://h", "headers": {"H": "${env:T}"}}}}`,
			config.MCPServer{URL: "https://h", Headers: map[string]config.Secret{"H": "${env:T}"}}, nil},
		"Codex, local": {"codex", codex, "[mcp_servers.s]\ncommand = 'x'\nargs = ['a']\nenabled = false\nenv_vars = ['A', {name = 'B', source = 'local'}, '1x']\nstartup_timeout_sec = 2.5\ntool_timeout_sec = 30\nenabled_tools = ['t']\ndisabled_tools = ['u']\n[mcp_servers.s.env]\nC = '$D'\n",
			config.MCPServer{Command: "x", Args: []string{"a"}, Disabled: true, StartTimeout: 2500, Timeout: 30000, Tools: []string{"t"}, Env: map[string]config.Secret{"A": "${env:A}", "B": "${env:B}", "C": "$$D"}}, []string{"disabled_tools: ", "1x: "}},
		"Codex, remote": {"codex", codex, "[mcp_servers.s]\nurl = 'https://h'\nbearer_token_env_var = 'T'\nhttp_headers = {A = 'b'}\nenv_http_headers = {C = 'D'}\n",
			config.MCPServer{URL: "https://h", Headers: map[string]config.Secret{"A": "b", "C": "${env:D}", "Authorization": "Bearer ${env:T}"}}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := machine(t, map[string]string{test.file: test.text})
			got := one(t, m, test.client)
			test.want.Command = strings.ReplaceAll(test.want.Command, "HOME/", m.Home+"/")
			if diff := cmp.Diff(plain(test.want), plain(got.Entry)); diff != "" || got.Fault != "" {
				t.Errorf("%s%s", got.Fault, diff)
			}
			ok := slices.EqualFunc(test.lost, got.Lost, func(want, got string) bool { return strings.HasPrefix(got, want) })
			if !ok {
				t.Errorf("lost %q, want %q", got.Lost, test.lost)
			}
		})
	}
}

// plain is an entry as it would be written: what is empty is absent.
func plain(e config.MCPServer) string {
	text, err := config.Encode(e)
	if err != nil {
		return err.Error()
	}
	return text
}

func TestReadRefuses(t *testing.T) {
	tests := map[string]struct{ entry, want string }{
		"a secret of ours":    {`{"command": "x", "env": {"A": "keychain:gateway"}}`, "secret of Pointsman's"},
		"a variable, our way": {`{"command": "x", "args": ["os.environ/HOME"]}`, "secret of Pointsman's"},
		"a strange variable":  {`{"command": "${pathSeparator}x"}`, "variable of VS Code's"},
		"a socket":            {`{"url": "unix:///tmp/x.sock"}`, "socket"},
		"nothing":             {`{}`, "neither"},
		"no object":           {`[1]`, "no object"},
		"a wrong type":        {`{"command": ["x"]}`, "command"},
		"an unknown kind":     {`{"type": "grpc", "command": "x"}`, "type"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := machine(t, map[string]string{"work/.vscode/mcp.json": `{"servers": {"s": ` + test.entry + `}}`})
			if got := one(t, m, "vscode"); !strings.Contains(got.Fault, test.want) {
				t.Errorf("fault %q, want %q in it", got.Fault, test.want)
			}
		})
	}
	for name, text := range map[string]string{"broken": `{"servers": `, "an array": `[]`, "deep": strings.Repeat("[", 1<<20)} {
		m := machine(t, map[string]string{"work/.vscode/mcp.json": text})
		if s := connect.Read(m, "vscode"); len(s) != 1 || s[0].Fault == "" || len(s[0].Servers) != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestInputs(t *testing.T) {
	m := machine(t, map[string]string{"work/.vscode/mcp.json": `{
		"inputs": [
			{"type": "promptString", "id": "token", "description": "A token", "password": true},
			{"type": "pickString", "id": "zone", "description": "Where", "options": ["eu", {"label": "US", "value": "us"}], "default": "eu"},
			{"type": "promptString", "id": "unused"}],
		"servers": {"s": {"url": "https://${input:zone}.h/", "headers": {"Authorization": "Bearer ${input:token}", "X": "${input:missing}"}}}}`})
	got := one(t, m, "vscode")
	want := []connect.Input{
		{ID: "zone", Description: "Where", Default: "eu", Options: []string{"eu", "us"}},
		{ID: "token", Description: "A token", Secret: true},
		{ID: "missing", Description: "missing", Secret: true},
	}
	if diff := cmp.Diff(want, got.Inputs); diff != "" || got.Fault != "" {
		t.Error(got.Fault, diff)
	}
	filled := got.Fill(func(id string) string { return "${keychain:" + id + "}" })
	if filled.URL != "https://${keychain:zone}.h/" || filled.Headers["Authorization"] != "Bearer ${keychain:token}" {
		t.Errorf("filled: %#v", filled)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("vscode", `{"inputs": [{"id": "a"}], "servers": {"s": {"command": "${input:a}", "env": {"A": 1}}}} // x`)
	f.Add("copilot", `{"mcpServers": {"s": {"command": "$A", "tools": ["*"], "timeout": 1e3}}}`)
	f.Add("codex", "[mcp_servers.s]\ncommand='x'\nenv_vars=['A']\n")
	f.Add("cursor", `{"mcpServers": {"s": {"url": "https://${env:X}"}}}`)
	files := map[string]string{"vscode": "work/.vscode/mcp.json", "copilot": ".copilot/mcp-config.json", "codex": ".codex/config.toml", "cursor": ".cursor/mcp.json"}
	f.Fuzz(func(t *testing.T, client, text string) {
		file, ok := files[client]
		if !ok || strings.Contains(text, "HOME") {
			return
		}
		for _, s := range connect.Read(machine(t, map[string]string{file: text}), client) {
			for _, found := range s.Servers {
				entry := found.Fill(func(string) string { return "x" })
				only := config.Default()
				only.MCPServers = map[string]config.MCPServer{found.Name: entry}
				for _, ref := range only.SecretRefs() {
					if found.Fault == "" && strings.HasPrefix(ref.Path, "mcpServers") && strings.HasPrefix(ref.Ref, "keychain:") && !strings.Contains(text, "$${keychain") {
						t.Errorf("%s refers to %s", found.Name, ref.Ref)
					}
				}
			}
		}
	})
}
