package models

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
)

// served is what a provider got.
type served struct {
	path   string
	length int64
	body   string
	auth   string
}

// provider serves answers and notes what it is sent.
func provider(t *testing.T, answer http.HandlerFunc) (base string, got *[]served) {
	t.Helper()
	got = &[]served{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*got = append(*got, served{r.URL.Path, r.ContentLength, string(body), r.Header.Get("Authorization")})
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func answerWell(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, goodBody) }

// routerTo returns a router whose provider p is at base, with real connections.
func routerTo(t *testing.T, base string) *Router {
	t.Helper()
	router := rig(t, &upstream{}, func(c *config.Config) {
		c.Providers = map[string]config.Provider{"p": {BaseURL: base + "/v1", APIKey: "the-key"}}
		c.RouterSettings.NumRetries = 0
	})
	router.opts.Client.Transport = NewHTTPClient().Transport
	t.Cleanup(router.opts.Client.CloseIdleConnections)
	return router
}

func TestRequestsArriveWhole(t *testing.T) {
	base, got := provider(t, answerWell)
	router := routerTo(t, base)
	for _, size := range []int{0, 1, large - 3, large - 2, large - 1, large, 10 * large} {
		text := strings.Repeat("x", size)
		const form = `{"before":"%s","model":%q,"between":[1],"messages":[{"role":"user","content":"%s"}],"n":1}`
		if _, err := do(t, router, fmt.Sprintf(form, text, "p/m", text), false); err != nil {
			t.Fatal(err)
		}
		last := (*got)[len(*got)-1]
		want := fmt.Sprintf(form, text, "m", text)
		if last.body != want || last.length != int64(len(want)) || last.path != "/v1/chat/completions" || last.auth != "Bearer the-key" {
			t.Errorf("with %d bytes, %s got %d bytes of %d announced, key %q: %.200s", size, last.path, len(last.body), last.length, last.auth, last.body)
		}
	}
}

func TestRedirectsStayWithTheProvider(t *testing.T) {
	elsewhere, stolen := provider(t, answerWell)
	to := "/v1/moved"
	base, got := provider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/moved" {
			answerWell(w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	})
	router := routerTo(t, base)
	const body = `{"model":"p/m","messages":[]}`
	if _, err := do(t, router, body, false); err != nil || len(*got) != 2 || (*got)[1].body != `{"model":"m","messages":[]}` {
		t.Errorf("within the provider: %v, %+v", err, *got)
	}
	to = elsewhere + "/v1/chat/completions"
	_, err := do(t, router, body, false)
	if err == nil || !strings.Contains(err.Error(), "redirects to") || len(*stolen) != 0 {
		t.Errorf("to another host: error %v, which got %+v", err, *stolen)
	}
}

// within waits for a signal, and fails the test when it does not come.
func within[T any](t *testing.T, what string, c <-chan T) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("waited for %s in vain", what)
	}
}

func TestAStreamsConnectionIsKept(t *testing.T) {
	end, gaveUp, kept := make(chan bool, 1), make(chan bool, 1), make(chan error, 1)
	base, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, event+"data: [DONE]\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-end:
		case <-r.Context().Done():
			gaveUp <- true
		}
	})
	router := routerTo(t, base)
	var connections []bool
	stream := func() {
		ctx, cancel := context.WithCancel(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn:     func(info httptrace.GotConnInfo) { connections = append(connections, info.Reused) },
			PutIdleConn: func(err error) { kept <- err },
		}))
		defer cancel() // as at the end of a client's request
		route, err := router.Resolve("p/m")
		if err != nil {
			t.Fatal(err)
		}
		body, err := ParseBody([]byte(`{"messages":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := router.Do(ctx, route, body, true)
		for err == nil {
			_, err = reply.Next()
			if reply.done {
				reply.Close()
				return
			}
		}
		t.Fatal(err)
	}
	for range 3 {
		stream()
		end <- true // once the reply is closed and its request over
		within(t, "the connection to be kept", kept)
	}
	stream()
	within(t, "the end of a stream that does not end by itself", gaveUp)
	if diff := cmp.Diff([]bool{false, true, true, true}, connections); diff != "" {
		t.Errorf("whether a connection was used again: %s", diff)
	}
}
