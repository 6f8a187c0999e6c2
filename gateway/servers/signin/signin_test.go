package signin_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pointsman/gateway/secrets"
	"pointsman/gateway/servers/signin"
	"pointsman/gateway/servers/signin/signintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is an account at a server.
type rig struct {
	*signin.Account
	t        *testing.T
	keeper   *signin.Keeper
	server   *signintest.Server
	keychain secrets.Keychain

	mu     sync.Mutex // guards the field below
	events []signin.Event
}

func newRig(t *testing.T, rules signintest.Rules, entry signin.Server, opts signin.Options) *rig {
	t.Helper()
	r := &rig{t: t, server: signintest.New(t, nil, rules), keychain: secrets.Memory()}
	r.open(entry, opts)
	return r
}

// open begins with what the keychain has, as another process would.
func (r *rig) open(entry signin.Server, opts signin.Options) {
	r.t.Helper()
	if r.keeper != nil {
		r.keeper.Close()
	}
	opts.Keychain, opts.HTTPClient = r.keychain, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	opts.OnEvent = func(e signin.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	r.keeper = signin.New(opts)
	r.t.Cleanup(r.keeper.Close)
	entry.Name = "docs"
	if entry.URL == "" {
		entry.URL = r.server.URL
	}
	r.Account = r.keeper.Account(entry)
}

func (r *rig) told(kind signin.EventKind) []signin.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []signin.Outcome
	for _, e := range r.events {
		if e.Kind == kind {
			all = append(all, e.Outcome)
		}
	}
	return all
}

// login is a whole sign-in, and what the browser shows at its end.
func (r *rig) login() (shown string, err error) {
	r.t.Helper()
	f, err := r.Begin(r.t.Context(), signin.How{})
	if err != nil || f.URL == "" {
		return "", err
	}
	shown = signintest.Visit(r.t, f.URL)
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	return shown, f.Wait(ctx)
}

func (r *rig) mustLogin() {
	r.t.Helper()
	if shown, err := r.login(); err != nil {
		r.t.Fatalf("signing in: %v; the browser shows %s", err, shown)
	}
}

// get makes a request to the server, with the headers of method.
func (r *rig) get(ctx context.Context, method string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.server.URL, strings.NewReader(`{}`))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Mcp-Method", method)
	resp, err := r.Do(req, func(req *http.Request) (*http.Response, error) {
		transport := http.Transport{DisableKeepAlives: true}
		return transport.RoundTrip(req)
	})
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func (r *rig) wantStatus(want int) {
	r.t.Helper()
	if got, err := r.get(r.t.Context(), "ping"); got != want || err != nil {
		r.t.Errorf("the server answers %d (%v), want %d; need: %v", got, err, want, r.Need())
	}
}

