package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/models/stage"
	"pointsman/gateway/secrets"
)

// upstream is a scripted provider in the place of a network.
type upstream struct {
	replies []reply
	asked   []asked
	begin   time.Time
}

type reply struct {
	status int
	header map[string]string
	body   string
	err    error
	hang   bool          // no answer until the request is given up
	after  time.Duration // before the answer
	stall  bool          // the body stops without an end
}

type asked struct {
	at   time.Duration
	url  string
	auth string
	body string
}

func (u *upstream) RoundTrip(req *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	u.asked = append(u.asked, asked{time.Since(u.begin), req.URL.String(), req.Header.Get("Authorization"), string(body)})
	if len(u.replies) == 0 {
		return nil, errors.New("the script is over")
	}
	next := u.replies[0]
	u.replies = u.replies[1:]
	if next.hang {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	time.Sleep(next.after)
	if next.err != nil {
		return nil, next.err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for name, value := range next.header {
		header.Set(name, value)
	}
	var reader io.Reader = strings.NewReader(next.body)
	if next.stall {
		reader = io.MultiReader(reader, stalled{req.Context()})
	}
	return &http.Response{StatusCode: next.status, Header: header, Body: io.NopCloser(reader), Request: req}, nil
}

type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

const (
	goodBody = stage.Good
	event    = stage.Event
)

var eventStream = map[string]string{"Content-Type": "text/event-stream"}

func good() reply { return reply{status: 200, body: goodBody} }

// rig returns a router over the upstream, for a configuration changed by edit.
func rig(t *testing.T, u *upstream, edit func(*config.Config)) *Router {
	t.Helper()
	u.begin = time.Now()
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{"openai": {APIKey: "the-key"}, "corp": {BaseURL: "http://corp.example/v1", APIKey: "corp-key"}}
	if edit != nil {
		edit(cfg)
	}
	router, err := NewRouter(cfg, Options{
		Resolve: func(_ context.Context, ref string) (string, error) {
			switch ref {
			case "keychain:gone":
				return "", secrets.ErrNotFound
			case "keychain:none":
				return "", fmt.Errorf("reading it: %w", secrets.ErrUnavailable)
			}
			return ref, nil
		},
		Client: &http.Client{Transport: u}, UserAgent: "pointsman/test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return router
}

func do(t *testing.T, r *Router, body string, stream bool) (*Reply, error) {
	t.Helper()
	b, err := ParseBody([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	route, err := r.Resolve(b.Get("model").String())
	if err != nil {
		return nil, err
	}
	reply, err := r.Do(t.Context(), route, b, stream)
	if err == nil {
		t.Cleanup(reply.Close)
	}
	return reply, err
}

func TestFailuresAndRetries(t *testing.T) {
	status := func(code int, body string) reply { return reply{status: code, body: body} }
	for name, test := range map[string]struct {
		replies    []reply
		stream     bool
		code       Code // of the failure; empty: it went well
		status     int
		says       string
		requests   int
		retryAfter time.Duration
	}{
		"good":                      {replies: []reply{good()}, requests: 1},
		"401":                       {replies: []reply{status(401, `{"error":{"message":"bad key"}}`)}, code: AuthFailed, status: 403, says: "bad key", requests: 1},
		"403":                       {replies: []reply{status(403, ``)}, code: AuthFailed, status: 403, says: "keys set openai", requests: 1},
		"404":                       {replies: []reply{status(404, `{"error":{"message":"no such model","code":"model_not_found"}}`)}, code: InvalidRequest, status: 404, says: "no such model", requests: 1},
		"400":                       {replies: []reply{status(400, `{"error":{"message":"bad"}}`)}, code: InvalidRequest, status: 400, requests: 1},
		"413":                       {replies: []reply{status(413, `big`)}, code: InvalidRequest, status: 413, says: "big", requests: 1},
		"context by code":           {replies: []reply{status(400, `{"error":{"message":"long","code":"context_length_exceeded"}}`)}, code: ContextExceeded, status: 400, requests: 1},
		"context by words":          {replies: []reply{status(400, `{"error":{"message":"This model's maximum context length is 8 tokens"}}`)}, code: ContextExceeded, status: 400, requests: 1},
		"408 three times":           {replies: []reply{status(408, ``), status(408, ``), status(408, ``)}, code: Timeout, status: 504, requests: 3},
		"429 with Retry-After":      {replies: []reply{{status: 429, header: map[string]string{"Retry-After": "7"}}, good()}, requests: 2},
		"429 with a time too long":  {replies: []reply{{status: 429, header: map[string]string{"Retry-After": "99999999999999999999"}}}, code: RateLimited, status: 429, requests: 1, retryAfter: 24 * time.Hour},
		"429 with an endless time":  {replies: []reply{{status: 429, header: map[string]string{"Retry-After": "1e999"}}}, code: RateLimited, status: 429, requests: 1, retryAfter: 24 * time.Hour},
		"429 with a time gone by":   {replies: []reply{{status: 429, header: map[string]string{"Retry-After": "-5"}}, good()}, requests: 2},
		"429 with no number":        {replies: []reply{{status: 429, header: map[string]string{"Retry-After": "nan"}}, good()}, requests: 2},
		"429 with a late date":      {replies: []reply{{status: 429, header: map[string]string{"Retry-After": "3600"}}}, code: RateLimited, status: 429, requests: 1, retryAfter: time.Hour},
		"429 without, three times":  {replies: []reply{status(429, ``), status(429, ``), status(429, ``)}, code: RateLimited, status: 429, requests: 3},
		"500 then good":             {replies: []reply{status(500, ``), good()}, requests: 2},
		"503 three times":           {replies: []reply{status(503, ``), status(503, ``), status(503, `{"error":{"message":"overloaded"}}`)}, code: UpstreamError, status: 502, says: "overloaded", requests: 3},
		"HTML":                      {replies: []reply{status(502, `<html>`), status(502, `<html>`), status(502, `<html>`)}, code: UpstreamError, status: 502, says: "HTML", requests: 3},
		"HTML with 200":             {replies: []reply{status(200, `<html>`), good()}, requests: 2},
		"truncated JSON":            {replies: []reply{status(200, goodBody[:40]), good()}, requests: 2},
		"no choices":                {replies: []reply{status(200, `{"choices":[]}`), good()}, requests: 2},
		"error with 200":            {replies: []reply{status(200, `{"error":{"message":"quota"}}`), good()}, requests: 2},
		"no connection":             {replies: []reply{{err: errors.New("refused")}, good()}, requests: 2},
		"redirect":                  {replies: []reply{status(304, ``), status(304, ``), good()}, requests: 3},
		"hangs":                     {replies: []reply{{hang: true}}, code: Timeout, status: 504, says: "2m0s", requests: 1},
		"hangs in the body":         {replies: []reply{{status: 200, body: goodBody[:10], stall: true}}, code: Timeout, status: 504, requests: 1},
		"stream":                    {stream: true, replies: []reply{{status: 200, header: eventStream, body: event}}, requests: 1},
		"stream of nothing":         {stream: true, replies: []reply{{status: 200, header: eventStream}, {status: 200, header: eventStream, body: event}}, requests: 2},
		"stream begins with error":  {stream: true, replies: []reply{{status: 200, header: eventStream, body: "data: {\"error\":{\"message\":\"busy\"}}\n\n"}, {status: 200, header: eventStream, body: event}}, requests: 2},
		"stream that never begins":  {stream: true, replies: []reply{{status: 200, header: eventStream, body: ": comment\n\n", stall: true}}, code: Timeout, status: 504, requests: 1},
		"plain answer to a stream":  {stream: true, replies: []reply{good()}, requests: 1},
		"plain rubbish to a stream": {stream: true, replies: []reply{status(200, `{}`), {status: 200, header: eventStream, body: event}}, requests: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &upstream{replies: test.replies}
				got, err := do(t, rig(t, u, nil), `{"model":"gpt-6-sol","messages":[]}`, test.stream)
				if len(u.asked) != test.requests {
					t.Errorf("%d requests, want %d", len(u.asked), test.requests)
				}
				if test.code == "" {
					if err != nil {
						t.Fatalf("unexpected error: %v", err)
					}
					if test.stream {
						if data, err := got.Next(); err != nil || gjson.GetBytes(data, "choices.0.delta.content").String() != "hi" {
							t.Errorf("the first event is %q, %v", data, err)
						}
					}
					return
				}
				e := AsError(err)
				if e == nil || e.Code != test.code || e.Status != test.status || !strings.Contains(e.Message, test.says) || e.RetryAfter != test.retryAfter {
					t.Errorf("got %+v, want %s with status %d saying %q, Retry-After %s", e, test.code, test.status, test.says, test.retryAfter)
				}
			})
		})
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{replies: []reply{{status: 429, header: map[string]string{"Retry-After": "7"}}, {status: 500}, good()}}
		if _, err := do(t, rig(t, u, nil), `{"model":"gpt-6-sol"}`, false); err != nil {
			t.Fatal(err)
		}
		if got := u.asked[1].at; got != 7*time.Second {
			t.Errorf("the second request came after %s, want 7s", got)
		}
		if got := u.asked[2].at - u.asked[1].at; got < 500*time.Millisecond || got > 700*time.Millisecond {
			t.Errorf("the third request came after %s, want about half a second", got)
		}
	})
}

// TestAStreamMayTakeLong lets a stream run far beyond the time-out, with each
// event in time, and then stall.
func TestAStreamMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{replies: []reply{{status: 200, header: eventStream, body: event}}}
		slow := &slowBody{pause: 100 * time.Second, left: 5}
		router := rig(t, u, nil)
		router.opts.Client.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			response, err := u.RoundTrip(req)
			slow.ctx = req.Context()
			response.Body = io.NopCloser(slow)
			return response, err
		})
		reply, err := do(t, router, `{"model":"gpt-6-sol"}`, true)
		if err != nil {
			t.Fatal(err)
		}
		events := 0
		for {
			if _, err = reply.Next(); err != nil {
				break
			}
			events++
		}
		if events != 5 || AsError(err).Code != Timeout {
			t.Errorf("%d events and then %v, want 5 and a time-out", events, err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// slowBody gives an event after each pause, and then nothing more.
type slowBody struct {
	ctx   context.Context
	pause time.Duration
	left  int
}

func (s *slowBody) Read(buf []byte) (int, error) {
	wait := s.pause
	if s.left == 0 {
		wait = time.Hour
	}
	select {
	case <-time.After(wait):
		s.left--
		return copy(buf, event), nil
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

func TestCancelReachesTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{replies: []reply{{hang: true}, good()}}
		router := rig(t, u, nil)
		route, err := router.Resolve("gpt-6-sol")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		body, _ := ParseBody([]byte(`{}`))
		if _, err := router.Do(ctx, route, body, false); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want that of the caller's context", err)
		}
		if len(u.asked) != 1 || time.Since(u.begin) != time.Second {
			t.Errorf("%d requests in %s, want one that ends at once", len(u.asked), time.Since(u.begin))
		}
	})
}

