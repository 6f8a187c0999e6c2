package signin_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pointsman/gateway/secrets"
	"pointsman/gateway/servers/signin"
	"pointsman/gateway/servers/signin/signintest"
)

func TestRenewedBeforeItExpires(t *testing.T) {
	r := newRig(t, signintest.Rules{Life: time.Second}, signin.Server{}, signin.Options{})
	r.mustLogin()
	for range 2 { // each token is due within its second
		r.wantStatus(http.StatusOK)
		waitUntil(t, "the token is due", func() bool { return r.server.Expired() })
	}
	r.wantStatus(http.StatusOK)
	if got := r.server.Count("/mcp"); got != 4 { // the challenge, and three requests: none was refused
		t.Errorf("%d requests were made", got)
	}
	for _, form := range r.server.Forms()[1:] {
		if form.Get("grant_type") != "refresh_token" || form.Get("resource") != r.server.URL {
			t.Errorf("it was renewed with %v", form)
		}
	}
}

func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waiting until %s in vain", what)
		}
	}
}

// All who are refused at once share one renewal.
func TestOneRenewal(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	r.mustLogin()
	hold := make(chan struct{})
	r.server.Change(func(rules *signintest.Rules) { rules.Hold = hold })
	r.server.ExpireAccess()
	before := r.server.Count("/mcp")
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { r.wantStatus(http.StatusOK) })
	}
	waitUntil(t, "all are refused", func() bool { return r.server.Count("/mcp") == before+10 })
	close(hold)
	all.Wait()
	if got := r.server.Count("/token"); got != 2 {
		t.Errorf("the token endpoint was asked %d times, want a sign-in and a renewal", got)
	}
}

// A renewal that is refused ends in words for a person, and is not tried again.
func TestRefusedRenewal(t *testing.T) {
	for name, rules := range map[string]signintest.Rules{"refused": {}, "no refresh token": {NoRefresh: true}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rules, signin.Server{}, signin.Options{})
			r.mustLogin()
			r.server.ExpireAccess()
			r.server.ExpireRefresh()
			asked := r.server.Count("/token")
			for range 3 {
				r.wantStatus(http.StatusUnauthorized)
				if need := r.Need(); need == nil || !strings.Contains(need.Error(), "sign in again with `pointsman servers login docs`") || r.State() != signin.Needed {
					t.Errorf("it needs %v (%s)", need, r.State())
				}
			}
			if got := r.server.Count("/token") - asked; got > 1 {
				t.Errorf("it was renewed %d times", got)
			}
			r.open(signin.Server{}, signin.Options{})
			r.mustLogin()
			r.wantStatus(http.StatusOK)
			if got := r.server.Count("/register"); got != 1 {
				t.Errorf("it was registered %d times: the client is known still", got)
			}
		})
	}
}

// An authorization server that is away is no reason to sign in again.
func TestRenewalOutOfReach(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	r.mustLogin()
	r.server.ExpireAccess()
	r.server.Change(func(rules *signintest.Rules) { rules.Fail = map[string]int{"/token": 503} })
	var unreachable *signin.UnreachableError
	var unsent *signin.NotSentError
	if _, err := r.get(t.Context(), "ping"); !errors.As(err, &unreachable) || unreachable.Status != 503 || !errors.As(err, &unsent) || r.Need() != nil {
		t.Errorf("out of order: %v, need %v", err, r.Need())
	}
	r.server.Change(func(rules *signintest.Rules) { rules.Fail = nil })
	r.wantStatus(http.StatusOK)

	r = newRig(t, signintest.Rules{Life: time.Second}, signin.Server{}, signin.Options{})
	r.mustLogin()
	waitUntil(t, "the token has expired", func() bool { return r.server.Expired() })
	r.server.Close()
	waitUntil(t, "the token is not used any more", func() bool {
		_, err := r.get(t.Context(), "ping")
		return errors.As(err, &unreachable)
	})
	if unreachable.Status != 0 || !strings.Contains(unreachable.Error(), "is this machine online?") || r.Need() != nil {
		t.Errorf("nobody answers: %v, need %v", unreachable, r.Need())
	}
}

// Two processes that share a keychain do not take each other's tokens away.
func TestRenewedElsewhere(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	r.mustLogin()
	other := &rig{t: t, server: r.server, keychain: r.keychain}
	other.open(signin.Server{}, signin.Options{})
	for range 2 {
		r.server.ExpireAccess()
		other.wantStatus(http.StatusOK) // which uses the refresh token up
		r.wantStatus(http.StatusOK)
	}
	if got := r.server.Count("/token"); got != 3 {
		t.Errorf("the token endpoint was asked %d times, want a sign-in and two renewals", got)
	}
}

