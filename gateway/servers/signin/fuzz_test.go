package signin_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"pointsman/gateway/servers/signin"
	"pointsman/gateway/servers/signin/signintest"
)

// Whatever a server asks for in a challenge, a request ends as it was answered,
// or says why not.
func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{
		"", "Bearer", `Bearer realm="x", scope="a b", resource_metadata="https://h/.well-known/oauth-protected-resource"`, `bearer error=insufficient_scope`,
		`Basic realm="a,b", Bearer scope="c"`, `Bearer scope="unterminated`, `Bearer =,,=`, "Bearer scope=\"\x00\"", `Bearer error="insufficient_scope", scope=""`,
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, challenge string, forbidden bool) {
		k := signin.New(signin.Options{})
		defer k.Close()
		a := k.Account(signin.Server{Name: "docs", URL: "https://docs.example/mcp"})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://docs.example/mcp", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		status := http.StatusUnauthorized
		if forbidden {
			status = http.StatusForbidden
		}
		sent := 0
		resp, err := a.Do(req, func(*http.Request) (*http.Response, error) {
			sent++
			return &http.Response{StatusCode: status, Header: http.Header{"Www-Authenticate": {challenge}}, Body: io.NopCloser(strings.NewReader(""))}, nil
		})
		if err != nil || resp.StatusCode != status || sent != 1 {
			t.Errorf("%q: %v, sent %d times", challenge, err, sent)
		}
		if need := a.Need(); !forbidden && (need == nil || strings.ContainsAny(need.Error(), "\x00\n\x1b")) {
			t.Errorf("%q: it needs %q", challenge, need)
		}
	})
}

// No address completes a sign-in but the one that the browser was sent to, with
// the sign-in's own state.
func FuzzComplete(f *testing.F) {
	for _, seed := range []string{
		"", "https://example.com/cb?code=x&state=y", "https://example.com:443/cb?state=", "//example.com/cb", "https://example.com/cb/../cb?state=x",
		"https://example.com\\@evil.example/cb", "https://example.com/cb?state=a&state=b", "javascript:alert(1)", "https://example.com/%63b?code=1",
	} {
		f.Add(seed)
	}
	server := signintest.New(f, nil, signintest.Rules{})
	k := signin.New(signin.Options{})
	f.Cleanup(k.Close)
	flow, err := k.Account(signin.Server{Name: "docs", URL: server.URL}).Begin(f.Context(), signin.How{RedirectURI: "https://example.com/cb"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, callback string) {
		if _, err := k.Complete(t.Context(), flow.ID, callback); err == nil || strings.Contains(err.Error(), "code=") {
			t.Errorf("%q: %v", callback, err)
		}
	})
}
