package gateway

import (
	"context"

	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
)

// SignIn begins a sign-in to a remote MCP server, or joins the one that is under
// way. The caller has a person open its URL. See servers.Host.SignIn.
func (g *Gateway) SignIn(ctx context.Context, name string, how signin.How) (servers.SignIn, error) {
	return g.host.SignIn(ctx, name, how)
}

// AwaitSignIn waits for the end of a sign-in; then the server's tools can be
// called. See servers.Host.AwaitSignIn.
func (g *Gateway) AwaitSignIn(ctx context.Context, id string) (servers.Status, error) {
	return g.keep(ctx, id, g.host.AwaitSignIn)
}

// CompleteSignIn finishes a sign-in that comes back to an address of the
// caller's: callback is the whole address that the browser came to there. See
// servers.Host.CompleteSignIn.
func (g *Gateway) CompleteSignIn(ctx context.Context, id, callback string) (servers.Status, error) {
	return g.keep(ctx, id, func(ctx context.Context, id string) (servers.Status, error) {
		return g.host.CompleteSignIn(ctx, id, callback)
	})
}

// CancelSignIn gives up the sign-in to a server that is under way, and reports
// whether there was one.
func (g *Gateway) CancelSignIn(name string) bool { return g.host.CancelSignIn(name) }

// SignOut ends the sign-in to a server. See servers.Host.SignOut.
func (g *Gateway) SignOut(ctx context.Context, name string) (signin.SignedOut, error) {
	return g.host.SignOut(ctx, name)
}