// With another client in its entry, a server has to be signed in to anew.
func TestGrantOfAnotherClient(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	r.mustLogin()
	r.open(signin.Server{ClientID: "another"}, signin.Options{})
	r.wantStatus(http.StatusUnauthorized)
}

func TestStepUp(t *testing.T) {
	r := newRig(t, signintest.Rules{Challenge: []string{"read"}}, signin.Server{}, signin.Options{})
	r.mustLogin()
	r.server.Change(func(rules *signintest.Rules) { rules.Wants = []string{"write"} })
	for range 2 {
		if got, err := r.get(t.Context(), "tools/call"); got != http.StatusForbidden || err != nil {
			t.Errorf("the call gets %d, %v", got, err)
		}
		need := r.Need()
		if need == nil || !slices.Equal(need.Wider, []string{"write"}) || !strings.Contains(need.Error(), "scope write") || r.State() != signin.Wider {
			t.Errorf("it needs %+v (%s)", need, r.State())
		}
	}
	r.wantStatus(http.StatusOK) // the rest goes on
	if r.Need() == nil || r.server.Count("/token") != 1 {
		t.Errorf("the need is forgotten, or a token was asked for: %d", r.server.Count("/token"))
	}
	r.mustLogin()
	if asked := r.server.Asked()[1].Get("scope"); asked != "read write" {
		t.Errorf("the scope %q was asked for", asked)
	}
	if got, err := r.get(t.Context(), "tools/call"); got != http.StatusOK || err != nil || r.Need() != nil {
		t.Errorf("then the call gets %d, %v; need %v", got, err, r.Need())
	}
}

func TestClientCredentials(t *testing.T) {
	rules := signintest.Rules{Static: map[string]string{"me": "my-secret"}, Wants: []string{"write"}, Life: time.Hour}
	entry := signin.Server{ClientID: "me", ClientSecret: "my-secret", Grant: signin.ClientCredentials, Scopes: []string{"read"}}
	r := newRig(t, rules, entry, signin.Options{})
	r.wantStatus(http.StatusOK)
	if got, err := r.get(t.Context(), "tools/call"); got != http.StatusOK || err != nil {
		t.Errorf("a call that wants more: %d, %v", got, err)
	}
	r.server.Change(func(rules *signintest.Rules) { rules.Wants = []string{"never"} })
	r.server.Change(func(rules *signintest.Rules) { rules.Static["me"] = "another" })
	if got, err := r.get(t.Context(), "tools/call"); got != http.StatusForbidden || err != nil || !strings.Contains(r.Need().Error(), "invalid_client") {
		t.Errorf("one that is refused: %d, %v, need %v", got, err, r.Need())
	}
	r.server.Change(func(rules *signintest.Rules) { rules.Static["me"] = "my-secret" })
	r.server.ExpireAccess()
	r.wantStatus(http.StatusOK)
	if shown, err := r.login(); err != nil || shown != "" {
		t.Errorf("signing in: %s, %v", shown, err)
	}
	if got := r.server.Forms()[1].Get("scope"); got != "read write" {
		t.Errorf("the scope %q was asked for", got)
	}
	entry.ClientSecret = ""
	r.open(entry, signin.Options{})
	r.wantStatus(http.StatusUnauthorized)
	if need := r.Need(); need == nil || !strings.Contains(need.Error(), "oauthClientSecret") {
		t.Errorf("without a secret it needs %v", need)
	}
}

// A server that names another authorization server does not get the secret of its
// entry sent there.
func TestSecretStaysWithItsAuthority(t *testing.T) {
	for name, grant := range map[string]string{"without a person": signin.ClientCredentials, "with one": ""} {
		t.Run(name, func(t *testing.T) {
			rules := signintest.Rules{Static: map[string]string{"me": "my-secret"}}
			other := signintest.New(t, nil, rules)
			r := newRig(t, rules, signin.Server{ClientID: "me", ClientSecret: "my-secret", Grant: grant, Port: 18655}, signin.Options{})
			if _, err := r.login(); err != nil {
				t.Fatal(err)
			}
			r.server.Change(func(rules *signintest.Rules) { rules.Issuer = other.Origin() })
			r.server.ExpireAccess()
			r.server.ExpireRefresh()
			r.wantStatus(http.StatusUnauthorized)
			if _, err := r.login(); err == nil || !strings.Contains(err.Error(), other.Origin()) || !strings.Contains(err.Error(), "logout") {
				t.Errorf("signing in again: %v", err)
			}
			if n := other.Count("/token"); n != 0 {
				t.Fatalf("the other one was asked for a token %d times", n)
			}
			if _, err := r.SignOut(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := r.login(); other.Count("/token")+other.Count("/authorize") == 0 {
				t.Errorf("after signing out the other one is not asked: %v", err)
			}
		})
	}
}

// A server that refuses even fresh tokens is asked twice, and not more.
func TestNeverALoop(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	r.mustLogin()
	r.server.Change(func(rules *signintest.Rules) { rules.Life = -time.Minute }) // its clock is another
	r.server.ExpireAccess()
	before := r.server.Count("/mcp")
	r.wantStatus(http.StatusUnauthorized)
	if got := r.server.Count("/mcp") - before; got != 2 || r.Need() == nil {
		t.Errorf("%d requests were made; need %v", got, r.Need())
	}
}

// hooked is a hook that says what a test tells it to.
type hooked struct {
	mu      sync.Mutex // guards the fields below
	answers []signin.TokenAnswer
	asked   []signin.TokenRequest
}

func (h *hooked) answer(_ context.Context, r signin.TokenRequest) (signin.TokenAnswer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, r)
	if len(h.answers) == 0 {
		return signin.TokenAnswer{}, errors.New("nothing more to say")
	}
	next := h.answers[0]
	h.answers = h.answers[1:]
	return next, nil
}

