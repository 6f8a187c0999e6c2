package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// authority is an authorization server, and what it does for one resource.
type authority struct {
	Issuer   string   `json:"issuer"`
	Resource string   `json:"resource"` // what tokens are asked for (RFC 8707)
	Token    string   `json:"token"`    // the endpoints; "" for one that there is not
	Revoke   string   `json:"revoke,omitempty"`
	Methods  []string `json:"methods,omitempty"` // how a client may show its secret

	authorize, register string
	documents           bool // client ID metadata documents will do
	namesItself         bool // it sends iss along (RFC 9207)
	scopes              []string
	offline             bool // offline_access is a scope of it
}

// challenge is what a server asks for in a 401 or 403 (RFC 6750, RFC 9728).
type challenge struct {
	metadata string   // resource_metadata
	scopes   []string // scope
	code     string   // error: invalid_token, insufficient_scope …
}

// readChallenge reads WWW-Authenticate. What cannot be read asks for nothing.
func readChallenge(header http.Header) challenge {
	var c challenge
	challenges, err := oauthex.ParseWWWAuthenticate(header.Values("WWW-Authenticate"))
	if err != nil {
		return c
	}
	for _, ch := range challenges {
		if ch.Scheme == "bearer" && c.metadata == "" && c.code == "" && c.scopes == nil {
			c = challenge{metadata: ch.Params["resource_metadata"], code: ch.Params["error"], scopes: strings.Fields(ch.Params["scope"])}
		}
	}
	return c
}

// discover finds out who gives tokens for a server.
func (k *Keeper) discover(ctx context.Context, w *witness, server Server, c challenge) (*authority, error) {
	if err := checkSecure(server.URL); err != nil {
		return nil, fmt.Errorf("signing in to %q: its url %w: a token would not be safe on the way", server.Name, err)
	}
	resource, err := resourceMetadata(ctx, w, server.URL, c.metadata)
	if err != nil {
		return nil, err
	}
	legacy := resource == nil // a server of before RFC 9728: it is its own authorization server
	if legacy {
		resource = &oauthex.ProtectedResourceMetadata{Resource: server.URL, AuthorizationServers: []string{originOf(server.URL)}}
	}
	issuer := resource.AuthorizationServers[0]
	doing := "asking the authorization server " + issuer + " what it offers"
	if err := checkSecure(issuer); err != nil {
		return nil, fmt.Errorf("%s: its address %w", doing, err)
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, w.Client)
	switch {
	case err != nil:
		return nil, firstError(w.fault(doing), fmt.Errorf("%s: %w", doing, err))
	case meta == nil && !legacy:
		return nil, fmt.Errorf("%s: it has no metadata (RFC 8414), as MCP wants it", doing)
	case meta == nil: // the addresses that MCP had before there was metadata
		meta = &oauthex.AuthServerMeta{
			Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize", TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register",
			CodeChallengeMethodsSupported: []string{"S256"}, TokenEndpointAuthMethodsSupported: []string{"none", "client_secret_post"},
		}
	}
	if err := checkMetadata(meta); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return newAuthority(meta, resource), nil
}

// firstError returns fault, or else err.
func firstError(fault, err error) error {
	if fault != nil {
		return fault
	}
	return err
}

func newAuthority(meta *oauthex.AuthServerMeta, resource *oauthex.ProtectedResourceMetadata) *authority {
	return &authority{
		Issuer: meta.Issuer, Resource: resource.Resource, Token: meta.TokenEndpoint, Revoke: meta.RevocationEndpoint,
		Methods:   meta.TokenEndpointAuthMethodsSupported,
		authorize: meta.AuthorizationEndpoint, register: meta.RegistrationEndpoint,
		documents: meta.ClientIDMetadataDocumentSupported, namesItself: meta.AuthorizationResponseIssParameterSupported,
		scopes: resource.ScopesSupported, offline: slices.Contains(meta.ScopesSupported, "offline_access"),
	}
}

// checkMetadata checks what the SDK does not: that each endpoint we would use is
// safe to use, and that codes can be tied to us with SHA-256.
func checkMetadata(meta *oauthex.AuthServerMeta) error {
	if meta.TokenEndpoint == "" {
		return errors.New("its metadata names no token endpoint")
	}
	if !slices.Contains(meta.CodeChallengeMethodsSupported, "S256") {
		return errors.New("it does not do PKCE with S256, which MCP wants")
	}
	for name, address := range map[string]string{
		"authorization": meta.AuthorizationEndpoint, "token": meta.TokenEndpoint, "registration": meta.RegistrationEndpoint, "revocation": meta.RevocationEndpoint,
	} {
		if address == "" {
			continue
		}
		if err := checkSecure(address); err != nil {
			return fmt.Errorf("its %s endpoint %w", name, err)
		}
	}
	return nil
}

// resourceMetadata returns what a server says of itself (RFC 9728), or nil if it
// says nothing. What it says in vain is an error: to guess then could lead a
// token elsewhere.
func resourceMetadata(ctx context.Context, w *witness, server, named string) (*oauthex.ProtectedResourceMetadata, error) {
	var wrong error
	for _, address := range metadataAddresses(server, named) {
		doing := "asking " + originOf(address) + " who gives tokens for the server"
		if err := checkSecure(address); err != nil {
			return nil, fmt.Errorf("%s: the address that the server names for it %w", doing, err)
		}
		for _, resource := range identifiers(server) {
			meta, err := oauthex.GetProtectedResourceMetadata(ctx, address, resource, w.Client)
			if err == nil && len(meta.AuthorizationServers) == 0 {
				err = errors.New("it names no authorization server")
			}
			if err == nil {
				return meta, nil
			}
			if fault := w.fault(doing); fault != nil {
				return nil, fault
			}
			if w.last() != http.StatusOK {
				break // there is nothing at this address
			}
			if wrong == nil {
				wrong = fmt.Errorf("%s: %w", doing, err)
			}
		}
	}
	return nil, wrong
}

// metadataAddresses are where a server's metadata may be: where it says, below
// its path, at its root.
func metadataAddresses(server, named string) []string {
	const wellKnown = "/.well-known/oauth-protected-resource"
	var all []string
	if named != "" {
		all = append(all, named)
	}
	u, err := url.Parse(server)
	if err != nil {
		return all
	}
	below := url.URL{Scheme: u.Scheme, Host: u.Host, Path: wellKnown + strings.TrimSuffix(u.Path, "/"), RawQuery: u.RawQuery}
	root := url.URL{Scheme: u.Scheme, Host: u.Host, Path: wellKnown}
	return slices.Compact(append(all, below.String(), root.String()))
}

// identifiers are how a server may call itself: by its address, as it should, or
// with a slash more or less, or by its origin. Each covers the address, and none
// leaves the origin.
func identifiers(server string) []string {
	origin := originOf(server)
	slashed := server + "/"
	if bare, ok := strings.CutSuffix(server, "/"); ok {
		slashed = bare
	}
	all := []string{server}
	for _, other := range []string{slashed, origin, origin + "/"} {
		if !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	return all
}

// originOf is the scheme and host of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}
