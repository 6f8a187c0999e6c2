package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// SignedOut is what came of signing out.
type SignedOut struct {
	Was     bool `json:"was"`     // there was a sign-in
	Revoked bool `json:"revoked"` // its authorization server has been told that it is over
}

// SignOut cancels a sign-in that is under way, has the authorization server
// revoke the tokens if it offers that (RFC 7009), and forgets them, and the
// client that was registered there. They are forgotten also when an error says
// that they could not be revoked.
func (a *Account) SignOut(ctx context.Context) (SignedOut, error) {
	ctx, cancel := context.WithTimeout(ctx, stepPatience)
	defer cancel()
	if f := a.keeper.Waiting(a.name); f != nil {
		f.Cancel()
		if err := f.Wait(ctx); ctx.Err() != nil {
			return SignedOut{}, err
		}
	}
	if err := a.load(ctx); err != nil {
		return SignedOut{}, fmt.Errorf("signing out of %q: %w", a.name, err)
	}
	g := a.current()
	out := SignedOut{Was: g.signedIn()}
	var fault error
	if out.Was && g.Authority.Revoke != "" {
		fault = a.revoke(ctx, g)
		out.Revoked = fault == nil
	}
	if err := errors.Join(fault, a.forget(ctx)); err != nil {
		return out, fmt.Errorf("signing out of %q: %w", a.name, err)
	}
	a.keeper.opts.OnChange(a.name, false)
	return out, nil
}

// revoke revokes the refresh token, which ends what was made of it, and the
// access token, where that is not so.
func (a *Account) revoke(ctx context.Context, g *grant) error {
	w := a.keeper.net.client(ctx, a.settings().URL)
	for _, token := range []struct{ value, kind string }{{g.Refresh, "refresh_token"}, {g.Access, "access_token"}} {
		if token.value == "" {
			continue
		}
		if err := revokeToken(ctx, w, g, token.value, token.kind); err != nil {
			return err
		}
	}
	return nil
}

func revokeToken(ctx context.Context, w *witness, g *grant, token, kind string) error {
	doing := "revoking the token at " + originOf(g.Authority.Revoke)
	form := url.Values{"token": {token}, "token_type_hint": {kind}}
	inHeader := g.Client.style(g.Authority) == oauth2.AuthStyleInHeader
	if !inHeader {
		form.Set("client_id", g.Client.ID)
		if g.Client.Secret != "" {
			form.Set("client_secret", g.Client.Secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.Authority.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("%s: its address cannot be used", doing)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if inHeader {
		req.SetBasicAuth(url.QueryEscape(g.Client.ID), url.QueryEscape(g.Client.Secret)) // RFC 6749, section 2.3.1
	}
	resp, err := w.Do(req)
	if err == nil {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // so that the connection can be used again
		err = resp.Body.Close()
	}
	if fault := w.fault(doing); fault != nil {
		return fault
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		return newRefused(doing, fmt.Sprintf("%d %s", w.last(), http.StatusText(w.last())), "")
	}
	return nil
}
