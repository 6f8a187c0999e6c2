package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
	"pointsman/ui/model"
)

func TestServerLines(t *testing.T) {
	for _, test := range []struct {
		name               string
		status             servers.Status
		word, about, error string
	}{
		{"connecting", servers.Status{Transport: "stdio", Live: servers.Live{Status: servers.Pending}}, "Connecting", "Command", ""},
		{"connected", servers.Status{Transport: "http", Tools: 1, Live: servers.Live{Status: servers.Connected}}, "Connected", "HTTP · 1 tool", ""},
		{"confined", servers.Status{Transport: "stdio", Tools: 2, Confined: true, Live: servers.Live{Status: servers.Connected}}, "Connected", "Command · 2 tools · confined", ""},
		{"needs sign-in", servers.Status{Transport: "sse", Tools: 3, Live: servers.Live{Status: servers.NeedsAuth, Error: "401\nno\u202e"}}, "Needs sign-in", "SSE", "401 no<U+202E>"},
		{"failed", servers.Status{Transport: "builtin", Live: servers.Live{Status: servers.Failed, Error: "x"}}, "Failed", "Built in", "x"},
		{"stopped", servers.Status{Transport: "stdio", ConfigChanged: true, Live: servers.Live{Status: servers.Stopped}}, "Stopped", "Command · its changed entry takes effect when its calls have ended", ""},
		{"disabled", servers.Status{Live: servers.Live{Status: servers.Disabled}}, "Disabled", "No command or URL", ""},
		{"a state of a later version", servers.Status{Transport: "quic", Live: servers.Live{Status: "dreaming"}}, "Unknown", "quic", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := model.ServerLineOf(test.status)
			if got.Word != test.word || got.About != test.about || got.Error != test.error || got.Icon == "" {
				t.Errorf("the line is %+v", got)
			}
		})
	}
	lines := model.ServerLines([]servers.Status{{Name: "b"}, {Name: "A"}, {Name: "c"}})
	if got := lines[0].Name + lines[1].Name + lines[2].Name; got != "Abc" {
		t.Errorf("the order is %s", got)
	}
}

// TestServerFormKeepsAll opens entries and saves them as they are.
func TestServerFormKeepsAll(t *testing.T) {
	prefix := "p"
	for name, entry := range map[string]config.MCPServer{
		"command": {
			Type: "local", Command: "npx", Args: []string{"-y", "", "two\nlines", `"quoted"`, " ", `"a\nb"`}, Cwd: "/tmp", Timeout: 1500, Tools: []string{"a", "b"},
			Env: map[string]config.Secret{"A_TOKEN": "keychain:a", "B": "[secret]", "C": "${env:HOME}", "D": "", "E": "Bearer ${keychain:e}"}, Prefix: &prefix, TrustAnnotations: true,
			Sandbox: &config.Sandbox{Enabled: true, Network: config.SandboxNetwork{AllowOutbound: true}, Filesystem: config.SandboxFilesystem{AllowWrite: []string{"/w", "~/x"}, DenyRead: []string{"/d"}}},
		},
		"free":    {Command: "npx", Sandbox: &config.Sandbox{Filesystem: config.SandboxFilesystem{DenyRead: []string{"/d"}}}},
		"url":     {Type: "sse", URL: "https://a.example", Headers: map[string]config.Secret{"Authorization": "Bearer ${keychain:x}"}, Tools: []string{}, Disabled: true, OAuthClientID: "c", OAuthScopes: []string{"s"}},
		"builtin": {Type: "builtin"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			if name == "builtin" {
				name = "scratch"
			}
			cfg.MCPServers = map[string]config.MCPServer{name: entry}
			d := model.SavedServer(name, entry).Draft(cfg)
			if diff := cmp.Diff(entry, d.Entry); diff != "" || len(d.Faults) > 0 || len(d.Secrets) > 0 {
				t.Errorf("faults %v, secrets %v, %s", d.Faults, d.Secrets, diff)
			}
			if got := len(d.Edits()); got != 1 {
				t.Errorf("%d edits", got)
			}
		})
	}
}

