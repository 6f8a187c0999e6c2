package signin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// joint is work that all share who want it at the same time.
type joint struct {
	done    chan struct{}
	err     error // when done
	waiting int   // who still waits; guarded by the account's lock
}

// renew gets another token than the one that was used. Those who want it at the
// same time share one renewal. The error may be a *NeededError, which Need
// returns from then on.
func (a *Account) renew(ctx context.Context, used string) error {
	there := func() bool { g := a.currentLocked(); return g.valid() && g.Access != used }
	return a.join(ctx, &a.renewing, there, func(ctx context.Context) error {
		err := a.renewNow(ctx)
		a.tellRecovery(err)
		return err
	})
}

// join waits for the work that runs in a slot, or begins it there, unless there
// is what it is to bring. The work goes on when ctx ends: a token that was
// renewed and not taken would be lost.
func (a *Account) join(ctx context.Context, slot **joint, there func() bool, work func(context.Context) error) error {
	a.mu.Lock()
	if there() {
		a.mu.Unlock()
		return nil
	}
	j := *slot
	if j == nil {
		j = &joint{done: make(chan struct{})}
		if err := a.keeper.background(func(ctx context.Context) { a.runJoint(ctx, slot, work) }); err != nil {
			a.mu.Unlock()
			return err
		}
		*slot = j
	}
	j.waiting++
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		j.waiting--
	}()
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *Account) runJoint(ctx context.Context, slot **joint, work func(context.Context) error) {
	err := work(ctx)
	a.mu.Lock()
	j := *slot
	j.err, *slot = err, nil
	a.mu.Unlock()
	close(j.done)
}

// renewNow renews the grant, as another process may just have done.
func (a *Account) renewNow(ctx context.Context) error {
	if flow := a.keeper.Waiting(a.name); flow != nil && a.handedBack() {
		_ = flow.Wait(ctx) // the person is at it; what came of it is seen below
		if a.current().valid() {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stepPatience)
	defer cancel()
	if a.settings().Grant == ClientCredentials {
		return a.serveSelf(ctx)
	}
	if err := a.loadOrRequire(ctx); err != nil {
		return err
	}
	if a.adopt(ctx) {
		return nil
	}
	g := a.current()
	switch {
	case g == nil:
		return a.require(NeededError{Reason: "the server wants a sign-in"})
	case !g.signedIn():
		return a.requireAgain()
	case g.Refresh == "":
		return a.end(ctx, g, "the sign-in has expired")
	}
	w := a.keeper.net.client(ctx, a.settings().URL)
	token, err := requestToken(ctx, w, g.Authority, g.Client, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}}, nil)
	var refused *RefusedError
	switch {
	case errors.As(err, &refused) && a.adopt(ctx): // its token was used up meanwhile
		return nil
	case errors.As(err, &refused):
		return a.end(ctx, g, "the sign-in has ended: "+err.Error())
	case err != nil:
		return fmt.Errorf("renewing the sign-in to %q: %w", a.name, err)
	}
	g.take(token)
	if g.Client.Issuer == "" {
		g.Client.Secret = "" // it is its entry's
	}
	if err := a.keep(ctx, g); err != nil {
		a.keeper.opts.Logger.Warn("the renewed sign-in cannot be stored and lasts until this program ends", "server", a.name, "error", err)
	}
	return nil
}

// adopt takes over a grant that another process of ours has stored meanwhile,
// and reports whether its token may be used.
func (a *Account) adopt(ctx context.Context) bool {
	stored, err := a.read(ctx)
	if err != nil || stored == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.grant != nil && stored.Access == a.grant.Access && stored.Refresh == a.grant.Refresh {
		return false
	}
	if a.grant != nil && stored.Expires.Before(a.grant.Expires) {
		return false // ours could not be stored
	}
	a.grant, a.loaded = stored, true
	return a.currentLocked().valid()
}

// end drops tokens that are of no use any more.
func (a *Account) end(ctx context.Context, g *grant, reason string) error {
	if err := a.keep(ctx, g.without()); err != nil {
		a.keeper.opts.Logger.Warn("a sign-in that has ended cannot be removed from the keychain", "server", a.name, "error", err)
	}
	return a.require(NeededError{Reason: reason, Again: true})
}

// serveSelf gets a token for a program that signs in for itself.
func (a *Account) serveSelf(ctx context.Context) error {
	a.mu.Lock()
	server, c, wanted := a.server, a.asked, a.wanted
	a.mu.Unlock()
	if server.ClientID == "" || server.ClientSecret == "" {
		return a.require(NeededError{Reason: "its `oauthGrantType` is client_credentials, which needs `oauthClientId` and `oauthClientSecret` in its entry"})
	}
	w := a.keeper.net.client(ctx, server.URL)
	au, err := a.keeper.discover(ctx, w, server, c)
	if err == nil {
		err = a.checkAuthority(au)
	}
	if err != nil {
		return err
	}
	self := client{ID: server.ClientID, Secret: server.ClientSecret}
	scopes := union(firstOf(c.scopes, server.Scopes, au.scopes), wanted)
	token, err := requestToken(ctx, w, *au, self, nil, scopes)
	var refused *RefusedError
	if errors.As(err, &refused) {
		return a.require(NeededError{Reason: err.Error() + " (see `oauthClientId` and `oauthClientSecret` in its entry)", Again: true})
	}
	if err != nil {
		return err
	}
	return a.keep(ctx, newGrant(*au, client{ID: self.ID}, server.ClientID, token, scopes))
}

// firstOf returns the first list that is not empty.
func firstOf(lists ...[]string) []string {
	for _, list := range lists {
		if len(list) > 0 {
			return slices.Clone(list)
		}
	}
	return nil
}