func TestSignIn(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules signintest.Rules
		entry signin.Server
		scope string // that is asked for
	}{
		{name: "registered"},
		{name: "registered with a secret", rules: signintest.Rules{Secrets: true}},
		{name: "says who it is", rules: signintest.Rules{NamesIss: true}},
		{name: "says who it is unannounced", rules: signintest.Rules{Iss: "own"}},
		{name: "public client", rules: signintest.Rules{Closed: true, Static: map[string]string{"me": ""}, StaticAt: "http://127.0.0.1:18641/callback"}, entry: signin.Server{ClientID: "me", Port: 18641}},
		{name: "confidential client", rules: signintest.Rules{Closed: true, Static: map[string]string{"me:&": "s3cret%+/"}}, entry: signin.Server{ClientID: "me:&", ClientSecret: "s3cret%+/", Port: 18642}},
		{name: "metadata document", rules: signintest.Rules{Closed: true, Documents: true}, entry: signin.Server{ClientID: "https://example.com/pointsman.json", Port: 18643}},
		{name: "metadata document that is not known there", entry: signin.Server{ClientID: "https://example.com/pointsman.json", Port: 18644}},
		{name: "before there was metadata", rules: signintest.Rules{NoMetadata: true}},
		{name: "it calls itself by its origin", rules: signintest.Rules{Resource: "origin"}},
		{name: "scopes of the challenge", rules: signintest.Rules{Challenge: []string{"a"}, Scopes: []string{"c"}}, entry: signin.Server{Scopes: []string{"b"}}, scope: "a"},
		{name: "scopes of the entry", rules: signintest.Rules{Scopes: []string{"c"}}, entry: signin.Server{Scopes: []string{"b", "b2"}}, scope: "b b2"},
		{name: "scopes of the metadata", rules: signintest.Rules{Scopes: []string{"c"}, Offline: true}, scope: "c offline_access"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, test.rules, test.entry, signin.Options{})
			r.server.Change(func(rules *signintest.Rules) {
				if rules.Iss == "own" {
					rules.Iss = r.server.Origin()
				}
				if rules.Resource == "origin" {
					rules.Resource = r.server.Origin()
				}
			})
			r.wantStatus(http.StatusUnauthorized)
			if need := r.Need(); need == nil || !strings.Contains(need.Error(), "sign in with `pointsman servers login docs`") || r.State() != signin.Needed {
				t.Errorf("it needs %v (%s)", need, r.State())
			}
			shown, err := r.login()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(shown, "Pointsman is signed in to &#34;docs&#34;") {
				t.Errorf("the browser shows %s", shown)
			}
			r.wantStatus(http.StatusOK)
			if asked := r.server.Asked()[0].Get("scope"); asked != test.scope {
				t.Errorf("the scope %q was asked for, want %q", asked, test.scope)
			}
			r.server.ExpireAccess()
			r.wantStatus(http.StatusOK)
			r.open(test.entry, signin.Options{}) // the grant is kept
			r.wantStatus(http.StatusOK)
			if r.State() != signin.SignedIn || r.Need() != nil || len(r.server.Asked()) != 1 {
				t.Errorf("it is %s, needs %v, and %d were asked", r.State(), r.Need(), len(r.server.Asked()))
			}
		})
	}
}

func TestSignInThatFails(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules signintest.Rules
		entry signin.Server
		says  string
	}{
		{"the person says no", signintest.Rules{Deny: true}, signin.Server{}, "access_denied"},
		{"wrong issuer", signintest.Rules{NamesIss: true, Iss: "https://evil.example"}, signin.Server{}, "another authorization server (https://evil.example)"},
		{"wrong issuer of a refusal", signintest.Rules{Deny: true, Iss: "https://evil.example"}, signin.Server{}, "another authorization server"},
		{"expired code", signintest.Rules{CodeLife: -1}, signin.Server{}, "invalid_grant"},
		{"no PKCE", signintest.Rules{NoPKCE: true}, signin.Server{}, "PKCE"},
		{"no registration", signintest.Rules{Closed: true}, signin.Server{}, "oauthClientId"},
		{"wrong secret", signintest.Rules{Static: map[string]string{"me": "right"}}, signin.Server{ClientID: "me", ClientSecret: "wr0ng-secret", Port: 18645}, "invalid_client"},
		{"it calls itself another", signintest.Rules{Resource: "https://other.example/mcp"}, signin.Server{}, "other.example"},
		{"authorization server without TLS", signintest.Rules{Issuer: "http://auth.example"}, signin.Server{}, "HTTPS"},
		{"metadata breaks", signintest.Rules{Fail: map[string]int{"/.well-known/oauth-authorization-server": 503}}, signin.Server{}, "503"},
		{"registration breaks", signintest.Rules{Fail: map[string]int{"/register": 500}}, signin.Server{}, "500"},
		{"registration is refused", signintest.Rules{Fail: map[string]int{"/register": 403}}, signin.Server{}, "403"},
		{"token endpoint breaks", signintest.Rules{Fail: map[string]int{"/token": 502}}, signin.Server{}, "502"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, test.rules, test.entry, signin.Options{})
			shown, err := r.login()
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("it says %v, want something of %q; the browser shows %s", err, test.says, shown)
			}
			var unreachable *signin.UnreachableError
			if breaks := strings.HasSuffix(test.name, "breaks"); errors.As(err, &unreachable) != breaks {
				t.Errorf("it may be tried again: %t, of %v", !breaks, err)
			}
			for _, secret := range append(r.server.Secrets(), "wr0ng-secret") {
				if strings.Contains(err.Error(), secret) || strings.Contains(shown, secret) {
					t.Errorf("the secret %s is told: %v, %s", secret, err, shown)
				}
			}
			if got := r.told(signin.OAuthCompleted); !slices.Equal(got, []signin.Outcome{signin.Failed}) {
				t.Errorf("it was told %v", got)
			}
			r.wantStatus(http.StatusUnauthorized)
		})
	}
}

