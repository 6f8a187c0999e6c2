package servers

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"pointsman/gateway/servers/signin"
)

// SignIn is a sign-in that is under way.
type SignIn struct {
	ID          string    `json:"id"` // for CompleteSignIn and AwaitSignIn
	Server      string    `json:"server"`
	URL         string    `json:"url"`         // what the person opens in a browser; "" when there is nothing to open
	RedirectURI string    `json:"redirectUri"` // where the browser comes back to
	Expires     time.Time `json:"expires"`
}

func (h *Host) newKeeper() *signin.Keeper {
	return signin.New(signin.Options{
		Keychain: h.opts.Keychain, HTTPClient: h.opts.HTTPClient, Learn: h.opts.Learn, Tokens: h.opts.Tokens,
		OnEvent: h.onSignIn, OnChange: h.signedIn, Logger: h.opts.Logger, Version: h.opts.Version,
	})
}

// onSignIn tells of the end of a sign-in.
func (h *Host) onSignIn(e signin.Event) {
	told := []any{"server", e.Server, "what", e.Kind, "outcome", e.Outcome}
	if e.Err != nil {
		told = append(told, "error", h.opts.Redact(e.Err.Error()))
	}
	h.opts.Logger.Info("MCP server's sign-in", told...)
	if h.opts.OnSignIn != nil {
		h.opts.OnSignIn(e)
	}
	h.opts.OnChange()
}

// signedIn has a server connected anew whose sign-in is another one. One that
// is connected and was signed in to goes on, with the tools that it may have now.
func (h *Host) signedIn(name string, in bool) {
	if s := h.find(name); s != nil && in {
		s.mu.Lock()
		sess := s.session
		s.mu.Unlock()
		if sess != nil && !sess.isLost() {
			sess.toolsChanged()
			return
		}
	}
	h.Refresh(name)
}

// accountFor returns the account that signs requests to the server; nil when its
// own headers do.
func (s *server) accountFor(ctx context.Context, address string, headers http.Header) (*signin.Account, error) {
	if headers.Get("Authorization") != "" || s.onTrial {
		return nil, nil
	}
	account, err := s.account(ctx, address)
	if err != nil {
		return nil, err
	}
	s.sign.Store(account)
	return account, nil
}

func (s *server) account(ctx context.Context, address string) (*signin.Account, error) {
	secret, err := s.expandSecret(ctx, "oauthClientSecret", string(s.entry.OAuthClientSecret))
	if err != nil {
		return nil, err
	}
	id, err := s.expand(ctx, "oauthClientId", s.entry.OAuthClientID)
	if err != nil {
		return nil, err
	}
	return s.host.signs.Account(signin.Server{
		Name: s.name, URL: address, ClientID: id, ClientSecret: secret, Scopes: s.entry.OAuthScopes,
		Grant: s.entry.OAuthGrantType, Port: s.entry.OAuthCallbackPort,
	}), nil
}

// accountOf returns the account of a server that can be signed in to.
func (h *Host) accountOf(ctx context.Context, name string) (*server, *signin.Account, error) {
	s := h.find(name)
	switch {
	case s == nil:
		return nil, nil, unknown(name)
	case s.kind != "http" && s.kind != "sse":
		return nil, nil, &StateError{Server: name, Status: s.status().Live.Status, Reason: "it is no remote server: there is nothing to sign in to"}
	}
	for header := range s.entry.Headers {
		if http.CanonicalHeaderKey(header) == "Authorization" {
			return nil, nil, &StateError{Server: name, Status: s.status().Live.Status, Reason: "its entry sets the header Authorization, which is what it gets; remove that to sign in"}
		}
	}
	address, err := s.expand(ctx, "url", s.entry.URL)
	if err != nil {
		return nil, nil, err
	}
	account, err := s.account(ctx, address)
	if err == nil {
		s.sign.Store(account)
	}
	return s, account, err
}

