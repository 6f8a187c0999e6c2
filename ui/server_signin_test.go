package ui

import (
	"os"
	"strings"
	"testing"

	"pointsman/gateway/servers/signin"
	"pointsman/gateway/servers/signin/signintest"
	"pointsman/ui/theme"
)

// signInBench shows a server that has to be signed in to.
func signInBench(t *testing.T, name string, face theme.Choice, rules signintest.Rules) (*formsBench, *serversScreen, *signintest.Server) {
	t.Helper()
	remote := signintest.New(t, signintest.MCP(), rules)
	b := newFormsBench(t, gatewaySetup{yaml: "mcpServers:\n  " + name + ": {url: '" + remote.URL + "'}\n", face: face})
	s := b.servers()
	s.open(name)
	b.sees("Sign in to use this server")
	return b, s, remote
}

func (s *serversScreen) signInState(name string) signin.State {
	status, _ := s.view.statusOf(name)
	return status.SignIn
}

func TestServerSignIn(t *testing.T) {
	b, s, remote := signInBench(t, "docs", "", signintest.Rules{})
	b.tap("Sign in")
	b.sees("Waiting for your browser")
	b.tap("Copy")
	address := b.ui.app.Clipboard().Content()
	if !strings.HasPrefix(address, remote.Origin()+"/authorize?") || !strings.Contains(b.words(), remote.Origin()+"/authorize?") {
		t.Fatalf("the address %q is copied; in sight is:\n%s", address, b.words())
	}
	b.until("the resident says that it waits", func() bool { return s.signInState("docs") == signin.Waiting })
	b.tap("Cancel")
	b.sees("Sign in to use this server")
	b.sees("was cancelled")
	b.tap("Sign in")
	b.sees("Waiting for your browser")
	b.tap("Copy")
	signintest.Visit(t, b.ui.app.Clipboard().Content())
	b.sees("Signed in")
	b.until("it is connected", func() bool { return strings.Contains(b.words(), "echo") })
	for _, secret := range remote.Secrets() {
		if strings.Contains(b.words(), secret) {
			t.Errorf("the secret %s is shown", secret)
		}
	}
	b.tap("Sign out")
	b.sees("Sign in to use this server")
	if remote.Live() != 0 {
		t.Errorf("%d tokens are left", remote.Live())
	}
}

func TestServerSignInFails(t *testing.T) {
	b, _, remote := signInBench(t, "docs", "", signintest.Rules{Closed: true})
	b.tap("Sign in")
	b.sees("oauthClientId")
	remote.Change(func(rules *signintest.Rules) { rules.Closed, rules.Deny = false, true })
	b.tap("Sign in")
	b.sees("Waiting for your browser")
	b.tap("Copy")
	signintest.Visit(t, b.ui.app.Clipboard().Content())
	b.sees("access_denied")
	b.sees("Sign in to use this server")
}

// One that was begun on the command line is joined.
func TestServerSignInElsewhere(t *testing.T) {
	b, s, _ := signInBench(t, "docs", "", signintest.Rules{})
	in, err := b.gateway.SignIn(t.Context(), "docs", signin.How{})
	if err != nil {
		t.Fatal(err)
	}
	b.sees("A sign-in is under way")
	b.tap("Open its page")
	b.sees("Waiting for your browser")
	if got := s.page.signIn.in.ID; got != in.ID {
		t.Errorf("another sign-in was begun: %s, not %s", got, in.ID)
	}
}

func TestSignInShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	for _, face := range []theme.Choice{theme.Light, theme.Dark} {
		long := strings.Repeat("名前が長い🙂", 20)
		for name, server := range map[string]string{"signin": "docs", "signin-long": long} {
			b, s, remote := signInBench(t, server, face, signintest.Rules{Closed: true})
			shot := func(what string) { b.arranged(name + "-" + what + "-" + string(face)) }
			shot("needed")
			b.tap("Sign in")
			b.sees("oauthClientId")
			shot("fault")
			remote.Change(func(rules *signintest.Rules) { rules.Closed = false })
			b.tap("Sign in")
			b.sees("Waiting for your browser")
			b.until("the resident says that it waits", func() bool { return s.signInState(server) == signin.Waiting })
			shot("waiting")
			b.tap("Copy")
			signintest.Visit(t, b.ui.app.Clipboard().Content())
			b.until("it is connected", func() bool { return strings.Contains(b.words(), "echo") })
			shot("signed-in")
		}
	}
}
