package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"pointsman/gateway/config"
	"pointsman/gateway/httpapi"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runner answers as a test says.
type runner func(ctx context.Context, req loop.Request) (*loop.Result, error)

func (f runner) Run(ctx context.Context, req loop.Request) (*loop.Result, error) { return f(ctx, req) }

func ok(_ context.Context, req loop.Request) (*loop.Result, error) {
	if req.Stream == nil {
		return &loop.Result{Reply: []byte(`{"choices":[]}`)}, nil
	}
	req.Stream.Begin(http.Header{"X-Request-Id": {"up-1"}, "Set-Cookie": {"no"}})
	for range 3 {
		if err := req.Stream.Data([]byte(`{"x":1}`)); err != nil {
			return nil, err
		}
	}
	return &loop.Result{}, req.Stream.Flush()
}

func settings() httpapi.Settings {
	return httpapi.Settings{
		Key: func() (string, error) { return "secret", nil }, ListenHost: "127.0.0.1", AllowedHosts: []string{"desk.example"}, CORSOrigins: []string{"https://good.example"}, MaxBodyBytes: 1 << 20,
	}
}

func newDoor(t *testing.T, run runner, s func() httpapi.Settings) *httptest.Server {
	t.Helper()
	router, err := models.NewRouter(config.Default(), models.Options{Resolve: func(_ context.Context, ref string) (string, error) { return ref, nil }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(httpapi.New(httpapi.Options{
		Runner: run, Models: func() *models.Router { return router }, Status: func(context.Context) any { return map[string]int{"pid": 1} },
		Settings: s, Version: "1.2.3", Started: time.Unix(1_790_000_000, 0),
	}))
	t.Cleanup(server.Close)
	return server
}

// send makes a request with the key, changed by edit.
func send(t *testing.T, server *httptest.Server, method, path, body string, edit func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	if edit != nil {
		edit(req)
	}
	response, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(data)
}

const hello = `{"model":"sol","messages":[{"role":"user","content":"hi"}]}`

func TestGuard(t *testing.T) {
	server := newDoor(t, ok, settings)
	set := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for name, test := range map[string]struct {
		path   string
		edit   func(*http.Request)
		status int
	}{
		"key":                          {"/v1/models", nil, 200},
		"no key":                       {"/v1/models", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"wrong key":                    {"/v1/models", set("Authorization", "Bearer secre"), 401},
		"basic":                        {"/v1/models", set("Authorization", "Basic secret"), 401},
		"bare key":                     {"/v1/models", set("Authorization", "secret"), 401},
		"health needs no key":          {"/health", func(r *http.Request) { r.Header.Del("Authorization") }, 200},
		"rebound host":                 {"/v1/models", host("evil.example"), 403},
		"rebound host on health":       {"/health", host("evil.example:8640"), 403},
		"host with our name inside":    {"/health", host("127.0.0.1.evil.example"), 403},
		"localhost":                    {"/health", host("localhost:1"), 200},
		"localhost with a dot":         {"/health", host("localhost."), 200},
		"IPv6 loopback":                {"/health", host("[::1]:8640"), 200},
		"listed host":                  {"/health", host("Desk.Example:9"), 200},
		"foreign origin":               {"/v1/models", set("Origin", "https://evil.example"), 403},
		"null origin":                  {"/health", set("Origin", "null"), 403},
		"origin with a listed prefix":  {"/health", set("Origin", "https://good.example.evil"), 403},
		"listed origin":                {"/v1/models", set("Origin", "https://good.example"), 200},
		"listed origin without a key":  {"/v1/models", func(r *http.Request) { r.Header.Set("Origin", "https://good.example"); r.Header.Del("Authorization") }, 401},
		"a page's image":               {"/health", set("Sec-Fetch-Site", "cross-site"), 403},
		"typed into the address bar":   {"/health", set("Sec-Fetch-Site", "none"), 200},
		"doubled v1":                   {"/v1/v1/models", nil, 200},
		"slash at the end":             {"/v1/models/", nil, 200},
		"nothing there":                {"/v1/nothing", nil, 404},
		"nothing there, no key either": {"/v1/nothing", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
	} {
		t.Run(name, func(t *testing.T) {
			status, header, body := send(t, server, http.MethodGet, test.path, "", test.edit)
			if status != test.status {
				t.Fatalf("status %d, want %d: %s", status, test.status, body)
			}
			if status >= 400 && gjson.Get(body, "error.message").String() == "" {
				t.Errorf("the refusal is not in OpenAI's shape: %s", body)
			}
			if got := header.Get("Access-Control-Allow-Origin"); (got != "") != strings.HasPrefix(name, "listed origin") {
				t.Errorf("Access-Control-Allow-Origin is %q", got)
			}
		})
	}
}

func TestNobodyGetsInWithoutAKeySet(t *testing.T) {
	for name, s := range map[string]httpapi.Settings{
		"zero settings": {},
		"locked":        {Key: func() (string, error) { return "", errors.New("the keychain is locked") }},
		"empty key":     {Key: func() (string, error) { return "", nil }},
	} {
		server := newDoor(t, ok, func() httpapi.Settings { return s })
		for _, auth := range []string{"", "Bearer", "Bearer ", "Bearer x"} {
			if status, _, _ := send(t, server, http.MethodGet, "/v1/models", "", func(r *http.Request) { r.Header.Set("Authorization", auth) }); status < 400 {
				t.Errorf("%s: %q got in with %d", name, auth, status)
			}
		}
	}
	open := newDoor(t, ok, func() httpapi.Settings { return httpapi.Settings{Open: true} })
	if status, _, _ := send(t, open, http.MethodGet, "/v1/models", "", func(r *http.Request) { r.Header.Del("Authorization") }); status != 200 {
		t.Errorf("auth none answers %d", status)
	}
}

func TestPreflightNeedsNoKey(t *testing.T) {
	server := newDoor(t, ok, settings)
	preflight := func(origin string) (int, http.Header) {
		status, header, _ := send(t, server, http.MethodOptions, "/v1/chat/completions", "", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "x-stainless-os")
		})
		return status, header
	}
	if status, header := preflight("https://good.example"); status != 204 || !strings.Contains(header.Get("Access-Control-Allow-Headers"), "x-stainless-os") {
		t.Errorf("a listed origin's preflight: %d %v", status, header)
	}
	if status, _ := preflight("https://evil.example"); status != 403 {
		t.Errorf("a foreign origin's preflight: %d", status)
	}
}

func TestBadRequests(t *testing.T) {
	server := newDoor(t, func(ctx context.Context, req loop.Request) (*loop.Result, error) {
		return loop.New(loop.Options{Settings: func() loop.Settings { return loop.Settings{} }}).Run(ctx, req)
	}, settings)
	for name, test := range map[string]struct {
		method, body string
		status       int
		says         string
	}{
		"not JSON":            {"POST", `hello`, 400, "not valid JSON"},
		"empty":               {"POST", ``, 400, "not valid JSON"},
		"not an object":       {"POST", `[1]`, 400, "must be a JSON object"},
		"invalid UTF-8":       {"POST", "{\"a\":\"\xff\"}", 400, "UTF-8"},
		"deep":                {"POST", `{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, 400, "1000 deep"},
		"no messages":         {"POST", `{}`, 400, "messages is missing"},
		"empty messages":      {"POST", `{"messages":[]}`, 400, "messages is empty"},
		"messages no list":    {"POST", `{"messages":"hi"}`, 400, "must be a list"},
		"messages of strings": {"POST", `{"messages":[{"role":"user"},"hi"]}`, 400, "messages[1] must be an object"},
		"unknown model":       {"POST", `{"model":"gpt-99","messages":[{}]}`, 400, "gpt-6-sol"},
		"model no string":     {"POST", `{"model":7,"messages":[{}]}`, 400, "model must be a string"},
		"stream no boolean":   {"POST", `{"stream":"yes","messages":[{}]}`, 400, "stream must be true or false"},
		"wrong method":        {"GET", "", 405, "POST"},
		"too large":           {"POST", `{"a":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "max_body_bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			status, header, body := send(t, server, test.method, "/v1/chat/completions", test.body, nil)
			if status != test.status || !strings.Contains(gjson.Get(body, "error.message").String(), test.says) {
				t.Errorf("got %d %s, want %d saying %q", status, body, test.status, test.says)
			}
			if header.Get("Content-Type") != "application/json" {
				t.Errorf("Content-Type is %q", header.Get("Content-Type"))
			}
		})
	}
}

// TestBodyThatNeverEnds sends more than the limit without ever ending.
func TestBodyThatNeverEnds(t *testing.T) {
	server := newDoor(t, ok, settings)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nTransfer-Encoding: chunked\r\n\r\n")
	go func() {
		chunk := "10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n"
		for {
			if _, err := conn.Write([]byte(chunk)); err != nil {
				return
			}
		}
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d, want 413", response.StatusCode)
	}
}

func TestStream(t *testing.T) {
	server := newDoor(t, ok, settings)
	status, header, body := send(t, server, "POST", "/v1/chat/completions", `{"stream":true,"messages":[{}]}`, nil)
	if status != 200 || body != "data: {\"x\":1}\n\ndata: {\"x\":1}\n\ndata: {\"x\":1}\n\ndata: [DONE]\n\n" {
		t.Errorf("got %d %q", status, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "X-Request-Id": "up-1", "Set-Cookie": "",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestFailures(t *testing.T) {
	limited := &models.Error{Code: models.RateLimited, Status: 429, Message: "slow down", RetryAfter: 1500 * time.Millisecond}
	for _, stream := range []bool{false, true} {
		server := newDoor(t, func(context.Context, loop.Request) (*loop.Result, error) { return nil, limited }, settings)
		status, header, body := send(t, server, "POST", "/v1/chat/completions", fmt.Sprintf(`{"stream":%v,"messages":[{}]}`, stream), nil)
		if status != 429 || header.Get("Retry-After") != "2" || gjson.Get(body, "error.code").String() != "rate_limited" {
			t.Errorf("stream %v: %d, Retry-After %q, %s", stream, status, header.Get("Retry-After"), body)
		}
	}
	server := newDoor(t, func(ctx context.Context, req loop.Request) (*loop.Result, error) {
		if _, err := ok(ctx, req); err != nil {
			return nil, err
		}
		return nil, &models.Error{Code: models.UpstreamError, Status: 502, Body: []byte("{\n\"error\":{\"message\":\"cut\"}}")}
	}, settings)
	_, _, body := send(t, server, "POST", "/v1/chat/completions", `{"stream":true,"messages":[{}]}`, nil)
	if !strings.HasSuffix(body, "data: { \"error\":{\"message\":\"cut\"}}\n\n") || strings.Contains(body, "[DONE]") {
		t.Errorf("a stream that broke should end with an error event and no [DONE]: %q", body)
	}
	server = newDoor(t, func(ctx context.Context, req loop.Request) (*loop.Result, error) {
		if req.Stream != nil {
			_, _ = ok(ctx, req)
		}
		panic("secret detail")
	}, settings)
	if _, _, body := send(t, server, "POST", "/v1/chat/completions", `{"stream":true,"messages":[{}]}`, nil); !strings.Contains(body, `data: {"error":`) || !strings.HasSuffix(body, "}}\n\n") || strings.Contains(body, "secret detail") {
		t.Errorf("a panic inside a stream became %q", body)
	}
	if status, _, body := send(t, server, "POST", "/v1/chat/completions", hello, nil); status != 500 || strings.Contains(body, "secret detail") {
		t.Errorf("a panic became %d %s", status, body)
	}
}

func TestDisconnectCancels(t *testing.T) {
	for _, stream := range []bool{false, true} {
		entered, cancelled := make(chan struct{}), make(chan error, 1)
		server := newDoor(t, func(ctx context.Context, _ loop.Request) (*loop.Result, error) {
			close(entered)
			<-ctx.Done()
			cancelled <- ctx.Err()
			return nil, ctx.Err()
		}, settings)
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/v1/chat/completions", strings.NewReader(fmt.Sprintf(`{"stream":%v,"messages":[{}]}`, stream)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		go func() { <-entered; cancel() }()
		if _, err := server.Client().Do(req); err == nil {
			t.Error("the request should have been cut")
		}
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Errorf("the run ended with %v", err)
		}
	}
}

// TestLineBreaksInEvents: a provider's event of several lines stays one.
func TestLineBreaksInEvents(t *testing.T) {
	server := newDoor(t, func(_ context.Context, req loop.Request) (*loop.Result, error) {
		return &loop.Result{}, req.Stream.Data([]byte("{\"a\":\r\n1,\n\"ä\":2}"))
	}, settings)
	_, _, body := send(t, server, "POST", "/v1/chat/completions", `{"stream":true,"messages":[{}]}`, nil)
	if want := "data: {\"a\":  1, \"ä\":2}\n\ndata: [DONE]\n\n"; body != want {
		t.Errorf("the stream is %q, want %q", body, want)
	}
}

// TestStrangersDoNotReachTheKeychain: whoever is refused makes nothing be read.
func TestStrangersDoNotReachTheKeychain(t *testing.T) {
	asked := false
	server := newDoor(t, ok, func() httpapi.Settings {
		s := settings()
		s.Key = func() (string, error) { asked = true; return "secret", nil }
		return s
	})
	send(t, server, "GET", "/health", "", nil)
	send(t, server, "GET", "/v1/models", "", func(r *http.Request) { r.Host = "evil.example" })
	send(t, server, "GET", "/v1/models", "", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
	if asked {
		t.Error("the key was asked for")
	}
}

// TestNamesAreBounded: what a client calls itself goes into each record.
func TestNamesAreBounded(t *testing.T) {
	var got loop.Request
	server := newDoor(t, func(ctx context.Context, req loop.Request) (*loop.Result, error) {
		got = req
		return ok(ctx, req)
	}, settings)
	body := fmt.Sprintf(`{"messages":[{}],"prompt_cache_key":"%s"}`, strings.Repeat("ä", 1000))
	send(t, server, "POST", "/v1/chat/completions", body, func(r *http.Request) { r.Header.Set("User-Agent", strings.Repeat("x", 1000)+" y") })
	if len(got.Client) != 100 || len(got.Session) != 100 || !utf8.ValidString(got.Session) {
		t.Errorf("client %q, session %q", got.Client, got.Session)
	}
	send(t, server, "POST", "/v1/chat/completions", strings.Replace(body, "ä", "x", 1), nil)
	if len(got.Session) != 99 || !utf8.ValidString(got.Session) {
		t.Errorf("session %q", got.Session)
	}
}

func TestModels(t *testing.T) {
	server := newDoor(t, ok, settings)
	_, _, body := send(t, server, "GET", "/v1/models", "", nil)
	sol := gjson.Get(body, `data.#(id=="gpt-6-sol")`)
	if sol.Get("object").String() != "model" || sol.Get("owned_by").String() != "openai" || sol.Get("metadata.tier").String() != "medium" || sol.Get("metadata.aliases.0").String() != "sol" || !sol.Get("created").Exists() {
		t.Errorf("gpt-6-sol is %s", sol)
	}
	if status, _, body := send(t, server, "GET", "/v1/models/sol", "", nil); status != 200 || gjson.Get(body, "id").String() != "gpt-6-sol" {
		t.Errorf("the alias gives %d %s", status, body)
	}
	if status, _, _ := send(t, server, "GET", "/v1/models/a/b", "", nil); status != 404 {
		t.Errorf("an unknown model gives %d", status)
	}
}
