package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"pointsman/gateway/secrets"
)

// grant is what a server's keychain entry holds: the client that we are at its
// authorization server and, while signed in, the tokens.
type grant struct {
	Authority authority `json:"authority"`
	Client    client    `json:"client"`
	Entry     string    `json:"entry"` // the entry's client id then: with another one, this grant is not meant
	Access    string    `json:"access,omitempty"`
	Refresh   string    `json:"refresh,omitempty"`
	Expires   time.Time `json:"expires,omitzero"` // zero: it is not told
	Renew     time.Time `json:"renew,omitzero"`   // from when the token is renewed; zero: when it is refused
	Scopes    []string  `json:"scopes,omitempty"` // what was granted
}

// newGrant makes a grant of an answer of the token endpoint.
func newGrant(au authority, c client, entry string, token *oauth2.Token, asked []string) *grant {
	g := &grant{Authority: au, Client: c, Entry: entry, Scopes: asked}
	g.take(token)
	return g
}

// take puts the tokens of an answer in the place of those before.
func (g *grant) take(token *oauth2.Token) {
	g.Access, g.Expires, g.Renew = token.AccessToken, token.Expiry, time.Time{}
	if token.RefreshToken != "" { // else the one before goes on (RFC 6749, section 6)
		g.Refresh = token.RefreshToken
	}
	if scope, ok := token.Extra("scope").(string); ok && scope != "" {
		g.Scopes = strings.Fields(scope)
	}
	if !g.Expires.IsZero() {
		g.Renew = g.Expires.Add(-min(time.Minute, time.Until(g.Expires)/10))
	}
}

// without returns the grant less its tokens: the client is known there still.
func (g *grant) without() *grant {
	return &grant{Authority: g.Authority, Client: g.Client, Entry: g.Entry}
}

func (g *grant) signedIn() bool { return g != nil && (g.Access != "" || g.Refresh != "") }

// valid reports whether the token may be sent.
func (g *grant) valid() bool {
	return g != nil && g.Access != "" && (g.Expires.IsZero() || time.Now().Before(g.Expires))
}

// due reports whether the token is to be renewed.
func (g *grant) due() bool { return !g.valid() || !g.Renew.IsZero() && !time.Now().Before(g.Renew) }

// load reads the grant, once. A keychain that cannot be read is asked again
// after a while, and not for each request: it may take its time to say so.
func (a *Account) load(ctx context.Context) error {
	const unreadable = 20 * time.Second
	a.mu.Lock()
	loaded, again, fault := a.loaded, a.readAgain, a.unread
	a.mu.Unlock()
	if loaded {
		return nil
	}
	if time.Now().Before(again) {
		return fault
	}
	g, err := a.read(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.loaded: // somebody else has, or has signed in
	case err != nil:
		a.unread, a.readAgain = err, time.Now().Add(unreadable)
		return err
	default:
		a.grant, a.loaded, a.unread = g, true, nil
	}
	return nil
}

// read returns the keychain's grant, or nil.
func (a *Account) read(ctx context.Context) (*grant, error) {
	text, err := a.keeper.opts.Keychain.Get(ctx, a.entry)
	if errors.Is(err, secrets.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	g := &grant{}
	if json.Unmarshal([]byte(text), g) != nil {
		a.keeper.opts.Logger.Warn("a sign-in in the keychain cannot be read, and is left aside", "server", a.name, "entry", a.entry)
		return nil, nil
	}
	a.learn(g)
	return g, nil
}

func (a *Account) learn(g *grant) {
	for _, secret := range []string{g.Access, g.Refresh, g.Client.Secret} {
		a.keeper.opts.Learn(secret)
	}
}

// keep puts a grant in force and, unless it can be had again without a person,
// into the keychain.
func (a *Account) keep(ctx context.Context, g *grant) error {
	a.learn(g)
	a.mu.Lock()
	a.grant, a.loaded = g, true
	own := a.server.Grant == ClientCredentials
	a.mu.Unlock()
	if own {
		return nil
	}
	text, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("writing the sign-in to %q: %w", a.name, err)
	}
	return a.keeper.opts.Keychain.Set(ctx, a.entry, string(text))
}

// forget removes the grant from memory and from the keychain.
func (a *Account) forget(ctx context.Context) error {
	a.mu.Lock()
	a.grant, a.loaded, a.given, a.wanted, a.need = nil, true, given{}, nil, nil
	a.mu.Unlock()
	if err := a.keeper.opts.Keychain.Delete(ctx, a.entry); !errors.Is(err, secrets.ErrNotFound) {
		return err
	}
	return nil
}

// union returns the scopes of both, each once, the first ones first.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, scope := range b {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all
}