// SignIn begins a sign-in to a remote server, or joins the one that is under way.
// The caller has a person open its URL; it ends by itself, also when nobody comes
// back. The error may be a *StateError.
func (h *Host) SignIn(ctx context.Context, name string, how signin.How) (SignIn, error) {
	s, account, err := h.accountOf(ctx, name)
	if err != nil {
		return SignIn{}, err
	}
	if err := s.admitted(); err != nil {
		return SignIn{}, &StateError{Server: name, Status: s.status().Live.Status, Reason: err.Error()}
	}
	flow, err := account.Begin(ctx, how)
	if err != nil {
		return SignIn{}, s.cleanError(err)
	}
	h.opts.OnChange()
	return SignIn{ID: flow.ID, Server: name, URL: flow.URL, RedirectURI: flow.RedirectURI, Expires: flow.Expires}, nil
}

// AwaitSignIn waits for the end of a sign-in, and of the attempt to connect the
// server that follows, and returns how the server then is. That ctx ends does not
// end the sign-in.
func (h *Host) AwaitSignIn(ctx context.Context, id string) (Status, error) {
	flow, err := h.signs.Flow(id)
	if err == nil {
		err = flow.Wait(ctx)
	}
	if err != nil {
		return Status{}, h.cleanError(err)
	}
	return h.settled(ctx, flow.Server)
}

// CompleteSignIn finishes a sign-in whose redirect address the caller hosts. See
// signin.Keeper.Complete.
func (h *Host) CompleteSignIn(ctx context.Context, id, callback string) (Status, error) {
	flow, err := h.signs.Complete(ctx, id, callback)
	if err != nil {
		return Status{}, h.cleanError(err)
	}
	return h.settled(ctx, flow.Server)
}

// CancelSignIn gives up the sign-in that is under way, and reports whether there
// was one.
func (h *Host) CancelSignIn(name string) bool {
	flow := h.signs.Waiting(name)
	if flow != nil {
		flow.Cancel()
	}
	return flow != nil
}

// SignOut ends the sign-in to a server: it is revoked, where that can be, and
// forgotten, and the server is connected anew without. See
// signin.Account.SignOut.
func (h *Host) SignOut(ctx context.Context, name string) (signin.SignedOut, error) {
	s, account, err := h.accountOf(ctx, name)
	if err != nil {
		return signin.SignedOut{}, err
	}
	out, err := account.SignOut(ctx)
	h.opts.OnChange()
	if err != nil {
		err = s.cleanError(err)
	}
	return out, err
}

// settled waits for the attempt to connect a server that runs, if one does.
func (h *Host) settled(ctx context.Context, name string) (Status, error) {
	s := h.find(name)
	if s == nil {
		return Status{}, unknown(name)
	}
	h.mu.Lock()
	runs := h.ctx != nil
	h.mu.Unlock()
	if runs {
		if err := s.settle(ctx); err != nil {
			return s.status(), err
		}
	}
	return s.status(), nil
}

// awaitSignIn waits for the sign-in that a server needs, if it is under way: a
// call that comes meanwhile is the reason for it, as likely as not.
func (h *Host) awaitSignIn(ctx context.Context, name string) error {
	flow := h.signs.Waiting(name)
	if flow == nil {
		return nil
	}
	s := h.find(name)
	if s == nil || s.status().Live.Status != NeedsAuth {
		return nil
	}
	_ = flow.Wait(ctx) // what came of it is seen when the server is called
	return context.Cause(ctx)
}

// cleanError is an error of a sign-in without credentials.
func (h *Host) cleanError(err error) error {
	if text := h.opts.Redact(err.Error()); text != err.Error() {
		return fmt.Errorf("%s", text)
	}
	return err
}

func (s *server) cleanError(err error) error {
	if text := s.secret.clean(err.Error()); text != err.Error() {
		return fmt.Errorf("%s", text)
	}
	return err
}
