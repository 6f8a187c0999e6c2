package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/gateway/servers/signin/signintest"
)

// browser stands in for the desktop's: it notes what it is to open.
const browser = "#!/bin/sh\nprintf %s \"$1\" >\"$HOME/opened.new\" && mv \"$HOME/opened.new\" \"$HOME/opened\"\n"

// TestSignIn: a server is signed in to from the command line, through the
// desktop's browser; its tokens are in the session's keychain and nowhere else,
// outlive the program, and are gone after a logout.
func TestSignIn(t *testing.T) {
	if !inSession(t, "NO_PANEL=1") {
		return
	}
	if _, err := exec.LookPath("secret-tool"); err != nil {
		t.Skipf("the keychain cannot be looked into: %v", err)
	}
	remote := signintest.New(t, signintest.MCP(), signintest.Rules{Secrets: true})
	desktop := t.TempDir()
	if err := os.WriteFile(filepath.Join(desktop, "xdg-open"), []byte(browser), 0o700); err != nil {
		t.Fatal(err)
	}
	p := serve(t, setup{
		servers: map[string]any{"docs": map[string]any{"url": remote.URL}}, loose: true,
		extra: "log: {level: debug}\ndiagnostics: {mcp: trace}\n", env: append(sessionEnv(t), "PATH="+desktop+":"+os.Getenv("PATH")),
	})
	await(t, "word of the sign-in", func() bool {
		return p.status(t).Get("mcp.inventory.0.live.status").String() == "needs-auth"
	})
	p.login(t)
	p.answers(t, "first")
	remote.ExpireAccess()
	p.answers(t, "renewed")
	secrets := remote.Secrets()
	kept := secrets[len(secrets)-2:] // the renewed token, and what renews it
	for _, token := range kept {
		contains(t, "the keychain", keyring(t), token)
	}
	p.keepsToItself(t, secrets)

	address := strings.TrimPrefix(p.url, "http://")
	p.end(t)
	p.start(t, "serve", "--listen", address)
	p.awaitServers(t, 1)
	p.answers(t, "another day")
	if _, code := p.cli(t, "servers", "logout", "docs"); code != 0 || remote.Live() != 0 {
		t.Errorf("logout ended with %d, and %d tokens are taken still", code, remote.Live())
	}
	for _, secret := range remote.Secrets() {
		if strings.Contains(keyring(t), secret) {
			t.Errorf("the keychain holds %s after a logout", secret)
		}
	}
	p.keepsToItself(t, remote.Secrets())
}

// login runs `pointsman servers login docs`, and is the person at the browser.
func (p *pointsman) login(t *testing.T) {
	t.Helper()
	cmd := p.command(t.Context(), "servers", "login", "docs")
	said := &lockedBuffer{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the browser to be opened", func() bool {
		_, err := os.Stat(filepath.Join(p.home, "opened"))
		return err == nil
	})
	contains(t, "the browser", signintest.Visit(t, p.file("opened")), "Pointsman is signed in to")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("login: %v: %s", err, said)
	}
	contains(t, "what login said", said.String(), p.file("opened"))
	contains(t, "what login said", said.String(), "connected, with 1 tool")
}

// answers has the model call the server's tool.
func (p *pointsman) answers(t *testing.T, mark string) {
	t.Helper()
	body := p.fill(`{`+user(`@tool docs__echo {"text":"said %MARK%"}`)+`}`, mark)
	contains(t, "the answer", p.chatOnce(t.Context(), t, body).String(), "said "+mark)
}

// keyring is all that the session's keychain holds of ours.
func keyring(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "secret-tool", "search", "--all", "service", "pointsman").CombinedOutput()
	if err != nil && len(out) > 0 {
		t.Fatalf("secret-tool: %v: %s", err, out)
	}
	return string(out)
}

// keepsToItself checks that no token, code or client secret is in a file of the
// program's, in its log, or in what it tells.
func (p *pointsman) keepsToItself(t *testing.T, secrets []string) {
	t.Helper()
	told := map[string]string{"the log": p.stderr.String(), "the status": p.status(t).String()}
	for _, command := range []string{"servers logs docs --json", "journal --json", "servers list --json", "config show"} {
		told[command], _ = p.cli(t, strings.Fields(command)...)
	}
	err := filepath.WalkDir(p.home, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		told[path] = string(text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	contains(t, "the records", told["servers logs docs --json"], "tools/call")
	for what, text := range told {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %s", what, secret)
			}
		}
	}
}
