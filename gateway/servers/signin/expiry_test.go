package signin_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/gateway/servers/signin"
)

// inMemory are a server and its authorization server, without a network.
type inMemory struct{}

func (inMemory) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	switch req.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		w.WriteString(`{"resource":"https://docs.example/mcp","authorization_servers":["https://auth.example"]}`)
	case "/.well-known/oauth-authorization-server":
		w.WriteString(`{"issuer":"https://auth.example","authorization_endpoint":"https://auth.example/a","token_endpoint":"https://auth.example/t",` +
			`"registration_endpoint":"https://auth.example/r","code_challenge_methods_supported":["S256"],"response_types_supported":["code"]}`)
	case "/r":
		w.WriteHeader(http.StatusCreated)
		w.WriteString(`{"client_id":"me"}`)
	default:
		w.WriteHeader(http.StatusUnauthorized)
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// A sign-in that nobody comes back from ends after ten minutes, and cannot be
// completed then.
func TestSignInExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nowhere := func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("there is no network") }
		k := signin.New(signin.Options{HTTPClient: &http.Client{Transport: inMemory{}}, Lookup: nowhere})
		defer k.Close()
		a := k.Account(signin.Server{Name: "docs", URL: "https://docs.example/mcp"})
		f, err := a.Begin(t.Context(), signin.How{RedirectURI: "https://example.com/cb"})
		if err != nil {
			t.Fatal(err)
		}
		callback := "https://example.com/cb?code=x&state=" + mustParse(t, f.URL).Query().Get("state")
		time.Sleep(10*time.Minute - time.Second)
		synctest.Wait()
		if k.Waiting("docs") != f || a.State() != signin.Waiting {
			t.Error("it was given up before its time")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if k.Waiting("docs") != nil {
			t.Error("it waits still")
		}
		if err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody came back") {
			t.Errorf("it ends with %v", err)
		}
		if _, err := k.Complete(t.Context(), f.ID, callback); err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("completing it: %v", err)
		}
	})
}