func (h *hooked) reasons() []signin.TokenReason {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []signin.TokenReason
	for _, r := range h.asked {
		all = append(all, r.Reason)
	}
	return all
}

func TestHookGivesTokens(t *testing.T) {
	h := &hooked{answers: []signin.TokenAnswer{{Token: "given-one", HandBack: true}, {Token: "given-two"}}}
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{Tokens: h.answer})
	r.server.Trust("given-one")
	r.wantStatus(http.StatusOK)
	r.wantStatus(http.StatusOK)
	r.server.ExpireAccess()
	r.server.Trust("given-two")
	r.wantStatus(http.StatusOK)
	if got := h.reasons(); !slices.Equal(got, []signin.TokenReason{signin.TokenMissing, signin.TokenRefused}) {
		t.Errorf("it was asked for %v", got)
	}
	if h.asked[0].Server != "docs" || h.asked[0].URL != r.server.URL {
		t.Errorf("it was asked %+v", h.asked[0])
	}
	r.server.ExpireAccess()
	r.wantStatus(http.StatusUnauthorized) // it cancels
	want := []signin.Outcome{signin.Succeeded, signin.Succeeded, signin.Cancelled}
	if got := r.told(signin.OAuthCompleted); !slices.Equal(got, want) || r.told(signin.RecoveryCompleted) != nil || r.server.Count("/token") != 0 {
		t.Errorf("it was told %v and %v", got, r.told(signin.RecoveryCompleted))
	}
}

func TestHookHandsBack(t *testing.T) {
	back := signin.TokenAnswer{HandBack: true}
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	r.mustLogin()
	h := &hooked{answers: []signin.TokenAnswer{back, back, back}}
	r.open(signin.Server{}, signin.Options{Tokens: h.answer})
	r.wantStatus(http.StatusOK)
	r.server.ExpireAccess()
	r.wantStatus(http.StatusOK)
	r.server.ExpireAccess()
	r.server.ExpireRefresh()
	r.wantStatus(http.StatusUnauthorized)
	want := []signin.Outcome{signin.Succeeded, signin.Failed}
	if got := r.told(signin.RecoveryCompleted); !slices.Equal(got, want) {
		t.Errorf("it was told %v, want %v", got, want)
	}
	if got := h.reasons(); !slices.Equal(got, []signin.TokenReason{signin.TokenMissing, signin.TokenRefused, signin.TokenRefused}) {
		t.Errorf("it was asked for %v", got)
	}
}

// A run that is stopped while its token is recovered does not try again.
func TestStoppedRunNeverRetries(t *testing.T) {
	back := signin.TokenAnswer{HandBack: true}
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	r.mustLogin()
	h := &hooked{answers: []signin.TokenAnswer{back, back, back}}
	r.open(signin.Server{}, signin.Options{Tokens: h.answer})
	r.wantStatus(http.StatusOK)
	hold := make(chan struct{})
	r.server.Change(func(rules *signintest.Rules) { rules.Hold = hold })
	r.server.ExpireAccess()
	before := r.server.Count("/mcp")
	run, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.get(run, "tools/call")
		ended <- err
	}()
	waitUntil(t, "the token is being renewed", func() bool { return r.server.Count("/token") == 2 })
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the run ends with %v", err)
	}
	close(hold)
	waitUntil(t, "the recovery has ended", func() bool { return len(r.told(signin.RecoveryCompleted)) == 1 })
	if got := r.told(signin.RecoveryCompleted)[0]; got != signin.Cancelled || r.server.Count("/mcp") != before+1 {
		t.Errorf("it was told %s, and %d requests were made", got, r.server.Count("/mcp")-before)
	}
	r.wantStatus(http.StatusOK) // the renewed token is not lost
	if got := r.server.Count("/token"); got != 2 {
		t.Errorf("the token endpoint was asked %d times", got)
	}
}

