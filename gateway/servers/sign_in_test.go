package servers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
	"pointsman/gateway/servers/signin"
	"pointsman/gateway/servers/signin/signintest"
)

// guarded runs a host with a server that has to be signed in to.
func guarded(t *testing.T, kind string, handler http.Handler, rules signintest.Rules, opts servers.Options) (*harness, *signintest.Server) {
	t.Helper()
	s := signintest.New(t, handler, rules)
	h := start(t, opts, map[string]config.MCPServer{"docs": {Type: kind, URL: s.URL}})
	t.Cleanup(h.Close)
	t.Cleanup(h.stop) // before the server, which waits for its streams
	h.awaitState("docs", servers.NeedsAuth)
	return h, s
}

func (h *harness) signIn(name string) {
	h.t.Helper()
	in, err := h.SignIn(h.t.Context(), name, signin.How{})
	if err != nil {
		h.t.Fatal(err)
	}
	signintest.Visit(h.t, in.URL)
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	status, err := h.AwaitSignIn(ctx, in.ID)
	if err != nil || status.Live.Status != servers.Connected || status.SignIn != signin.SignedIn {
		h.t.Fatalf("after the sign-in: %+v, %v", status, err)
	}
}

func TestSignInConnects(t *testing.T) {
	for kind, serve := range map[string]func() http.Handler{
		"http": signintest.MCP,
		"sse": func() http.Handler {
			return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sdkServer(t) }, nil)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			var log syncBuffer
			var redactor secrets.Redactor
			h, s := guarded(t, kind, serve(), signintest.Rules{Secrets: true}, servers.Options{
				Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				Redact: redactor.Redact, RedactJSON: redactor.RedactJSON, Learn: redactor.Add,
			})
			h.SetDiagnostics(diagnostics.Trace)
			if status := h.status("docs"); status.SignIn != signin.Needed || !strings.Contains(status.Live.Error, "sign in with `pointsman servers login docs`") {
				t.Errorf("before: %+v", status)
			}
			h.signIn("docs")
			before := h.status("docs").Live.ConnectionID
			s.ExpireAccess()
			if got := h.text("docs", "echo", `{"text":"hello"}`); got != `{"text":"hello"}` || h.status("docs").Live.ConnectionID != before {
				t.Errorf("the call with a token that has ended: %s", got)
			}
			s.ExpireAccess()
			s.ExpireRefresh()
			h.endsInSignIn("sign in again with `pointsman servers login docs`")
			h.awaitState("docs", servers.NeedsAuth)
			h.tellsNothingOf(s, &log)
		})
	}
}

// endsInSignIn calls the server, which only a person can help.
func (h *harness) endsInSignIn(says string) {
	h.t.Helper()
	var unavailable *servers.UnavailableError
	_, err := h.call("docs", "echo", `{"text":"x"}`)
	if !errors.As(err, &unavailable) || unavailable.Status != servers.NeedsAuth || !strings.Contains(err.Error(), says) {
		h.t.Errorf("the call ends with %v", err)
	}
}

// tellsNothingOf checks that no token, code or secret is told anywhere.
func (h *harness) tellsNothingOf(s *signintest.Server, log *syncBuffer) {
	h.t.Helper()
	status, err := json.Marshal(h.Status())
	if err != nil {
		h.t.Fatal(err)
	}
	page, err := h.Diagnostics(h.t.Context(), diagnostics.Query{Server: "docs", Max: diagnostics.MaxMax})
	if err != nil || len(page.Entries) == 0 {
		h.t.Fatalf("no diagnostics: %v", err)
	}
	records, err := json.Marshal(page)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(s.Secrets()) < 4 || !strings.Contains(log.String(), "sign-in") {
		h.t.Fatalf("there is nothing to look for: %v in %s", s.Secrets(), log)
	}
	for _, secret := range s.Secrets() {
		for what, text := range map[string]string{"the log": log.String(), "the status": string(status), "the diagnostics": string(records)} {
			if strings.Contains(text, secret) {
				h.t.Errorf("%s tells %s", what, secret)
			}
		}
	}
}

// A call that needs the sign-in which is under way waits for it.
func TestCallJoinsSignIn(t *testing.T) {
	h, _ := guarded(t, "http", signintest.MCP(), signintest.Rules{}, servers.Options{})
	in, err := h.SignIn(t.Context(), "docs", signin.How{})
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := h.Call(impatient, servers.Call{Server: "docs", Tool: "echo"}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for its sign-in") {
		t.Errorf("a call that cannot wait: %v", err)
	}
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			if got, err := h.call("docs", "echo", `{"text":"x"}`); err != nil || got.Text(0) != `{"text":"x"}` {
				t.Errorf("the call: %v", err)
			}
		})
	}
	signintest.Visit(t, in.URL)
	calls.Wait()
}

