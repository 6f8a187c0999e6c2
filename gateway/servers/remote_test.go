package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

type said struct {
	Text string `json:"text" jsonschema:"what to say"`
}

// sdkServer is a server made with the SDK's other half. Its tool grow adds a
// tool, steps reports progress, and tag wants an argument as a header too.
func sdkServer(t *testing.T) *mcp.Server {
	released := make(chan struct{})
	s := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	t.Cleanup(func() { // some tests leave sessions that were never said goodbye to
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	t.Cleanup(func() { close(released) })
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in said) (*mcp.CallToolResult, said, error) {
		return nil, in, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "grow"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		s.AddTool(&mcp.Tool{Name: "grown", InputSchema: json.RawMessage(`{"type":"object"}`)}, nothing)
		return nil, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		for i := range 5 {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(i), Message: "step",
			})
			if err != nil {
				return nil, nil, err
			}
			time.Sleep(60 * time.Millisecond)
		}
		return nil, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "hang"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		select {
		case <-ctx.Done(): // not when stateless: the SDK's server does not pass it on there
		case <-released:
		}
		return nil, nil, ctx.Err()
	})
	s.AddTool(&mcp.Tool{Name: "tag", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"where":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}},"n":{"type":"integer","x-mcp-header":"N"}}}`)}, nothing)
	return s
}

func nothing(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "fine"}}}, nil
}

// remotes are the ways to serve a server over HTTP.
func remotes() map[string]func(*mcp.Server) (http.Handler, string) {
	get := func(s *mcp.Server) func(*http.Request) *mcp.Server {
		return func(*http.Request) *mcp.Server { return s }
	}
	return map[string]func(*mcp.Server) (http.Handler, string){
		"stateless": func(s *mcp.Server) (http.Handler, string) {
			return mcp.NewStreamableHTTPHandler(get(s), &mcp.StreamableHTTPOptions{Stateless: true}), "http"
		},
		"session": func(s *mcp.Server) (http.Handler, string) {
			return legacyOnly(mcp.NewStreamableHTTPHandler(get(s), nil)), "streamable-http"
		},
		"sse": func(s *mcp.Server) (http.Handler, string) {
			return mcp.NewSSEHandler(get(s), nil), "sse"
		},
	}
}

// legacyOnly hides that the server speaks the stateless protocol.
func legacyOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "server/discover" {
			http.Error(w, "no such method", http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func TestRemoteServers(t *testing.T) {
	for name, serve := range remotes() {
		t.Run(name, func(t *testing.T) {
			var handler http.Handler
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
			t.Cleanup(web.Close)
			var kind string
			handler, kind = serve(sdkServer(t)) // whose cleanup comes before web's
			entry := config.MCPServer{Type: kind, URL: web.URL, Timeout: 150}
			h := start(t, servers.Options{}, map[string]config.MCPServer{"r": entry})
			defer h.stop() // before the web server, which waits for its streams
			h.awaitState("r", servers.Connected)
			t.Logf("protocol %s", h.status("r").Live.Protocol)
			if got := h.text("r", "echo", `{"text":"hello"}`); got != `{"text":"hello"}` {
				t.Errorf("echo: %s", got)
			}
			if got := h.text("r", "tag", `{"n":3,"where":{"region":"zürich"}}`); got != "fine" {
				t.Errorf("tag: %s", got)
			}
			remoteProgress(t, h)
			remoteTimeout(t, h)
			var protocol *servers.ProtocolError
			if _, err := h.call("r", "nothing-of-the-kind", `{}`); !errors.As(err, &protocol) {
				t.Errorf("calling an unknown tool: %v", err)
			}
			h.text("r", "grow", `{}`)
			if name != "stateless" || h.status("r").Live.Protocol >= "2026" {
				h.await("the new tool is there", func() bool { return slices.Contains(h.toolNames(), "grown") })
			}
		})
	}
}

func remoteProgress(t *testing.T, h *harness) {
	t.Helper()
	seen := 0
	_, err := h.Call(context.Background(), servers.Call{Server: "r", Tool: "steps", OnProgress: func(servers.Progress) { seen++ }})
	if err != nil || seen != 5 {
		t.Errorf("%d steps of 5, %v", seen, err)
	}
}

func remoteTimeout(t *testing.T, h *harness) {
	t.Helper()
	before := h.status("r").Live.ConnectionID
	var timeout *servers.TimeoutError
	if _, err := h.call("r", "hang", `{}`); !errors.As(err, &timeout) {
		t.Errorf("got %v, want a TimeoutError", err)
	}
	h.text("r", "echo", `{"text":""}`)
	if got := h.status("r").Live.ConnectionID; got != before {
		t.Error("the connection was not kept")
	}
}

func TestRemoteHeaders(t *testing.T) {
	var elsewhere atomic.Int64 // requests with our token, or the server's address, at another origin
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" {
			elsewhere.Add(1)
		}
		http.Error(w, "not here", http.StatusNotFound)
	}))
	defer other.Close()
	var moved atomic.Bool
	next := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdkServer(t) }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer s3cret":
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case moved.Load():
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		default:
			next.ServeHTTP(w, r)
		}
	}))
	defer web.Close()

	resolve := func(_ context.Context, ref string) (string, error) {
		return strings.ReplaceAll(ref, "${keychain:r}", "s3cret"), nil
	}
	entry := config.MCPServer{URL: web.URL, Headers: map[string]config.Secret{"Authorization": "Bearer ${keychain:r}"}}
	bare := config.MCPServer{URL: web.URL}
	h := start(t, servers.Options{Resolve: resolve}, map[string]config.MCPServer{"r": entry, "bare": bare})
	defer h.stop()
	h.awaitState("r", servers.Connected)
	if got := h.awaitState("bare", servers.NeedsAuth).Live.Error; !strings.Contains(got, "401") || strings.Contains(got, "s3cret") {
		t.Errorf("error: %s", got)
	}
	var unavailable *servers.UnavailableError
	if _, err := h.call("bare", "echo", `{}`); !errors.As(err, &unavailable) || unavailable.Status != servers.NeedsAuth {
		t.Errorf("got %v", err)
	}
	moved.Store(true)
	if _, err := h.call("r", "echo", `{"text":""}`); err == nil {
		t.Error("the redirect was followed to success")
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests carried the token, or the address, to another origin", n)
	}
}

// forgetful is a remote server with sessions, which it can forget.
type forgetful struct {
	t *testing.T

	mu      sync.Mutex // guards the field below
	current http.Handler
}

func newForgetful(t *testing.T) *forgetful {
	f := &forgetful{t: t}
	f.forget()
	return f
}

func (f *forgetful) forget() {
	s := sdkServer(f.t)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = legacyOnly(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	current := f.current
	f.mu.Unlock()
	current.ServeHTTP(w, r)
}

// TestRemoteThatForgetsTheSession restarts the server between two calls, as a
// deployment does.
func TestRemoteThatForgetsTheSession(t *testing.T) {
	forgetful := newForgetful(t)
	web := httptest.NewServer(forgetful)
	defer web.Close()
	h := start(t, servers.Options{}, map[string]config.MCPServer{"r": {URL: web.URL}})
	defer h.stop()
	h.awaitState("r", servers.Connected)
	forgetful.forget()
	if got := h.text("r", "echo", `{"text":"again"}`); got != `{"text":"again"}` {
		t.Errorf("echo: %s", got)
	}
}

func TestRemoteThatIsAway(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	web.Close()
	h := start(t, servers.Options{}, map[string]config.MCPServer{"r": {URL: web.URL}})
	h.awaitState("r", servers.Failed)
	var unavailable *servers.UnavailableError
	if _, err := h.call("r", "echo", `{}`); !errors.As(err, &unavailable) {
		t.Errorf("got %v", err)
	}
}

func TestRemoteServerError(t *testing.T) {
	var broken atomic.Bool
	next := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdkServer(t) }, &mcp.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, "out of order", http.StatusBadGateway)
			return
		}
		next.ServeHTTP(w, r)
	}))
	defer web.Close()
	h := start(t, servers.Options{}, map[string]config.MCPServer{"r": {URL: web.URL}})
	defer h.stop()
	h.awaitState("r", servers.Connected)
	broken.Store(true)
	var lost *servers.LostError
	if _, err := h.call("r", "echo", `{"text":""}`); !errors.As(err, &lost) {
		t.Errorf("got %v, want a LostError: the call may have run", err)
	}
	broken.Store(false)
	h.text("r", "echo", `{"text":""}`)
}

// TestStopDuringACall: the end of the host does not wait for the servers' answers.
func TestStopDuringACall(t *testing.T) {
	var handler http.Handler
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(web.Close)
	server := sdkServer(t) // its cleanup comes before web's
	handler = legacyOnly(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	h := start(t, servers.Options{}, map[string]config.MCPServer{"remote": {URL: web.URL}, "local": fakeServer(t, "normal")})
	h.awaitState("remote", servers.Connected)
	h.awaitState("local", servers.Connected)
	errs := make(chan error, 2)
	var wg sync.WaitGroup
	for _, name := range []string{"remote", "local"} {
		wg.Go(func() {
			_, err := h.call(name, "hang", `{}`)
			errs <- err
		})
	}
	wg.Go(func() {
		h.text("remote", "echo", `{"text":""}`)
		h.text("local", "echo", `{}`)
		h.stop()
	})
	wg.Wait()
	for range 2 {
		var lost *servers.LostError
		var unavailable *servers.UnavailableError // when the stop was quicker than the call
		if err := <-errs; !errors.As(err, &lost) && !errors.As(err, &unavailable) {
			t.Errorf("got %v, want a LostError", err)
		}
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	resolve := func(_ context.Context, ref string) (string, error) {
		return strings.ReplaceAll(ref, "${keychain:k}", "s3cret-value"), nil
	}
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	talks := fakeServer(t, "broken")
	talks.Env["SAY"] = "${keychain:k}"
	h := start(t, servers.Options{Resolve: resolve}, map[string]config.MCPServer{
		"url":    {URL: away.URL + "/?key=${keychain:k}"},
		"stderr": talks,
	})
	for _, name := range []string{"url", "stderr"} {
		got := h.awaitState(name, servers.Failed).Live.Error
		if strings.Contains(got, "s3cret-value") || !strings.Contains(got, "[redacted]") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := strings.Join(h.Stderr("stderr"), "\n"); strings.Contains(got, "s3cret-value") {
		t.Errorf("stderr: %s", got)
	}
}

// TestDeniedAtTheFirstQuestion: a server that speaks 2026-07-28 alone denies the
// question that begins it, and does not understand the older handshake that the
// SDK then tries. It is the denial that counts.
func TestDeniedAtTheFirstQuestion(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "server/discover" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(web.Close)
	h := start(t, servers.Options{}, map[string]config.MCPServer{"r": {URL: web.URL}})
	defer h.stop()
	if got := h.awaitState("r", servers.NeedsAuth).Live.Error; !strings.Contains(got, "401") {
		t.Errorf("the error is %q", got)
	}
}