func TestFallback(t *testing.T) {
	withFallback := func(cfg *config.Config) {
		cfg.Fallback = config.Fallback{Enabled: true, BaseURL: "http://second.example/v1", APIKey: "second-key", Model: "other"}
		cfg.RouterSettings.NumRetries = 0
	}
	for name, test := range map[string]struct {
		first reply
		to    bool
	}{
		"500": {reply{status: 500}, true}, "429": {reply{status: 429}, true}, "hangs": {reply{hang: true}, true},
		"401": {reply{status: 401}, true}, "400": {reply{status: 400}, false}, "404": {reply{status: 404}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &upstream{replies: []reply{test.first, good()}}
				_, err := do(t, rig(t, u, withFallback), `{"model":"gpt-6-sol"}`, false)
				if (err == nil) != test.to || (len(u.asked) == 2) != test.to {
					t.Fatalf("%d requests, error %v; want a fallback: %v", len(u.asked), err, test.to)
				}
				if test.to && (u.asked[1].url != "http://second.example/v1/chat/completions" || u.asked[1].auth != "Bearer second-key" || gjson.Get(u.asked[1].body, "model").String() != "other") {
					t.Errorf("the fallback was asked %+v", u.asked[1])
				}
			})
		})
	}
}

func TestResolve(t *testing.T) {
	edit := func(cfg *config.Config) {
		cfg.ModelList = []config.Deployment{
			{ModelName: "coding", LiteLLMParams: config.LiteLLMParams{Model: "corp/big"}},
			{ModelName: "local", LiteLLMParams: config.LiteLLMParams{Model: "openai/llama", APIBase: "http://10.0.0.1/v1/", APIKey: "k"}},
			{ModelName: "fast", LiteLLMParams: config.LiteLLMParams{Model: "gpt-6-luna"}},
		}
		cfg.RouterSettings.ModelGroupAlias = map[string]string{"coder": "coding"}
		cfg.Models = []config.CatalogueModel{{ID: "mine", Provider: "corp", Aliases: []string{"m"}}}
	}
	for name, test := range map[string]struct {
		edit                 func(*config.Config)
		model                string
		provider, base, sent string
	}{
		"empty is the default": {edit, "", "openai", "https://api.openai.com/v1/", "gpt-6-sol"},
		"id":                   {edit, "gpt-6-astra", "openai", "https://api.openai.com/v1/", "gpt-6-astra"},
		"alias":                {edit, "sol", "openai", "https://api.openai.com/v1/", "gpt-6-sol"},
		"model_list":           {edit, "coding", "corp", "http://corp.example/v1/", "big"},
		"group alias":          {edit, "coder", "corp", "http://corp.example/v1/", "big"},
		"api_base":             {edit, "local", "openai", "http://10.0.0.1/v1/", "llama"},
		"model_list catalogue": {edit, "fast", "openai", "https://api.openai.com/v1/", "gpt-6-luna"},
		"own":                  {edit, "mine", "corp", "http://corp.example/v1/", "mine"},
		"own alias":            {edit, "m", "corp", "http://corp.example/v1/", "mine"},
		"provider prefix":      {edit, "corp/some/thing", "corp", "http://corp.example/v1/", "some/thing"},
		"known prefix":         {edit, "groq/x", "groq", "https://api.groq.com/openai/v1/", "x"},
		"litellm prefix":       {edit, "lm_studio/x", "lm_studio", "http://127.0.0.1:1234/v1/", "x"},
		"primary":              {func(c *config.Config) { c.DefaultProvider = "corp" }, "gpt-6-sol", "corp", "http://corp.example/v1/", "gpt-6-sol"},
		"unlisted default":     {func(c *config.Config) { c.DefaultModel = "foo"; c.DefaultProvider = "corp" }, "foo", "corp", "http://corp.example/v1/", "foo"},
		"glm": {func(c *config.Config) {
			c.DefaultProvider = "openai"
			c.Providers["zai"] = config.Provider{APIKey: "z"}
		}, "glm-4.6", "zai", "https://api.z.ai/api/paas/v4/", "glm-4.6"},
		"glm unlisted":        {func(c *config.Config) { c.Providers["zai"] = config.Provider{APIKey: "z"} }, "glm-9", "zai", "https://api.z.ai/api/paas/v4/", "glm-9"},
		"glm by the fallback": {func(c *config.Config) { c.Fallback = config.Fallback{BaseURL: "http://z.example/v4"} }, "glm-4.6", "fallback", "http://z.example/v4/", "glm-4.6"},
		"glm when primary":    {func(c *config.Config) { c.DefaultProvider = "zai" }, "glm-4.6", "zai", "https://api.z.ai/api/paas/v4/", "glm-4.6"},
	} {
		t.Run(name, func(t *testing.T) {
			route, err := rig(t, &upstream{}, test.edit).Resolve(test.model)
			if err != nil {
				t.Fatal(err)
			}
			d := route.First()
			if diff := cmp.Diff([]string{test.provider, test.base, test.sent}, []string{d.Provider, d.BaseURL, d.Model}); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, name := range []string{"gpt-99", "nobody/x", "/", "demo", "deepseek"} {
		var unknown *UnknownModelError
		if _, err := rig(t, &upstream{}, edit).Resolve(name); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "gpt-6-luna") {
			t.Errorf("%q gives %v, want an UnknownModelError that lists the known ones", name, err)
		}
	}
	cfg := config.Default()
	cfg.DefaultProvider = "nobody"
	if _, err := NewRouter(cfg, Options{}); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("an unknown default provider gives %v", err)
	}
}

func TestQuirks(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"x"}}]`
	deepSeek := func(c *config.Config) {
		c.DefaultProvider = "deepseek"
		c.Providers["deepseek"] = config.Provider{APIKey: "k"}
	}
	likeDeepSeek := func(c *config.Config) {
		c.Providers["openai"] = config.Provider{APIKey: "k", BaseURL: "https://deepseek.com.evil.example/v1"}
	}
	byHost := func(c *config.Config) {
		c.Providers["openai"] = config.Provider{APIKey: "k", BaseURL: "https://api.deepseek.com"}
	}
	for name, test := range map[string]struct {
		edit    func(*config.Config)
		body    string
		sent    map[string]string
		notices int
	}{
		"GPT-6 with tools":            {nil, `{"model":"gpt-6-sol",` + tools + `}`, map[string]string{"reasoning_effort": `"none"`}, 0},
		"GPT-6 with tools and effort": {nil, `{"model":"gpt-6-sol","reasoning_effort":"high",` + tools + `}`, map[string]string{"reasoning_effort": `"none"`}, 1},
		"GPT-6 without":               {nil, `{"model":"gpt-6-sol","reasoning_effort":"high"}`, map[string]string{"reasoning_effort": `"high"`}, 0},
		"GPT-6 with custom tools":     {nil, `{"model":"gpt-6-sol","tools":[{"type":"custom"}]}`, map[string]string{"reasoning_effort": ``}, 0},
		"another model with tools":    {nil, `{"model":"corp/x",` + tools + `}`, map[string]string{"reasoning_effort": ``}, 0},
		"max_tokens":                  {nil, `{"model":"gpt-6-sol","max_tokens":5}`, map[string]string{"max_tokens": ``, "max_completion_tokens": `5`}, 0},
		"max_tokens elsewhere":        {nil, `{"model":"corp/x","max_tokens":5}`, map[string]string{"max_tokens": `5`, "max_completion_tokens": ``}, 0},
		"DeepSeek luna":               {deepSeek, `{"model":"luna",` + tools + `}`, map[string]string{"model": `"deepseek-flash"`, "reasoning_effort": `"low"`, "max_tokens": `4096`}, 0},
		"DeepSeek astra, asked":       {deepSeek, `{"model":"astra","reasoning_effort":"low","max_tokens":9}`, map[string]string{"model": `"deepseek-flash"`, "reasoning_effort": `"low"`, "max_tokens": `9`}, 0},
		"DeepSeek by its host":        {byHost, `{"model":"sol"}`, map[string]string{"model": `"deepseek-flash"`, "reasoning_effort": `"medium"`}, 0},
		"not DeepSeek":                {likeDeepSeek, `{"model":"sol"}`, map[string]string{"model": `"gpt-6-sol"`, "reasoning_effort": ``}, 0},
		"configured effort":           {func(c *config.Config) { c.ReasoningEffort = "low" }, `{"model":"gpt-6-sol"}`, map[string]string{"reasoning_effort": `"low"`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			u := &upstream{replies: []reply{good()}}
			reply, err := do(t, rig(t, u, test.edit), test.body, false)
			if err != nil {
				t.Fatal(err)
			}
			for key, want := range test.sent {
				if got := gjson.Get(u.asked[0].body, key).Raw; got != want {
					t.Errorf("%s is %s, want %s", key, got, want)
				}
			}
			if len(reply.Notices) != test.notices {
				t.Errorf("notices are %q", reply.Notices)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-env")
	t.Setenv("OPENAI_BASE_URL", "http://stolen.example")
	t.Setenv("OPENAI_ORG_ID", "org")
	u := &upstream{replies: []reply{good()}}
	if _, err := do(t, rig(t, u, nil), `{"model":"corp/x"}`, false); err != nil {
		t.Fatal(err)
	}
	if u.asked[0].auth != "Bearer corp-key" || !strings.HasPrefix(u.asked[0].url, "http://corp.example") {
		t.Errorf("the environment's OPENAI_ variables reached the provider: %+v", u.asked[0])
	}
	for name, edit := range map[string]func(*config.Config){
		"none": func(c *config.Config) { c.Providers = nil },
		"gone": func(c *config.Config) { c.Providers["openai"] = config.Provider{APIKey: "keychain:gone"} },
	} {
		u := &upstream{}
		_, err := do(t, rig(t, u, edit), `{"model":"gpt-6-sol"}`, false)
		if e := AsError(err); e.Code != AuthFailed || !strings.Contains(e.Message, "pointsman keys set openai") || len(u.asked) != 0 {
			t.Errorf("%s: %v after %d requests, want auth_failed that says what to do, and no request", name, err, len(u.asked))
		}
	}
}

func TestNoKeychainIsNoPlaceForAKey(t *testing.T) {
	u := &upstream{}
	router := rig(t, u, func(c *config.Config) { c.Providers["openai"] = config.Provider{APIKey: "keychain:none"} })
	_, err := do(t, router, `{"model":"gpt-6-sol"}`, false)
	if e := AsError(err); e.Code != AuthFailed || !strings.Contains(e.Message, "{api_key: os.environ/NAME}") || strings.Contains(e.Message, "keys set") {
		t.Errorf("got %v", err)
	}
}

func TestDiscover(t *testing.T) {
	u := &upstream{replies: []reply{{status: 200, body: `{"data":[{"id":"z-1"},{"id":"a-2"}]}`}, good()}}
	router := rig(t, u, func(c *config.Config) {
		c.Providers = map[string]config.Provider{"corp": {BaseURL: "http://corp.example/v1", APIKey: "k", Models: config.ProviderModels{Discover: true}}}
	})
	router.opts.Client.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.Body == nil {
			req.Body = http.NoBody
		}
		return u.RoundTrip(req)
	})
	router.Discover(t.Context())
	if names := strings.Join(router.Names(), " "); !strings.HasSuffix(names, "a-2 z-1") {
		t.Errorf("names are %s", names)
	}
	if _, err := do(t, router, `{"model":"z-1"}`, false); err != nil || !strings.HasPrefix(u.asked[1].url, "http://corp.example") {
		t.Errorf("a discovered model: %v, %+v", err, u.asked)
	}
}

func TestEvents(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, test := range map[string]struct {
		in   string
		want []string
	}{
		"plain":              {"data: a\n\ndata: b\n\n", []string{"a", "b"}},
		"CR LF":              {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		"no space":           {"data:a\n\n", []string{"a"}},
		"other fields":       {": hi\nid: 1\nevent: x\ndata: a\nretry: 5\n\n", []string{"a"}},
		"several lines":      {"data: a\ndata: b\n\n", []string{"a\nb"}},
		"empty events":       {"\n\n: c\n\nid: 1\n\ndata: a\n\n", []string{"a"}},
		"empty data":         {"data:\n\ndata: a\n\n", []string{"", "a"}},
		"no blank at end":    {"data: a\n\ndata: b\n", []string{"a", "b"}},
		"no line end":        {"data: a\n\ndata: b", []string{"a", "b"}},
		"longer than buffer": {"data: " + long + "\n\ndata: b\n\n", []string{long, "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			events := NewEvents(strings.NewReader(test.in))
			var got []string
			for {
				data, err := events.Next()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Error(err)
					}
					break
				}
				got = append(got, string(data))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\n\ndata: b\r\n\r\n"))
	f.Add([]byte(": x\ndata:\ndata: y\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		events := NewEvents(bytes.NewReader(in))
		total := 0
		for {
			data, err := events.Next()
			if err != nil {
				break
			}
			if total += len(data); total > len(in) {
				t.Fatalf("more data came out than went in: %q", in)
			}
		}
	})
}

func TestPlainReplyAsStream(t *testing.T) {
	body := `{"id":"x","object":"chat.completion","vendor":1,` + "\n" + `"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"total_tokens":3}}`
	u := &upstream{replies: []reply{{status: 200, body: body}}}
	reply, err := do(t, rig(t, u, nil), `{"model":"gpt-6-sol"}`, true)
	if err != nil {
		t.Fatal(err)
	}
	chunk, err := reply.Next()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"object": `"chat.completion.chunk"`, "vendor": "1", "choices.0.delta.tool_calls.#.index": "[0,1]",
		"choices.0.finish_reason": `"tool_calls"`, "choices.0.message": "", "usage.total_tokens": "3",
	} {
		if got := gjson.GetBytes(chunk, path).Raw; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if done, err := reply.Next(); err != nil || string(done) != "[DONE]" {
		t.Errorf("after it came %q, %v", done, err)
	}
}