func TestWrongStateWaitsOn(t *testing.T) {
	r := newRig(t, signintest.Rules{State: "another"}, signin.Server{}, signin.Options{})
	f, err := r.Begin(t.Context(), signin.How{})
	if err != nil {
		t.Fatal(err)
	}
	if shown := signintest.Visit(t, f.URL); !strings.Contains(shown, "No sign-in waits for this") {
		t.Errorf("the browser shows %s", shown)
	}
	r.server.Change(func(rules *signintest.Rules) { rules.State = "" })
	if shown := signintest.Visit(t, f.URL); !strings.Contains(shown, "Signed in") {
		t.Errorf("then the browser shows %s", shown)
	}
	if err := f.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDoorTurnsOthersAway(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	f, err := r.Begin(t.Context(), signin.How{})
	if err != nil {
		t.Fatal(err)
	}
	state := mustParse(t, f.URL).Query().Get("state")
	for name, test := range map[string]struct {
		method, host, path, query string
		status                    int
	}{
		"another host":    {"GET", "evil.example", "/callback", "state=" + state + "&code=x", 403},
		"another path":    {"GET", "", "/", "state=" + state + "&code=x", 404},
		"a form":          {"POST", "", "/callback", "state=" + state + "&code=x", 404},
		"no state":        {"GET", "", "/callback", "code=x", 400},
		"several codes":   {"GET", "", "/callback", "state=" + state + "&code=x&code=y", 400},
		"a hostile state": {"GET", "", "/callback", "state=%3Cscript%3E&code=x", 400},
	} {
		req, err := http.NewRequest(test.method, strings.TrimSuffix(f.RedirectURI, "/callback")+test.path+"?"+test.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = test.host
		req.Header.Set("X-Forwarded-Host", mustParse(t, f.RedirectURI).Host)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != test.status || strings.Contains(string(page), "<script") || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d, want %d; %s", name, resp.StatusCode, test.status, page)
		}
		_ = resp.Body.Close()
	}
	f.Cancel()
	if err := f.Wait(t.Context()); !errors.Is(err, signin.ErrCancelled) {
		t.Errorf("it ends with %v", err)
	}
	if got := r.told(signin.OAuthCompleted); !slices.Equal(got, []signin.Outcome{signin.Cancelled}) {
		t.Errorf("it was told %v", got)
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestOneFlowAtATime(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{}, signin.Options{})
	ids := make(chan string, 5)
	for range cap(ids) {
		go func() {
			f, err := r.Begin(t.Context(), signin.How{})
			if err != nil {
				ids <- err.Error()
				return
			}
			ids <- f.ID
		}()
	}
	first := <-ids
	for range cap(ids) - 1 {
		if id := <-ids; id != first {
			t.Errorf("there are the sign-ins %q and %q", first, id)
		}
	}
	f := r.keeper.Waiting("docs")
	if f == nil || f.ID != first || r.State() != signin.Waiting || r.server.Count("/register") != 1 {
		t.Errorf("there waits %+v, %s, of %d registrations", f, r.State(), r.server.Count("/register"))
	}
	hosted, err := r.Begin(t.Context(), signin.How{RedirectURI: "https://example.com/cb"})
	if err != nil || hosted.ID == first {
		t.Fatalf("another kind: %+v, %v", hosted, err)
	}
	if err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "another sign-in") {
		t.Errorf("the first one ends with %v", err)
	}
}

func TestCallbackPort(t *testing.T) {
	r := newRig(t, signintest.Rules{Static: map[string]string{"me": ""}}, signin.Server{Port: 18650}, signin.Options{})
	f, err := r.Begin(t.Context(), signin.How{})
	if err != nil || f.RedirectURI != "http://127.0.0.1:18650/callback" {
		t.Fatalf("it comes back to %+v, %v", f, err)
	}
	other := newRig(t, signintest.Rules{Static: map[string]string{"me": ""}}, signin.Server{ClientID: "me", Port: 18650}, signin.Options{})
	if _, err := other.login(); err == nil || !strings.Contains(err.Error(), "oauthCallbackPort") {
		t.Errorf("a port that is taken: %v", err)
	}
	beside := r.keeper.Account(signin.Server{Name: "beside", URL: other.server.URL, ClientID: "me", Port: 18650})
	g, err := beside.Begin(t.Context(), signin.How{})
	if err != nil {
		t.Fatalf("two sign-ins share a port: %v", err)
	}
	for _, flow := range []*signin.Flow{g, f} {
		signintest.Visit(t, flow.URL)
		if err := flow.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestSignOut(t *testing.T) {
	for _, test := range []struct {
		name    string
		rules   signintest.Rules
		revoked bool
		live    int // tokens that would still be taken
		fails   bool
	}{
		{"revoked", signintest.Rules{}, true, 0, false},
		{"revoked with a secret", signintest.Rules{Secrets: true}, true, 0, false},
		{"not offered", signintest.Rules{NoRevoke: true}, false, 2, false},
		{"out of order", signintest.Rules{Fail: map[string]int{"/revoke": 503}}, false, 2, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, test.rules, signin.Server{}, signin.Options{})
			if out, err := r.SignOut(t.Context()); out.Was || err != nil {
				t.Errorf("before a sign-in: %+v, %v", out, err)
			}
			r.mustLogin()
			out, err := r.SignOut(t.Context())
			if (err != nil) != test.fails || !out.Was || out.Revoked != test.revoked || r.server.Live() != test.live {
				t.Errorf("%+v, %v; %d tokens are left", out, err, r.server.Live())
			}
			r.wantStatus(http.StatusUnauthorized)
			r.open(signin.Server{}, signin.Options{})
			r.wantStatus(http.StatusUnauthorized)
		})
	}
}

func TestUnreadableKeychain(t *testing.T) {
	r := &rig{t: t, server: signintest.New(t, nil, signintest.Rules{}), keychain: locked{}}
	r.open(signin.Server{}, signin.Options{})
	r.wantStatus(http.StatusUnauthorized)
	if need := r.Need(); need == nil || !strings.Contains(need.Error(), "the keychain is locked") {
		t.Errorf("it needs %v", need)
	}
	if _, err := r.login(); !errors.Is(err, secrets.ErrLocked) || len(r.server.Asked()) != 0 {
		t.Errorf("a sign-in that could not be kept: %v", err)
	}
}

type locked struct{}

func (locked) Get(context.Context, string) (string, error) { return "", secrets.ErrLocked }
func (locked) Set(context.Context, string, string) error   { return secrets.ErrLocked }
func (locked) Delete(context.Context, string) error        { return secrets.ErrLocked }

// What a public server says of its authorization server reaches nothing inside.
func TestInsideIsNotReached(t *testing.T) {
	public := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("203.0.113.7")}, nil
	}
	server := signintest.New(t, nil, signintest.Rules{})
	entry := signin.Server{URL: strings.Replace(server.URL, "127.0.0.1", "localhost", 1)}
	r := &rig{t: t, server: server, keychain: secrets.Memory()}
	r.open(entry, signin.Options{Lookup: public})
	if _, err := r.login(); err == nil || !strings.Contains(err.Error(), "inside a network") || server.Count("/.well-known/oauth-protected-resource/mcp") != 0 {
		t.Errorf("the sign-in says %v", err)
	}
}

func TestPlainServerIsRefused(t *testing.T) {
	r := newRig(t, signintest.Rules{}, signin.Server{URL: "http://mcp.example/mcp"}, signin.Options{HTTPClient: &http.Client{}})
	if _, err := r.login(); err == nil || !strings.Contains(err.Error(), "must be https") {
		t.Errorf("the sign-in says %v", err)
	}
}
