package control

import (
	"context"
	"net/http"
	"net/url"

	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
)

// SignInKeeper signs in to the MCP servers, and out of them. Everybody may: it is
// a person who consents, at the server's own page, and the tokens stay here.
// Their errors may be a *servers.StateError.
type SignInKeeper interface {
	SignIn(ctx context.Context, name string, how signin.How) (servers.SignIn, error)
	AwaitSignIn(ctx context.Context, id string) (servers.Status, error)
	CompleteSignIn(ctx context.Context, id, callback string) (servers.Status, error)
	CancelSignIn(name string) bool
	SignOut(ctx context.Context, name string) (signin.SignedOut, error)
}

// signingIn is the body that begins a sign-in.
type signingIn struct {
	RedirectURI string `json:"redirectUri"`
}

// completing is the body that finishes one.
type completing struct {
	Callback string `json:"callback"`
}

func (s *Server) signInRoutes() {
	const one, id = "/servers/{name}/sign-in", "/sign-ins/{id}"
	s.serving("POST "+one, func(r *http.Request) (any, error) {
		asked, err := readBody[signingIn](r)
		if err != nil {
			return nil, err
		}
		return s.opts.Gateway.SignIn(r.Context(), r.PathValue("name"), signin.How{RedirectURI: asked.RedirectURI})
	})
	s.serving("DELETE "+one, func(r *http.Request) (any, error) {
		return done{Done: s.opts.Gateway.CancelSignIn(r.PathValue("name"))}, nil
	})
	s.serving("DELETE /servers/{name}/grant", func(r *http.Request) (any, error) {
		return s.opts.Gateway.SignOut(r.Context(), r.PathValue("name"))
	})
	s.serving("GET "+id, func(r *http.Request) (any, error) { return s.opts.Gateway.AwaitSignIn(r.Context(), r.PathValue("id")) })
	s.serving("POST "+id, func(r *http.Request) (any, error) {
		asked, err := readBody[completing](r)
		if err != nil {
			return nil, err
		}
		return s.opts.Gateway.CompleteSignIn(r.Context(), r.PathValue("id"), asked.Callback)
	})
}

// SignIn begins a sign-in to a remote MCP server, or joins the one that is under
// way. redirect is an https address that the caller hosts, to be handed to
// CompleteSignIn; "" has the browser come back to the resident. It takes half a
// minute at most.
func (c *Client) SignIn(ctx context.Context, name, redirect string) (servers.SignIn, error) {
	return ask[servers.SignIn](ctx, c, http.MethodPost, "/servers/"+url.PathEscape(name)+"/sign-in", signingIn{RedirectURI: redirect})
}

// AwaitSignIn waits for the end of a sign-in, ten minutes at most, and returns how
// the server then is. A *RefusedError says why it came to nothing.
func (c *Client) AwaitSignIn(ctx context.Context, id string) (servers.Status, error) {
	return ask[servers.Status](ctx, c, http.MethodGet, "/sign-ins/"+url.PathEscape(id), nil)
}

// CompleteSignIn finishes a sign-in that comes back to an address of the caller's.
func (c *Client) CompleteSignIn(ctx context.Context, id, callback string) (servers.Status, error) {
	return ask[servers.Status](ctx, c, http.MethodPost, "/sign-ins/"+url.PathEscape(id), completing{Callback: callback})
}

// CancelSignIn gives a sign-in up. It reports whether one was under way.
func (c *Client) CancelSignIn(ctx context.Context, name string) (bool, error) {
	reply, err := ask[done](ctx, c, http.MethodDelete, "/servers/"+url.PathEscape(name)+"/sign-in", nil)
	return reply.Done, err
}

// SignOut ends the sign-in to a server: it is revoked, where that can be, and
// forgotten.
func (c *Client) SignOut(ctx context.Context, name string) (signin.SignedOut, error) {
	return ask[signin.SignedOut](ctx, c, http.MethodDelete, "/servers/"+url.PathEscape(name)+"/grant", nil)
}