func TestErrorJSON(t *testing.T) {
	for name, test := range map[string]struct {
		e    *Error
		want string
	}{
		"ours":             {Invalid("n", "n is %d", 2), `{"error":{"code":"invalid_request","message":"n is 2","param":"n","type":"invalid_request_error"}}`},
		"context":          {&Error{Code: ContextExceeded, Status: 400, Message: "m"}, `{"error":{"code":"context_length_exceeded","message":"m","param":null,"type":"invalid_request_error"}}`},
		"a provider's own": {&Error{Body: []byte(`{"error":{"x":1}}`)}, `{"error":{"x":1}}`},
	} {
		if got := string(test.e.JSON()); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	if e := AsError(fmt.Errorf("wrapped: %w", context.DeadlineExceeded)); e.Code != Timeout || e.Status != 504 {
		t.Errorf("a deadline is %+v", e)
	}
}

func TestEndlessReplyIsFetchedOnce(t *testing.T) {
	endless := roundTrip(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(zeros{}), Request: req}, nil
	})
	fetched := 0
	router := rig(t, &upstream{}, nil)
	router.opts.Client.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
		fetched++
		return endless(req)
	})
	_, err := do(t, router, `{"model":"gpt-6-sol"}`, false)
	if e := AsError(err); e.Code != UpstreamError || !strings.Contains(e.Message, "longer than") || fetched != 1 {
		t.Errorf("%v after %d requests, want one that says it is too long", err, fetched)
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(buf []byte) (int, error) { return len(buf), nil }
