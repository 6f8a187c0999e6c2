package signin

import (
	"context"
	"errors"
	"time"
)

// TokenHook gives tokens in the place of a sign-in of ours: it is how a program
// that embeds the gateway, and has signed its user in already, passes that on.
// It is asked before a server's first request, when its token has expired, and
// when the server refuses it; those who need a token at the same time share one
// answer. ctx is bounded, and ends when the gateway is closed. That it fails is
// taken for a cancellation.
type TokenHook func(ctx context.Context, r TokenRequest) (TokenAnswer, error)

// TokenReason says why a hook is asked.
type TokenReason string

// The reasons.
const (
	TokenMissing TokenReason = "missing" // there is none, or it has expired
	TokenRefused TokenReason = "refused" // the server does not take it
	TokenNarrow  TokenReason = "narrow"  // the server wants more scopes
)

// TokenRequest is what a hook is asked for.
type TokenRequest struct {
	Server string // its name
	URL    string // where it serves MCP: what the token has to be for
	Reason TokenReason
	Scopes []string // those that the server has asked for; may be empty
}

// TokenAnswer is what a hook says. A Token beats HandBack. The zero value
// cancels: the request is not authorized, and what needs it fails.
type TokenAnswer struct {
	Token   string
	Expires time.Time // when the hook is asked again; zero: when the token is refused
	// HandBack leaves it to us, until a token of ours is refused: the sign-in that
	// is stored is used and renewed, one that is under way is waited for. What came
	// of it is told as an Event.
	HandBack bool
}

// EventKind names what an Event tells.
type EventKind string

// The kinds of events.
const (
	OAuthCompleted    EventKind = "oauth_completed"          // a sign-in has ended, or a hook has answered
	RecoveryCompleted EventKind = "oauth_recovery_completed" // what a hook has handed back has ended
)

// Outcome is how something has ended.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Cancelled Outcome = "cancelled"
	Failed    Outcome = "failed"
)

// Event is something that has come to its end.
type Event struct {
	Kind    EventKind
	Server  string
	Outcome Outcome
	Err     error // why it did not succeed; nil when it did
}

// given is what a hook has said last.
type given struct {
	token    string
	expires  time.Time
	handBack bool
}

func (g given) valid() bool {
	return g.token != "" && (g.expires.IsZero() || time.Now().Before(g.expires))
}

// hookPatience bounds a hook, which may ask a person.
const hookPatience = 5 * time.Minute

// errNoToken says that a hook has cancelled.
var errNoToken = errors.New("the program that Pointsman runs in gives no token")

// askHook returns the hook's token, another one than was used; ours says that
// the hook has left it to us.
func (a *Account) askHook(ctx context.Context, used string, reason TokenReason, scopes []string) (token string, ours bool, err error) {
	there := func() bool {
		return a.given.valid() && a.given.token != used || a.given.handBack && reason == TokenMissing
	}
	err = a.join(ctx, &a.asking, there, func(ctx context.Context) error { return a.hookNow(ctx, reason, scopes) })
	if errors.Is(err, errNoToken) {
		return "", false, nil // the server's answer says what is missing, and Need says why
	}
	if err != nil {
		return "", false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.given.token, a.given.handBack, nil
}

func (a *Account) hookNow(ctx context.Context, reason TokenReason, scopes []string) error {
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	answer, err := a.keeper.opts.Tokens(ctx, TokenRequest{Server: a.name, URL: a.settings().URL, Reason: reason, Scopes: scopes})
	if err != nil {
		answer = TokenAnswer{}
	}
	a.keeper.opts.Learn(answer.Token)
	now := given{token: answer.Token, expires: answer.Expires, handBack: answer.HandBack && answer.Token == ""}
	a.mu.Lock()
	a.given = now
	a.mu.Unlock()
	switch {
	case now.handBack:
		return nil
	case now.token == "":
		_ = a.require(NeededError{Reason: errNoToken.Error()})
		a.keeper.opts.OnEvent(Event{Kind: OAuthCompleted, Server: a.name, Outcome: Cancelled, Err: errors.Join(errNoToken, err)})
		return errNoToken
	}
	a.keeper.opts.OnEvent(Event{Kind: OAuthCompleted, Server: a.name, Outcome: Succeeded})
	return nil
}

func (a *Account) handedBack() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.given.handBack
}

// tellRecovery tells what came of a renewal, if it was handed back to us.
func (a *Account) tellRecovery(err error) {
	a.mu.Lock()
	handed, left := a.given.handBack, a.renewing != nil && a.renewing.waiting == 0
	a.mu.Unlock()
	if !handed {
		return
	}
	e := Event{Kind: RecoveryCompleted, Server: a.name, Outcome: Succeeded, Err: err}
	switch {
	case left: // who waited for it has stopped, and does not try again
		e.Outcome, e.Err = Cancelled, errors.Join(context.Canceled, err)
	case err != nil:
		e.Outcome = Failed
	}
	a.keeper.opts.OnEvent(e)
}
