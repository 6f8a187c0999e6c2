package cli_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pointsman/gateway/servers/signin/signintest"
	"pointsman/ui/cli"
)

var pageAddress = regexp.MustCompile(`(?m)^  (http\S+)$`)

// login runs `servers login`, and is the person in the browser.
func (r *rig) login(args ...string) ended {
	r.t.Helper()
	var out, errs syncBuffer
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(r.t.Context(), r.options(strings.NewReader(""), &out, &errs, append([]string{"servers", "login"}, args...)))
	}()
	var page []string
	eventually(r.t, "the address to open is printed", func() bool {
		page = pageAddress.FindStringSubmatch(errs.String())
		return page != nil
	})
	signintest.Visit(r.t, page[1])
	return ended{<-code, out.String(), errs.String()}
}

func signInConfig(s *signintest.Server) string {
	return "default_model: demo\nmcpServers:\n  docs: {url: '" + s.URL + "'}\n  scratch: {type: builtin}\n"
}

func TestLoginAlone(t *testing.T) {
	s := signintest.New(t, signintest.MCP(), signintest.Rules{})
	r := newRig(t, signInConfig(s))
	if got := r.login("docs"); got.code != 0 || !strings.Contains(got.errors, "Signed in to docs. It is not running.") {
		t.Fatalf("it says %+v", got)
	}
	for _, secret := range s.Secrets() {
		if strings.Contains(r.must("tools").out, secret) {
			t.Errorf("a token is printed")
		}
	}
	if !strings.Contains(r.must("tools").out, "docs__echo") {
		t.Error("the server's tools are missing, though it is signed in to")
	}
	for args, says := range map[string]string{
		"login scratch": "it is no remote server", "login nobody": `"nobody"`, "logout nobody": `"nobody"`,
		"login docs --redirect-uri https://example.com/cb": "no Pointsman is running",
	} {
		if got := r.run("", append([]string{"servers"}, strings.Fields(args)...)...); got.code != 1 || !strings.Contains(got.errors, says) {
			t.Errorf("%s: %+v", args, got)
		}
	}
	if got := r.must("servers", "logout", "docs").errors; got != "Signed out of docs; its tokens are revoked.\n" || s.Live() != 0 {
		t.Errorf("it says %s; %d tokens are left", got, s.Live())
	}
	if got := r.must("servers", "logout", "docs").errors; got != "Nobody was signed in to docs.\n" {
		t.Errorf("again, it says %s", got)
	}
}

func TestLoginWithResident(t *testing.T) {
	s := signintest.New(t, signintest.MCP(), signintest.Rules{})
	r := newRig(t, signInConfig(s))
	r.serve("--ask", "none")
	eventually(t, "the server wants a sign-in", func() bool {
		return strings.Contains(r.must("servers").out, "servers login docs")
	})
	if got := r.login("docs", "--json"); got.code != 0 || !strings.Contains(got.errors, "Signed in to docs; it is connected, with 1 tool.") || !strings.Contains(got.out, `"signIn": "signed-in"`) {
		t.Fatalf("it says %+v", got)
	}
	if got := r.must("servers", "logout", "docs", "--json").out; got != "{\n  \"was\": true,\n  \"revoked\": true\n}\n" {
		t.Errorf("it prints %s", got)
	}
	for _, bad := range []string{"http://example.com/cb", "https://example.com/cb?x", "https://example.com/cb#", "example"} {
		if got := r.run("", "servers", "login", "docs", "--redirect-uri", bad); got.code != 1 || !strings.Contains(got.errors, "redirect address") {
			t.Errorf("coming back to %s: %+v", bad, got)
		}
	}
	var in struct{ ID, URL string }
	if err := json.Unmarshal([]byte(r.must("servers", "login", "docs", "--redirect-uri", "https://example.com/cb", "--json").out), &in); err != nil {
		t.Fatal(err)
	}
	if got := r.must("servers", "login", "docs", "--redirect-uri", "https://example.com/cb").out; got != "url "+in.URL+"\nid "+in.ID+"\n" {
		t.Errorf("it prints %s", got)
	}
	callback := signintest.Hosted(t, in.URL)
	if got := r.run("", "servers", "login-complete", in.ID, strings.Replace(callback, "example.com", "example.org", 1)); got.code != 1 || !strings.Contains(got.errors, "https://example.com") {
		t.Errorf("from another origin: %+v", got)
	}
	if got := r.run(callback+"\n", "servers", "login-complete", in.ID, "-"); got.code != 0 || !strings.Contains(got.errors, "it is connected, with 1 tool") {
		t.Errorf("it says %+v", got)
	}
	if got := r.run("", "servers", "login-complete", in.ID, callback); got.code != 1 || !strings.Contains(got.errors, "come back already") {
		t.Errorf("once more: %+v", got)
	}
}

func TestLoginIsInterrupted(t *testing.T) {
	s := signintest.New(t, signintest.MCP(), signintest.Rules{})
	r := newRig(t, signInConfig(s))
	r.serve("--ask", "none")
	ctx, interrupt := context.WithCancel(t.Context())
	var errs syncBuffer
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, r.options(strings.NewReader(""), &syncBuffer{}, &errs, []string{"servers", "login", "docs"}))
	}()
	eventually(t, "it waits for the browser", func() bool { return strings.Contains(errs.String(), "Waiting for it") })
	if !strings.Contains(r.must("servers", "list", "--json").out, `"signIn": "waiting"`) {
		t.Error("the list does not say that a sign-in is under way")
	}
	interrupt()
	if got := <-code; got != 1 || !strings.Contains(errs.String(), "cancelled") {
		t.Errorf("it ends with %d: %s", got, &errs)
	}
	eventually(t, "the sign-in is given up", func() bool { return !strings.Contains(r.must("servers", "list", "--json").out, "waiting") })
}