// That an authorization server is out of order does not ask for a sign-in.
func TestOutOfOrderIsNotSignIn(t *testing.T) {
	h, s := guarded(t, "http", signintest.MCP(), signintest.Rules{}, servers.Options{})
	h.signIn("docs")
	s.Change(func(rules *signintest.Rules) { rules.Fail = map[string]int{"/token": 503} })
	s.ExpireAccess()
	var unavailable *servers.UnavailableError
	if _, err := h.call("docs", "echo", `{"text":"x"}`); !errors.As(err, &unavailable) || unavailable.Status != servers.Failed || !strings.Contains(err.Error(), "503 Service Unavailable") {
		t.Errorf("the call ends with %v", err)
	}
	if status := h.status("docs"); status.Live.Status != servers.Failed || status.SignIn != signin.SignedIn {
		t.Errorf("then it is %+v", status)
	}
	s.Change(func(rules *signintest.Rules) { rules.Fail = nil })
	if got := h.text("docs", "echo", `{"text":"x"}`); got != `{"text":"x"}` {
		t.Errorf("in order again: %s", got)
	}
}

// A call that wants more scopes ends alone, and asks for a sign-in.
func TestStepUpLeavesTheConnection(t *testing.T) {
	h, s := guarded(t, "http", signintest.MCP(), signintest.Rules{Challenge: []string{"read"}}, servers.Options{})
	h.signIn("docs")
	before := h.status("docs").Live.ConnectionID
	s.Change(func(rules *signintest.Rules) { rules.Wants = []string{"write"} })
	h.endsInSignIn("scope write")
	if status := h.status("docs"); status.Live.ConnectionID != before || status.Live.Status != servers.Connected || status.SignIn != signin.Wider {
		t.Errorf("then it is %+v", status)
	}
	h.signIn("docs")
	if got := h.text("docs", "echo", `{"text":"x"}`); got != `{"text":"x"}` || h.status("docs").Live.ConnectionID != before {
		t.Errorf("signed in: %s", got)
	}
	if out, err := h.SignOut(t.Context(), "docs"); err != nil || !out.Revoked {
		t.Errorf("signing out: %+v, %v", out, err)
	}
	h.awaitState("docs", servers.NeedsAuth)
}

func TestHeadersBeatSignIn(t *testing.T) {
	s := signintest.New(t, signintest.MCP(), signintest.Rules{})
	s.Trust("my-own-token")
	h := start(t, servers.Options{Tokens: func(context.Context, signin.TokenRequest) (signin.TokenAnswer, error) {
		t.Error("the hook is asked")
		return signin.TokenAnswer{}, nil
	}}, map[string]config.MCPServer{
		"docs":  {URL: s.URL, Headers: map[string]config.Secret{"authorization": "Bearer my-own-token"}},
		"local": fakeServer(t, "normal"),
	})
	t.Cleanup(h.Close)
	h.awaitState("docs", servers.Connected)
	var state *servers.StateError
	for _, name := range []string{"docs", "local", "nobody"} {
		if _, err := h.SignIn(t.Context(), name, signin.How{}); !errors.As(err, &state) {
			t.Errorf("signing in to %s: %v", name, err)
		}
	}
	s.ExpireAccess()
	var unavailable *servers.UnavailableError
	if _, err := h.call("docs", "echo", `{"text":"x"}`); !errors.As(err, &unavailable) || unavailable.Status != servers.NeedsAuth || !strings.Contains(err.Error(), "refuses the ones in `headers`") {
		t.Errorf("a header that is refused: %v", err)
	}
	if s.Count("/register") != 0 || s.Count("/.well-known/oauth-authorization-server") != 0 {
		t.Error("a sign-in was begun")
	}
}

// A token goes nowhere that a server leads to.
func TestTokenStaysAtItsOrigin(t *testing.T) {
	var token string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { token += r.Header.Get("Authorization") }))
	defer elsewhere.Close()
	lead := make(chan struct{})
	next := signintest.MCP()
	h, _ := guarded(t, "http", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-lead:
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		default:
			next.ServeHTTP(w, r)
		}
	}), signintest.Rules{}, servers.Options{})
	h.signIn("docs")
	close(lead)
	if _, err := h.call("docs", "echo", `{"text":"x"}`); err == nil || token != "" {
		t.Errorf("the call ends with %v; elsewhere came %q", err, token)
	}
}

// syncBuffer is a buffer that several goroutines write to.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
