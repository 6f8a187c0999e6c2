package model

import (
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
)

// SignInCard is what a server's page says of its sign-in. The zero value is
// nothing to say.
type SignInCard struct {
	Title, Text string
	Waits       bool   // for a browser
	Begin       string // what the button says that begins a sign-in, or joins one; "": there is none
	Out         bool   // one can sign out
}

// SignInCardOf returns what there is to say. known says that the address for the
// browser is known here: another program may have begun the sign-in.
func SignInCardOf(s servers.Status, known bool) SignInCard {
	switch {
	case s.SignIn == signin.Waiting && known:
		return SignInCard{Title: "Waiting for your browser", Text: "Sign in on the server's page. If no browser has opened, open this address on this computer:", Waits: true}
	case s.SignIn == signin.Waiting:
		return SignInCard{Title: "A sign-in is under way", Text: "It was begun elsewhere.", Waits: true, Begin: "Open its page"}
	case s.SignIn == signin.Wider:
		return SignInCard{Title: "The server asks for more", Text: "One of its tools needs more than you have granted. Sign in again to grant it.", Begin: "Sign in", Out: true}
	case s.SignIn == signin.Needed && s.Live.Status == servers.NeedsAuth:
		return SignInCard{Title: "Sign in to use this server", Text: "Your browser opens the server's own page. What it grants is kept in your keychain.", Begin: "Sign in"}
	case s.SignIn == signin.SignedIn:
		return SignInCard{Title: "Signed in", Out: true}
	}
	return SignInCard{}
}