func TestServerFormSandbox(t *testing.T) {
	for _, test := range []struct {
		name string
		form model.ServerForm
		want *config.Sandbox
	}{
		{"as for all", model.ServerForm{Network: true, Write: "/w"}, nil},
		{"on", model.ServerForm{Sandbox: model.SandboxOn, Write: " /w \n\n~/x", Deny: "/d\n"}, &config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{AllowWrite: []string{"/w", "~/x"}, DenyRead: []string{"/d"}}}},
		{"with network", model.ServerForm{Sandbox: model.SandboxOn, Network: true}, &config.Sandbox{Enabled: true, Network: config.SandboxNetwork{AllowOutbound: true}}},
		{"off", model.ServerForm{Sandbox: model.SandboxOff}, &config.Sandbox{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.form.Name, test.form.Command = "a", "x"
			if diff := cmp.Diff(test.want, test.form.Draft(config.Default()).Entry.Sandbox); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestServerFormWarning saves what only deserves a warning.
func TestServerFormWarning(t *testing.T) {
	f := model.ServerForm{Name: "a", Remote: true, URL: "https://me:pw@a.example/mcp"}
	if problems := config.ServerProblems("a", f.Draft(config.Default()).Entry); len(problems) == 0 || !problems[0].Warning {
		t.Fatalf("there is nothing to warn of: %v", problems)
	}
	if d := f.Draft(config.Default()); len(d.Faults) > 0 {
		t.Errorf("a warning marks %v", d.Faults)
	}
}

func TestSecretNames(t *testing.T) {
	for _, test := range []struct{ name, server, key, want string }{
		{"plain", "github", "TOKEN", "github_TOKEN"},
		{"braces and breaks", "a}b\nc d", "K", "a-b-c-d_K"},
		{"other scripts", "خادم", "密钥", "خادم_密钥"},
		{"taken by something else", "taken", "KEY", "taken_KEY-2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Providers = map[string]config.Provider{"p": {APIKey: "keychain:taken_KEY"}}
			f := model.ServerForm{Name: test.server, Command: "x", Env: []model.Pair{{Key: test.key, Value: "v", Secret: true}}}
			d := f.Draft(cfg)
			if d.Secrets[test.want] != "v" || string(d.Entry.Env[test.key]) != "keychain:"+test.want {
				t.Errorf("kept %v, the entry says %q", d.Secrets, d.Entry.Env)
			}
		})
	}
	f := model.ServerForm{Name: strings.Repeat("名", 300), Command: "x", Env: []model.Pair{{Key: "A", Value: "1", Secret: true}, {Key: "B", Value: "2", Secret: true}}}
	d := f.Draft(config.Default())
	if len(d.Secrets) != 2 {
		t.Errorf("long names are kept as %v", d.Secrets)
	}
	for name := range d.Secrets {
		if len(name) > 128 || !strings.HasPrefix(name, "名") || strings.ContainsRune(name, '\ufffd') {
			t.Errorf("a long name comes to %q", name)
		}
	}
}

func TestLooksSecret(t *testing.T) {
	for key, want := range map[string]bool{"API_KEY": true, "GITHUB_TOKEN": true, "Authorization": true, "DB_PASSWORD": true, "LOG_LEVEL": false, "PORT": false, "": false} {
		if got := model.LooksSecret(key); got != want {
			t.Errorf("%q: %v", key, got)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"a", "", " ", "\"a\"", "a\x00b\nc", "\"\\n\"\x00\r", "-y\x00@scope/x\x00\"\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		entry := config.MCPServer{Command: "x", Args: strings.Split(strings.ToValidUTF8(joined, "?"), "\x00")}
		cfg := config.Default()
		cfg.MCPServers = map[string]config.MCPServer{"s": entry}
		if diff := cmp.Diff(entry.Args, model.SavedServer("s", entry).Draft(cfg).Entry.Args); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAskEdits(t *testing.T) {
	rows := []tools.Row{{Name: "a__go", Tool: "go", Server: "a"}, {Name: "b__go", Tool: "go", Server: "b"}, {Name: "b__stop", Tool: "stop", Server: "b"}}
	for _, test := range []struct {
		name        string
		risky, safe []string
		ask         model.Ask
		wantRisky   []string
		wantSafe    []string
	}{
		{"always", nil, []string{"a__go"}, model.AskAlways, []string{"a__go"}, nil},
		{"never", []string{"a__go", "other"}, nil, model.AskNever, []string{"other"}, []string{"a__go"}},
		{"by its risk", []string{"a__go"}, []string{"a__go"}, model.AskByRisk, nil, nil},
		{"a name that another server's tool has, too", []string{"go"}, nil, model.AskByRisk, []string{"b__go"}, nil},
		{"a pattern stays", nil, []string{"a__*"}, model.AskAlways, []string{"a__go"}, []string{"a__*"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Tools.Risky, cfg.Tools.Safe = test.risky, test.safe
			edits := model.AskEdits(cfg, rows, rows[0], test.ask)
			for i, want := range [][]string{test.wantRisky, test.wantSafe} {
				if got, _ := edits[i].Value.([]string); !slices.Equal(got, want) || edits[i].Remove != (len(want) == 0) {
					t.Errorf("%v becomes %q, removed %v; want %q", edits[i].Path, got, edits[i].Remove, want)
				}
			}
		})
	}
}

func TestOfferEdits(t *testing.T) {
	rows := []tools.Row{{Name: "a__one", Tool: "one", Server: "a", Allowed: true}, {Name: "a__two", Tool: "two", Server: "a", Allowed: true}, {Name: "b__one", Tool: "one", Server: "b", Allowed: true}}
	for _, test := range []struct {
		name   string
		before []string
		on     bool
		want   []string
	}{
		{"off where all are", nil, false, []string{"two"}},
		{"on where none is", []string{}, true, []string{"one"}},
		{"off by its offered name", []string{"a__one", "two"}, false, []string{"two"}},
		{"what is away stays", []string{"one", "away"}, false, []string{"away"}},
		{"off out of a pattern", []string{"*"}, false, []string{"two"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := config.Default()
			cfg.MCPServers = map[string]config.MCPServer{"a": {Command: "x", Tools: test.before}}
			edits := model.OfferEdits(cfg, rows, rows[0], test.on)
			if got := edits[0].Value.([]string); len(edits) != 1 || !slices.Equal(got, test.want) {
				t.Errorf("%v", edits)
			}
		})
	}
}

func TestServerDifferences(t *testing.T) {
	entry := config.MCPServer{Command: "npx", Args: []string{"a"}, Env: map[string]config.Secret{"K": "keychain:k"}}
	theirs := entry
	theirs.Args, theirs.Env, theirs.TrustAnnotations = []string{"b"}, map[string]config.Secret{"K": "keychain:other"}, true
	cfg := config.Default()
	cfg.MCPServers = map[string]config.MCPServer{"s": entry}
	d := model.SavedServer("s", entry).Draft(cfg)
	if !d.Untouched(entry, true) || d.Untouched(theirs, true) || d.Untouched(entry, false) {
		t.Error("what was touched is not told apart")
	}
	var fields []string
	for _, difference := range model.ServerDifferences(d, theirs, true) {
		fields = append(fields, difference.Field)
		if difference.Mine == difference.Theirs {
			t.Errorf("%+v is none", difference)
		}
	}
	if want := []string{"Arguments", "Environment", "Everything else"}; !slices.Equal(fields, want) {
		t.Errorf("they differ in %q, want %q", fields, want)
	}
	if got := model.ServerDifferences(d, theirs, false); len(got) != 1 || got[0].Theirs != "removed" {
		t.Errorf("a removed one differs in %+v", got)
	}
}
