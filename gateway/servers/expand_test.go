package servers_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
)

// expanding is a host whose references stand for something.
func expanding(t *testing.T, entry config.MCPServer, roots ...string) *harness {
	t.Helper()
	return expandingWith(t, servers.Options{Roots: roots}, entry)
}

func expandingWith(t *testing.T, opts servers.Options, entry config.MCPServer) *harness {
	t.Helper()
	variables := map[string]string{"TOKEN": "tok-0123456789", "FAKE": self(t), "DIR": "sub", "SHELLISH": "$TOKEN ${TOKEN}"}
	keychain := secrets.Memory()
	if err := keychain.Set(t.Context(), "github", "gh-0123456789"); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { value, ok := variables[name]; return value, ok }
	resolver := secrets.NewResolver(keychain, lookup, nil)
	opts.Resolve = resolver.Resolve
	return start(t, opts, map[string]config.MCPServer{"fake": entry})
}

// TestMissingSecretIsNamed: redaction leaves the reason whole.
func TestMissingSecretIsNamed(t *testing.T) {
	entry := fakeServer(t, "normal")
	entry.Env["GITHUB_TOKEN"] = "keychain:nowhere"
	redactor := &secrets.Redactor{}
	h := expandingWith(t, servers.Options{Redact: redactor.Redact}, entry)
	live := h.awaitState("fake", servers.Failed).Live
	if want := `resolving env GITHUB_TOKEN failed: reading "nowhere": not in the keychain`; !strings.Contains(live.Error, want) {
		t.Errorf("the reason is %q, want %q in it", live.Error, want)
	}
}

func TestReferencesInEnv(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("there is no home directory")
	}
	tests := []struct{ text, want string }{
		{"plain", "plain"}, {"$TOKEN", "tok-0123456789"}, {"${TOKEN}", "tok-0123456789"}, {"a-${env:TOKEN}-b", "a-tok-0123456789-b"},
		{"Bearer ${keychain:github}", "Bearer gh-0123456789"}, {"keychain:github", "gh-0123456789"}, {"os.environ/TOKEN", "tok-0123456789"},
		{"${userHome}/x", home + "/x"}, {"${workspaceFolder}/y", "/the/root/y"}, {"$DIR/$DIR", "sub/sub"}, {"${NOPE:-other}", "other"},
		{"$$TOKEN costs $5 and 100$", "$TOKEN costs $5 and 100$"}, {"$${TOKEN}", "${TOKEN}"}, {"${1%x} $$ $0 $(ls)", "${1%x} $$ $0 $(ls)"},
		{"$SHELLISH", "$TOKEN ${TOKEN}"}, // what a reference stands for is not looked into
	}
	entry := fakeServer(t, "normal")
	for i, test := range tests {
		entry.Env["V"+string(rune('A'+i))] = config.Secret(test.text)
	}
	h := expanding(t, entry, "/the/root", "/another")
	got := map[string]string{}
	for line := range strings.SplitSeq(h.text("fake", "env", `{}`), "\n") {
		name, value, _ := strings.Cut(line, "=")
		got[name] = value
	}
	for i, test := range tests {
		if value := got["V"+string(rune('A'+i))]; value != test.want {
			t.Errorf("%q became %q, want %q", test.text, value, test.want)
		}
	}
}

func TestReferencesInCommandArgsAndDirectory(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	entry := fakeServer(t, "normal")
	entry.Command, entry.Args, entry.WorkingDirectory = "$FAKE", []string{"--token=${TOKEN}", "keychain:github"}, "${workspaceFolder}/$DIR"
	h := expanding(t, entry, root)
	var got struct {
		Args []string
		Dir  string
	}
	if err := json.Unmarshal([]byte(h.text("fake", "started", `{}`)), &got); err != nil {
		t.Fatal(err)
	}
	// The second argument only looks like a reference: it is a text of the server's own.
	if strings.Join(got.Args, " ") != "--token=tok-0123456789 keychain:github" || filepath.Base(got.Dir) != "sub" {
		t.Errorf("it was started as %+v", got)
	}
}

func TestReferenceThatStandsForNothing(t *testing.T) {
	tests := []struct {
		name string
		edit func(*config.MCPServer)
		want []string
	}{
		{"variable", func(e *config.MCPServer) { e.Args = []string{"ok", "$NOPE"} }, []string{"args[1]", "NOPE", "write $$"}},
		{"in braces", func(e *config.MCPServer) { e.Cwd = "${NOPE}/x" }, []string{"cwd", "NOPE"}},
		{"env", func(e *config.MCPServer) { e.Env["K"] = "${env:NOPE}" }, []string{"env K", "NOPE"}},
		{"key", func(e *config.MCPServer) { e.Env["K"] = "${keychain:nope}" }, []string{"env K", "nope"}},
		{"command", func(e *config.MCPServer) { e.Command = "$NOPE" }, []string{"command", "NOPE"}},
		{"no workspace", func(e *config.MCPServer) { e.Args = []string{"${workspaceFolder}"} }, []string{"args[0]", "workspaceFolder", "roots"}},
		{"another program's", func(e *config.MCPServer) { e.Env["K"] = "${input:token}" }, []string{"env K", "${input:token}", "keychain"}},
		{"header", func(e *config.MCPServer) {
			*e = config.MCPServer{URL: "http://127.0.0.1:1/mcp", Headers: map[string]config.Secret{"X": "$NOPE"}}
		}, []string{"header X", "NOPE"}},
		{"url", func(e *config.MCPServer) { *e = config.MCPServer{URL: "http://127.0.0.1:1/${NOPE}"} }, []string{"url", "NOPE"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			entry := fakeServer(t, "normal")
			test.edit(&entry)
			got := expanding(t, entry).awaitState("fake", servers.Failed).Live.Error
			for _, part := range test.want {
				if !strings.Contains(got, part) {
					t.Errorf("the error lacks %q: %s", part, got)
				}
			}
		})
	}
}

// What a reference stood for is in no error; where a program is, is no secret.
func TestExpandedValuesAreNotShown(t *testing.T) {
	entry := fakeServer(t, "broken")
	entry.Env["SAY"] = "with ${keychain:github} and $TOKEN in ${DIR}"
	got := expanding(t, entry).awaitState("fake", servers.Failed).Live.Error
	if strings.Contains(got, "0123456789") || !strings.Contains(got, "with [redacted] and [redacted] in sub") {
		t.Errorf("the error says %s", got)
	}
	entry = fakeServer(t, "normal")
	entry.Cwd = "${HOME}/no/such/folder"
	resolve := func(_ context.Context, ref string) (string, error) {
		return strings.ReplaceAll(ref, "${HOME}", "/home/somebody"), nil
	}
	h := start(t, servers.Options{Resolve: resolve}, map[string]config.MCPServer{"fake": entry})
	if got := h.awaitState("fake", servers.Failed).Live.Error; !strings.Contains(got, "/home/somebody/no/such/folder") {
		t.Errorf("the error says %s", got)
	}
}
