package signin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// checkAuthority returns an error when the entry's own secret would go to another
// authorization server than it went to before. A server names whom it likes, and
// could so have the secret sent to itself.
func (a *Account) checkAuthority(au *authority) error {
	before := a.current()
	if before == nil || before.Authority.Issuer == au.Issuer || a.settings().ClientSecret == "" {
		return nil
	}
	return a.require(NeededError{Again: true, Reason: fmt.Sprintf(
		"the server names another authorization server, %s, than %s, which it was signed in to at; the client's secret is not sent there. If it is right, sign out first (`pointsman servers logout %s`)",
		printable(au.Issuer, 200), before.Authority.Issuer, shellName(a.name))})
}

// chooseClient returns what we are to be at an authorization server: a client
// ID metadata document, the entry's client, the one that is registered there
// already, or a new one.
func (a *Account) chooseClient(ctx context.Context, w *witness, au *authority, redirect string) (client, error) {
	server := a.settings()
	document := isDocument(server.ClientID)
	if server.ClientID != "" && (!document || au.documents) {
		return client{ID: server.ClientID, Secret: server.ClientSecret}, nil
	}
	if known, ok := a.registered(au.Issuer, redirect); ok {
		return known, nil
	}
	if au.register == "" {
		return client{}, fmt.Errorf("registering with %s: it lets no program register itself; register one there by hand, with the redirect address %s, and write its id as `oauthClientId` in the entry of %q", au.Issuer, redirect, a.name)
	}
	return a.keeper.register(ctx, w, au, redirect)
}

// isDocument reports whether a client id is the address of a client ID metadata
// document.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Host != "" && len(u.Path) > 1
}

// registered returns the client that was registered before.
func (a *Account) registered(issuer, redirect string) (client, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.grant == nil {
		return client{}, false
	}
	c := a.grant.Client
	fresh := c.Expires == 0 || time.Now().Before(time.Unix(c.Expires, 0))
	return c, c.Issuer != "" && c.Issuer == issuer && fresh && slices.Contains(c.Redirect, redirect)
}

// register makes us known (RFC 7591), as a client without a secret if that will
// do.
func (k *Keeper) register(ctx context.Context, w *witness, au *authority, redirect string) (client, error) {
	doing := "registering with " + au.Issuer
	method := "none"
	if len(au.Methods) > 0 && !slices.Contains(au.Methods, method) {
		method = au.Methods[0]
		for _, other := range []string{"client_secret_basic", "client_secret_post"} {
			if slices.Contains(au.Methods, other) {
				method = other
			}
		}
	}
	kind := "web"
	if u, err := url.Parse(redirect); err == nil && isLoopback(u.Hostname()) {
		kind = "native"
	}
	answer, err := oauthex.RegisterClient(ctx, au.register, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: method, ApplicationType: kind,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		ClientName: "Pointsman", SoftwareID: "pointsman", SoftwareVersion: k.opts.Version,
	}, w.Client)
	if err != nil {
		var refused *oauthex.ClientRegistrationError
		if fault := w.fault(doing); fault != nil {
			return client{}, fault
		}
		if errors.As(err, &refused) {
			return client{}, newRefused(doing, refused.ErrorCode, refused.ErrorDescription)
		}
		return client{}, fmt.Errorf("%s: its answer (%d) is no registration", doing, w.last()) // what it holds may be a secret
	}
	k.opts.Learn(answer.ClientSecret)
	c := client{ID: answer.ClientID, Secret: answer.ClientSecret, Method: answer.TokenEndpointAuthMethod, Redirect: []string{redirect}, Issuer: au.Issuer}
	if answer.ClientSecret != "" && !answer.ClientSecretExpiresAt.IsZero() {
		c.Expires = answer.ClientSecretExpiresAt.Unix()
	}
	return c, nil
}
