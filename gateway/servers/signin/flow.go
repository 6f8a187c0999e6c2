package signin

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"
)

// Flow is a person's sign-in that is under way, or has ended.
type Flow struct {
	// Fixed at creation.
	ID      string    // who has it may complete the sign-in
	Server  string    // its name
	Expires time.Time // when it is given up
	account *Account
	keeper  *Keeper
	hosted  bool
	cancel  context.CancelCauseFunc

	ready chan struct{} // closed when the fields below are set, or err is
	// URL is what the person opens in a browser; "" when there is nothing to
	// open, as the server is signed in to without a person.
	URL string
	// RedirectURI is where the browser comes back to.
	RedirectURI string
	authority   *authority
	client      client
	scopes      []string
	state       string
	verifier    string // of PKCE

	answer   chan url.Values // size 1: what the browser has brought
	answered bool            // guarded by the keeper's lock
	ended    bool            // guarded by the keeper's lock
	done     chan struct{}   // closed at the end, when err is set
	err      error
}

// How says how a person signs in.
type How struct {
	// RedirectURI is an https address that the caller hosts, without query or
	// fragment; what the browser brings there is handed to Complete. If empty, the
	// browser comes back to a door of ours on loopback.
	RedirectURI string
}

// errReplaced ends a flow that another one takes the place of.
var errReplaced = errors.New("another sign-in was begun, which comes back elsewhere")

// ErrCancelled ends a flow that somebody has cancelled.
var ErrCancelled = errors.New("the sign-in was cancelled")

// errTooLate ends a flow whose person did not come back.
var errTooLate = fmt.Errorf("nobody came back from the browser within %s", flowPatience)

// Begin begins a sign-in, or joins the one that is under way, and returns when
// there is an address to open, or none is needed. The flow ends by itself.
func (a *Account) Begin(ctx context.Context, how How) (*Flow, error) {
	if err := checkRedirectURI(how.RedirectURI); err != nil {
		return nil, err
	}
	f, err := a.begin(how)
	if err != nil {
		return nil, err
	}
	select {
	case <-f.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case <-f.done:
		return f, f.err
	default:
		return f, nil
	}
}

// begin returns the flow that runs, or starts one.
func (a *Account) begin(how How) (*Flow, error) {
	k := a.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.flows {
		switch {
		case f.ended || f.account.name != a.name:
		case f.account == a && f.hosted == (how.RedirectURI != "") && (!f.hosted || f.RedirectURI == how.RedirectURI):
			return f, nil
		default:
			f.cancel(errReplaced)
		}
	}
	if k.closed {
		return nil, errClosing
	}
	k.pruneFlowsLocked()
	f := &Flow{
		ID: rand.Text(), Server: a.name, Expires: time.Now().Add(flowPatience), account: a, keeper: k, hosted: how.RedirectURI != "",
		RedirectURI: how.RedirectURI, state: rand.Text(), verifier: oauth2.GenerateVerifier(),
		ready: make(chan struct{}), answer: make(chan url.Values, 1), done: make(chan struct{}),
	}
	ctx, cancel := context.WithCancelCause(k.ctx)
	f.cancel = cancel
	k.flows[f.ID] = f
	k.work.Go(func() { f.run(ctx) })
	return f, nil
}

// pruneFlowsLocked forgets those that have ended, when there are many.
func (k *Keeper) pruneFlowsLocked() {
	const many = 32
	if len(k.flows) >= many {
		maps.DeleteFunc(k.flows, func(_ string, f *Flow) bool { return f.ended })
	}
}

// Wait waits for the end of the sign-in, and returns why it came to nothing.
func (f *Flow) Wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cancel gives the sign-in up.
func (f *Flow) Cancel() { f.cancel(ErrCancelled) }

// run is the whole sign-in.
func (f *Flow) run(parent context.Context) {
	ctx, cancel := context.WithDeadlineCause(parent, f.Expires, errTooLate)
	defer cancel()
	defer f.cancel(nil)
	err := f.prepare(ctx)
	if err == nil && f.URL != "" {
		close(f.ready)
		err = f.await(ctx)
		f.end(err)
		f.keeper.leaveDoor(f) // its door waits for the page that tells the end
		return
	}
	f.end(err)
	close(f.ready)
	f.keeper.leaveDoor(f)
}

// end settles the flow, and tells everybody.
func (f *Flow) end(err error) {
	k := f.keeper
	if err != nil {
		err = fmt.Errorf("signing in to %q: %w", f.Server, err)
	}
	k.mu.Lock()
	f.ended, f.err = true, err
	k.mu.Unlock()
	e := Event{Kind: OAuthCompleted, Server: f.Server, Outcome: Succeeded, Err: err}
	if err != nil {
		e.Outcome = Failed
	}
	if errors.Is(err, ErrCancelled) || errors.Is(err, errClosing) || errors.Is(err, errReplaced) {
		e.Outcome = Cancelled
	}
	if err == nil {
		k.opts.OnChange(f.Server, true)
	}
	k.opts.OnEvent(e)
	close(f.done)
}

