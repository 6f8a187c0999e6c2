package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// State is how it stands with a server's sign-in.
type State string

// The states.
const (
	None     State = ""          // nobody has asked for one
	Needed   State = "needed"    // the server asks for one
	Waiting  State = "waiting"   // one is under way, in a browser
	SignedIn State = "signed-in" // there is a grant
	Wider    State = "wider"     // there is a grant, and the server asks for a wider one
)

// Account is one server's: it has its grant, if there is one. It is safe for
// concurrent use.
type Account struct {
	keeper *Keeper // fixed at creation, as are the next two
	name   string
	entry  string // the keychain's name of the grant

	mu        sync.Mutex // guards the fields below; held, it may take the keeper's, and never the other way round
	server    Server
	loaded    bool      // the keychain was read
	unread    error     // why it could not be
	readAgain time.Time // when it is tried again
	grant     *grant    // nil: there is none
	wanted    []string  // the scopes that the server was missing last
	asked     challenge // what the server asked for last
	given     given     // what the embedding program gave
	need      *NeededError
	renewing  *joint // the renewal that runs; nil: none
	asking    *joint // the hook is being asked; nil: it is not
}

func (a *Account) configure(server Server) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.server = server
}

func (a *Account) settings() Server {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.server
}

// State returns how it stands. It asks nobody, and not the keychain.
func (a *Account) State() State {
	flow := a.keeper.Waiting(a.name)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case flow != nil:
		return Waiting
	case a.need != nil && len(a.need.Wider) > 0:
		return Wider
	case a.need != nil:
		return Needed
	case a.grant.signedIn(), a.given.token != "":
		return SignedIn
	}
	return None
}

// Need returns what a person has to do before the server goes on, or nil.
func (a *Account) Need() *NeededError {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.need
}

// require notes what a person has to do.
func (a *Account) require(need NeededError) error {
	need.Server = a.name
	a.mu.Lock()
	defer a.mu.Unlock()
	a.need = &need
	return &need
}

// requireAgain notes that a sign-in has ended, unless it is noted why.
func (a *Account) requireAgain() error {
	if need := a.Need(); need != nil && need.Again {
		return need
	}
	return a.require(NeededError{Reason: "the sign-in has ended", Again: true})
}

// satisfied notes that the server has taken a request.
func (a *Account) satisfied() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.need != nil && a.need.Wider == nil {
		a.need = nil
	}
}

// Do sends a request to the server, with a token if there is one. If the server
// refuses the token, it is renewed, and the request sent once more. What only a
// person can change is left to the answer, 401 or 403, and to Need. An error that
// is not send's says that the request was not sent: an *UnreachableError, or the
// context's. The request's body must be one that GetBody returns again.
func (a *Account) Do(req *http.Request, send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	ctx := req.Context()
	token, err := a.token(ctx)
	if err != nil {
		return nil, &NotSentError{err}
	}
	resp, err := send(bearing(req, token))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		a.satisfied()
		return resp, nil
	}
	token, err = a.recover(ctx, token, resp)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // who has stopped does not try again
	}
	if err == nil && token == "" {
		return resp, nil
	}
	_ = resp.Body.Close() // it is not read, whatever came of it
	if err != nil {
		return nil, &NotSentError{err}
	}
	again, err := rewound(req)
	if err != nil {
		return nil, err
	}
	resp, err = send(bearing(again, token))
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		_ = a.require(NeededError{Reason: "the server refuses the token that it was just given", Again: true})
	}
	return resp, err
}

// A NotSentError says that a request did not reach the server, or was refused by
// it before anything was done.
type NotSentError struct{ err error }

func (e *NotSentError) Error() string { return e.err.Error() }
func (e *NotSentError) Unwrap() error { return e.err }

// bearing returns the request with a token on it.
func bearing(req *http.Request, token string) *http.Request {
	if token == "" {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}

// rewound returns the request as it was before it was sent.
func rewound(req *http.Request) (*http.Request, error) {
	req = req.Clone(req.Context())
	if req.GetBody == nil {
		return req, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("reading the request again: %w", err)
	}
	req.Body = body
	return req, nil
}

// token returns the token for a request, or "": then the server says whether it
// wants one.
func (a *Account) token(ctx context.Context) (string, error) {
	if a.keeper.opts.Tokens != nil {
		token, ours, err := a.askHook(ctx, "", TokenMissing, nil)
		if !ours {
			return token, err
		}
	}
	if a.loadOrRequire(ctx) != nil {
		return "", nil
	}
	g := a.current()
	if !g.signedIn() || !g.due() {
		return access(g), nil
	}
	err := a.renew(ctx, g.Access)
	var needed *NeededError
	switch {
	case err == nil, errors.As(err, &needed):
		return access(a.current()), nil
	case g.valid(): // it will do for now
		return g.Access, nil
	}
	return "", err
}

// loadOrRequire is load; that it fails is something a person has to see to.
func (a *Account) loadOrRequire(ctx context.Context) error {
	err := a.load(ctx)
	if err == nil {
		return nil
	}
	return a.require(NeededError{Reason: "what is known of its sign-in cannot be read: " + err.Error()})
}

func access(g *grant) string {
	if g == nil {
		return ""
	}
	return g.Access
}

// current returns the grant that is in force, or nil.
func (a *Account) current() *grant {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.currentLocked()
}

func (a *Account) currentLocked() *grant {
	if a.grant == nil || a.grant.Entry != a.server.ClientID {
		return nil
	}
	g := *a.grant
	if g.Client.Issuer == "" {
		g.Client.Secret = a.server.ClientSecret
	}
	return &g
}

// recover returns another token than the one that the server has refused, or ""
// if only a person can get one.
func (a *Account) recover(ctx context.Context, used string, resp *http.Response) (string, error) {
	c := readChallenge(resp.Header)
	narrow := resp.StatusCode == http.StatusForbidden
	if narrow && c.code != "insufficient_scope" {
		return "", nil // it knows us, and will not: another token changes nothing
	}
	var wider []string
	if narrow {
		wider = c.scopes
	} else {
		a.mu.Lock()
		a.asked = c
		a.mu.Unlock()
	}
	if a.keeper.opts.Tokens != nil {
		if used == "" && !a.handedBack() {
			return "", nil // the hook was just asked, and has given none
		}
		reason := TokenRefused
		if narrow {
			reason = TokenNarrow
		}
		token, ours, err := a.askHook(ctx, used, reason, c.scopes)
		if !ours {
			return token, err
		}
	}
	return a.recoverOwn(ctx, used, narrow, wider)
}

// recoverOwn is recover for a token of ours.
func (a *Account) recoverOwn(ctx context.Context, used string, narrow bool, wider []string) (string, error) {
	if narrow && !a.widen(wider) {
		_ = a.require(NeededError{Reason: fmt.Sprintf("the server asks for more than was granted (%s)", printableScopes(wider)), Wider: append([]string{}, wider...)})
		return "", nil
	}
	err := a.renew(ctx, used)
	var needed *NeededError
	if errors.As(err, &needed) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return access(a.current()), nil
}

// widen has the next token asked for with more scopes, if that needs no person
// and they were not asked for already.
func (a *Account) widen(wider []string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := union(a.wanted, wider)
	grows := len(all) > len(a.wanted)
	a.wanted = all
	return grows && a.server.Grant == ClientCredentials
}

func printableScopes(scopes []string) string {
	if len(scopes) == 0 {
		return "it does not say what"
	}
	const most = 10
	text := ""
	for _, scope := range scopes[:min(len(scopes), most)] {
		text += ", " + printable(scope, 80)
	}
	return "scope " + text[2:]
}