func TestHostedCallback(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	f, err := r.Begin(t.Context(), signin.How{RedirectURI: "https://Example.com/a%2Fb"})
	if err != nil {
		t.Fatal(err)
	}
	callback := signintest.Hosted(t, f.URL)
	query := callback[strings.Index(callback, "?"):]
	for name, wrong := range map[string]string{
		"another origin":  "https://example.org/a%2Fb" + query,
		"another scheme":  "http://example.com/a%2Fb" + query,
		"another port":    "https://example.com:8443/a%2Fb" + query,
		"another path":    "https://example.com/a/b" + query,
		"a user":          "https://me@example.com/a%2Fb" + query,
		"a fragment":      callback + "#x",
		"another state":   "https://example.com/a%2Fb" + strings.Replace(query, "state=", "state=x", 1),
		"no state":        "https://example.com/a%2Fb?code=x",
		"several states":  callback + "&state=x",
		"no address":      "https://exa mple.com/" + query,
		"a broken escape": callback + "&x=%zz",
	} {
		if _, err := r.keeper.Complete(t.Context(), f.ID, wrong); err == nil || strings.Contains(err.Error(), "code=") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.keeper.Complete(t.Context(), "no such id", callback); err == nil {
		t.Error("another id completes a sign-in")
	}
	if _, err := r.keeper.Complete(t.Context(), f.ID, strings.Replace(callback, "Example.com", "EXAMPLE.com:443", 1)); err != nil {
		t.Errorf("the same address: %v", err)
	}
	r.wantStatus(http.StatusOK)
	loop, err := r.Begin(t.Context(), signin.How{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.keeper.Complete(t.Context(), loop.ID, loop.RedirectURI); err == nil || !strings.Contains(err.Error(), "comes back to Pointsman itself") {
		t.Errorf("one on loopback: %v", err)
	}
}

// behind is a keychain that shows what it held before, a number of times.
type behind struct {
	secrets.Keychain
	stale string
	times int
}

func (b *behind) Get(ctx context.Context, name string) (string, error) {
	if b.times > 0 {
		b.times--
		return b.stale, nil
	}
	return b.Keychain.Get(ctx, name)
}

// noting is a keychain that knows what was stored last.
type noting struct {
	secrets.Keychain
	last string
}

func (n *noting) Set(ctx context.Context, name, value string) error {
	n.last = value
	return n.Keychain.Set(ctx, name, value)
}

// Another process renews in the very moment in which we do.
func TestRenewedElsewhereMeanwhile(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	chain := &behind{Keychain: &noting{Keychain: r.keychain}}
	r.keychain = chain
	r.open(signin.Server{}, signin.Options{})
	r.mustLogin()
	other := &rig{t: t, server: r.server, keychain: chain.Keychain}
	other.open(signin.Server{}, signin.Options{})
	other.wantStatus(http.StatusOK)
	chain.stale = chain.Keychain.(*noting).last
	r.server.ExpireAccess()
	other.wantStatus(http.StatusOK)
	chain.times = 1
	r.wantStatus(http.StatusOK)
	if got := r.server.Count("/token"); got != 3 { // one was refused
		t.Errorf("the token endpoint was asked %d times", got)
	}
}

// What is handed back while a person signs in waits for that.
func TestHandedBackToASignIn(t *testing.T) {
	h := &hooked{answers: []signin.TokenAnswer{{HandBack: true}, {HandBack: true}}}
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{Tokens: h.answer})
	f, err := r.Begin(t.Context(), signin.How{})
	if err != nil {
		t.Fatal(err)
	}
	before := r.server.Count("/mcp")
	ended := make(chan int, 1)
	go func() {
		status, _ := r.get(t.Context(), "ping") // an error leaves the status 0
		ended <- status
	}()
	waitUntil(t, "the request is refused", func() bool { return r.server.Count("/mcp") == before+1 })
	select {
	case status := <-ended:
		t.Fatalf("the request has not waited: %d", status)
	default:
	}
	signintest.Visit(t, f.URL)
	if status := <-ended; status != http.StatusOK {
		t.Errorf("the request gets %d", status)
	}
	if got := r.told(signin.RecoveryCompleted); !slices.Equal(got, []signin.Outcome{signin.Succeeded}) {
		t.Errorf("it was told %v", got)
	}
}
