package model_test

import (
	"testing"

	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
	"pointsman/ui/model"
)

func TestSignInCard(t *testing.T) {
	for _, test := range []struct {
		name   string
		state  signin.State
		live   servers.State
		known  bool
		title  string
		begin  string
		wait   bool
		canOut bool
	}{
		{"a server without", signin.None, servers.Connected, false, "", "", false, false},
		{"needed", signin.Needed, servers.NeedsAuth, false, "Sign in to use this server", "Sign in", false, false},
		{"needed, but it is stopped", signin.Needed, servers.Stopped, false, "", "", false, false},
		{"under way", signin.Waiting, servers.NeedsAuth, true, "Waiting for your browser", "", true, false},
		{"under way elsewhere", signin.Waiting, servers.NeedsAuth, false, "A sign-in is under way", "Open its page", true, false},
		{"signed in", signin.SignedIn, servers.Connected, true, "Signed in", "", false, true},
		{"signed in, but it is away", signin.SignedIn, servers.Failed, false, "Signed in", "", false, true},
		{"more is asked for", signin.Wider, servers.Connected, false, "The server asks for more", "Sign in", false, true},
	} {
		got := model.SignInCardOf(servers.Status{SignIn: test.state, Live: servers.Live{Status: test.live}}, test.known)
		if got.Title != test.title || got.Begin != test.begin || got.Waits != test.wait || got.Out != test.canOut {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}
