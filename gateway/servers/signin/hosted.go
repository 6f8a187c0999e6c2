package signin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Complete finishes a sign-in whose redirect address the caller hosts. callback
// is the whole address that the browser came to there, as the caller's own
// configuration has its scheme and host: what a request says of them, in Host or
// in a forwarded header, is not to be trusted. One that does not fit the flow's
// redirect address, or its state, is refused, and the flow goes on.
func (k *Keeper) Complete(ctx context.Context, id, callback string) (*Flow, error) {
	f, err := k.Flow(id)
	if err != nil {
		return nil, err
	}
	if !f.hosted {
		return f, fmt.Errorf("completing the sign-in to %q: its browser comes back to Pointsman itself", f.Server)
	}
	values, err := checkCallback(f.RedirectURI, callback)
	if err == nil {
		err = f.accept(values)
	}
	if err != nil {
		return f, fmt.Errorf("completing the sign-in to %q: %w", f.Server, err)
	}
	return f, f.Wait(ctx)
}

// checkCallback returns the parameters of an address that a browser came to, if
// it is the one that it was sent to.
func checkCallback(redirect, callback string) (url.Values, error) {
	want, err := url.Parse(redirect)
	if err != nil {
		return nil, err
	}
	got, err := url.Parse(strings.TrimSpace(callback))
	if err != nil {
		return nil, errors.New("the callback is no address") // which may have the code in it
	}
	switch {
	case got.Scheme != want.Scheme || hostOf(got) != hostOf(want) || got.User != nil || got.Opaque != "":
		return nil, fmt.Errorf("the callback is not at %s, where the browser was sent", originOf(redirect))
	case got.EscapedPath() != want.EscapedPath():
		return nil, fmt.Errorf("the callback has another path than %s, where the browser was sent", redirect)
	case got.Fragment != "":
		return nil, errors.New("the callback has a fragment")
	}
	values, err := url.ParseQuery(got.RawQuery)
	if err != nil {
		return nil, errors.New("the callback's query cannot be read")
	}
	return values, nil
}

// hostOf is host and port, the latter also where it is the scheme's own.
func hostOf(u *url.URL) string {
	port := u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

// checkRedirectURI returns what is wrong with an address that the caller hosts.
func checkRedirectURI(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return fmt.Errorf("reading the redirect address: it must be an https address, such as https://example.com/callback")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(address, "#"):
		return fmt.Errorf("reading the redirect address: it must have neither query nor fragment")
	case u.User != nil:
		return fmt.Errorf("reading the redirect address: it must have neither name nor password")
	}
	return nil
}