// prepare finds everything out that the address for the browser needs.
func (f *Flow) prepare(ctx context.Context) error {
	step, cancel := context.WithTimeout(ctx, stepPatience)
	defer cancel()
	a := f.account
	if err := a.load(step); err != nil {
		return err // there is nowhere to keep the tokens
	}
	server := a.settings()
	if server.Grant == ClientCredentials {
		return a.renew(step, access(a.current()))
	}
	w := f.keeper.net.client(step, server.URL)
	c := a.challenged(step, w, server)
	var err error
	if f.authority, err = f.keeper.discover(step, w, server, c); err != nil {
		return orCause(step, err)
	}
	if err := a.checkAuthority(f.authority); err != nil {
		return err
	}
	if f.authority.authorize == "" {
		return fmt.Errorf("the authorization server %s has no page to sign in at", f.authority.Issuer)
	}
	f.scopes = a.scopesFor(c, f.authority)
	if !f.hosted {
		if f.RedirectURI, err = f.keeper.enterDoor(f, server); err != nil {
			return err
		}
	}
	if f.client, err = a.chooseClient(step, w, f.authority, f.RedirectURI); err != nil {
		return orCause(step, err)
	}
	f.URL = f.address()
	return nil
}

// orCause returns why ctx has ended, if it has, or else err.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrCancelled) {
		return ErrCancelled
	}
	return err
}

// address is what the person opens.
func (f *Flow) address() string {
	config := oauth2.Config{ClientID: f.client.ID, RedirectURL: f.RedirectURI, Scopes: f.scopes, Endpoint: oauth2.Endpoint{AuthURL: f.authority.authorize}}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(f.verifier), oauth2.SetAuthURLParam("resource", f.authority.Resource)}
	if slices.Contains(f.scopes, offlineAccess) { // OpenID Connect Core, section 11, wants the person asked
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	return config.AuthCodeURL(f.state, options...)
}

const offlineAccess = "offline_access" // the scope for which some servers give a refresh token

// scopesFor returns the scopes to ask for: those of the server's challenge, of
// the entry, or of the server's metadata; those that were granted stay when the
// server wants more.
func (a *Account) scopesFor(c challenge, au *authority) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	scopes := firstOf(c.scopes, a.server.Scopes, au.scopes)
	if g := a.currentLocked(); g != nil && g.Authority.Issuer == au.Issuer {
		scopes = union(g.Scopes, scopes)
	}
	scopes = union(scopes, a.wanted)
	if au.offline {
		scopes = union(scopes, []string{offlineAccess})
	}
	return scopes
}

// challenged returns what the server has asked for, now if it never was asked.
// That it does not say is no fault: its metadata may be found all the same.
func (a *Account) challenged(ctx context.Context, w *witness, server Server) challenge {
	a.mu.Lock()
	c := a.asked
	a.mu.Unlock()
	if c.metadata != "" || c.scopes != nil || c.code != "" {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, stepPatience/3)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)))
	if err != nil {
		return c
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := w.Do(req)
	if err != nil {
		return c
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // the answer's head is what counts
	if resp.StatusCode == http.StatusUnauthorized {
		return readChallenge(resp.Header)
	}
	return c
}

// await waits for the browser, and gives what it brings for a grant.
func (f *Flow) await(ctx context.Context) error {
	var values url.Values
	select {
	case values = <-f.answer:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	code, err := f.code(values)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stepPatience)
	defer cancel()
	a := f.account
	w := f.keeper.net.client(ctx, a.settings().URL)
	token, err := exchange(ctx, w, *f.authority, f.client, f.RedirectURI, code, f.verifier)
	if err != nil {
		return err
	}
	kept := f.client
	if kept.Issuer == "" {
		kept.Secret = "" // it is its entry's
	}
	if err := a.keep(ctx, newGrant(*f.authority, kept, a.settings().ClientID, token, f.scopes)); err != nil {
		return errors.Join(err, a.forget(ctx))
	}
	a.mu.Lock()
	a.need, a.wanted, a.asked = nil, nil, challenge{}
	a.mu.Unlock()
	return nil
}

// code returns the code that the browser has brought, if it comes from the
// authorization server that was asked (RFC 9207).
func (f *Flow) code(values url.Values) (string, error) {
	doing := "coming back from " + f.authority.Issuer
	issuer := values.Get("iss")
	switch {
	case issuer == "" && f.authority.namesItself:
		return "", fmt.Errorf("%s: the answer does not say who it is from, though this server always does: it is not used", doing)
	case issuer != "" && issuer != f.authority.Issuer:
		return "", fmt.Errorf("%s: the answer is from another authorization server (%s): it is not used", doing, printable(issuer, 200))
	case values.Get("error") != "":
		return "", newRefused(doing, values.Get("error"), values.Get("error_description"))
	case values.Get("code") == "":
		return "", fmt.Errorf("%s: the answer holds no code", doing)
	}
	return values.Get("code"), nil
}

// accept takes what the browser has brought, once.
func (f *Flow) accept(values url.Values) error {
	if subtle.ConstantTimeCompare([]byte(values.Get("state")), []byte(f.state)) != 1 {
		return errors.New("the answer belongs to another sign-in (its state is not this one's)")
	}
	for _, name := range []string{"state", "code", "iss", "error"} {
		if len(values[name]) > 1 {
			return fmt.Errorf("the answer has several %q, and is not used", name)
		}
	}
	f.keeper.mu.Lock()
	defer f.keeper.mu.Unlock()
	if f.answered || f.ended {
		return errors.New("the browser has come back already, or the sign-in has ended")
	}
	f.answered = true
	f.answer <- values // it has room: there is one answer
	return nil
}
