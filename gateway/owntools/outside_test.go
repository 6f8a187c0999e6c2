package owntools_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/owntools"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// These are the tools that reach beyond the gateway, with what they reach: an
// application over HTTP, a repository and its remote.

// patience bounds every wait of these tests.
const patience = 30 * time.Second

func newSet(t *testing.T, cfg config.Integrations) *owntools.Set {
	t.Helper()
	classifier, err := tools.NewClassifier(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := owntools.New(cfg, classifier, owntools.Options{Client: http.DefaultClient, Version: "7"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// use calls a tool past the gates. It checks that the result says the same twice.
func use(t *testing.T, set *owntools.Set, name, arguments string) (gjson.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := set.Call(ctx, servers.Call{Server: owntools.Server, Tool: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return gjson.Result{}, err
	}
	structured := gjson.GetBytes(result.Raw, "structuredContent")
	if text := gjson.GetBytes(result.Raw, "content.0.text").Str; text != structured.Raw {
		t.Errorf("the text is %s, the structured content %s", text, structured.Raw)
	}
	return structured, nil
}

// risky reports whether a call would be asked about.
func risky(t *testing.T, set *owntools.Set, name, arguments string) bool {
	t.Helper()
	entry := set.Catalogue().Lookup(name)
	if entry == nil {
		t.Fatalf("%s is not offered", name)
	}
	return set.Judge(entry, json.RawMessage(arguments)).Risky
}

func TestOfferedWhenConfigured(t *testing.T) {
	for name, cfg := range map[string]config.Integrations{
		"hubspot_track":  {HubSpot: config.HubSpot{BaseURL: "http://127.0.0.1:1"}},
		"vihokai_deploy": {Vihokai: config.Vihokai{Repo: "/repo"}},
	} {
		if newSet(t, config.Integrations{}).Catalogue().Lookup(name) != nil {
			t.Errorf("%s is offered by itself", name)
		}
		if newSet(t, cfg).Catalogue().Lookup(name) == nil {
			t.Errorf("%s is configured, and not offered", name)
		}
	}
}

// TestHubspotTrack posts leads to an application that answers in each way.
func TestHubspotTrack(t *testing.T) {
	const lead = `{"email":"ada@example.com","properties":{"n":12345678901234567890}}`
	tests := []struct {
		name   string
		status int
		reply  string
		want   string // structured content, or what is in the error
		fails  bool
	}{
		{"taken", 200, `{"ok":true}`, `{"sent":true,"status":200,"configured":true,"reply":{"ok":true}}`, false},
		{"taken, and says so", 201, `{"configured":true}`, `{"sent":true,"status":201,"configured":true,"reply":{"configured":true}}`, false},
		{"HubSpot is not configured", 200, `{"configured":false}`, `{"sent":false,"status":200,"configured":false,"reply":{"configured":false}}`, false},
		{"the same, as an error", 503, `{"hubspot_configured":false}`, `{"sent":false,"status":503,"configured":false,"reply":{"hubspot_configured":false}}`, false},
		{"no JSON", 200, "thanks", `{"sent":true,"status":200,"configured":true,"reply":"thanks"}`, false},
		{"refused", 422, `{"error":"no such list"}`, "no such list", true},
		{"elsewhere", 307, "", "Temporary Redirect", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("User-Agent")+" "+string(body))
				w.Header().Set("Location", "/api/elsewhere")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.reply)
			}))
			defer app.Close()
			set := newSet(t, config.Integrations{HubSpot: config.HubSpot{BaseURL: app.URL + "/"}})
			if !risky(t, set, "hubspot_track", lead) {
				t.Error("sending a lead would not be asked about")
			}
			said, err := use(t, set, "hubspot_track", lead)
			switch {
			case test.fails && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("the error is %v, without %q", err, test.want)
			case !test.fails && (err != nil || said.Raw != test.want):
				t.Errorf("it says %s, %v; not %s", said.Raw, err, test.want)
			}
			if want := "POST /api/hubspot/conversation application/json pointsman/7 " + lead; len(got) != 1 || got[0] != want {
				t.Errorf("the application got %q, not once %q", got, want)
			}
		})
	}
}

func TestHubspotUnreachable(t *testing.T) {
	app := httptest.NewServer(http.NotFoundHandler())
	app.Close()
	set := newSet(t, config.Integrations{HubSpot: config.HubSpot{BaseURL: app.URL}})
	if _, err := use(t, set, "hubspot_track", `{"email":"a@b"}`); err == nil || !strings.Contains(err.Error(), "posting a lead") {
		t.Errorf("the error is %v", err)
	}
}

// checkout is a repository with one commit on main, which its bare remote has.
type checkout struct {
	t            *testing.T
	path, remote string
	set          *owntools.Set
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git: ", err)
	}
	for name, value := range map[string]string{ // nothing of the user's own
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		t.Setenv(name, value)
	}
	c := &checkout{t: t, path: t.TempDir(), remote: t.TempDir()}
	c.git(c.remote, "init", "-q", "--bare", "-b", "main")
	c.git(c.path, "init", "-q", "-b", "main")
	c.git(c.path, "remote", "add", "origin", c.remote)
	c.commit("first")
	c.git(c.path, "push", "-q", "-u", "origin", "main")
	c.set = newSet(t, config.Integrations{Vihokai: config.Vihokai{Repo: c.path}})
	return c
}

func (c *checkout) git(dir string, args ...string) string {
	c.t.Helper()
	out, err := exec.CommandContext(c.t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *checkout) commit(name string) {
	c.t.Helper()
	c.change(name)
	c.git(c.path, "add", ".")
	c.git(c.path, "commit", "-qm", name)
}

func (c *checkout) change(name string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.path, name), []byte(name), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// state compares a report's members with what is wanted: branch, ahead, dirty, pushed.
func (c *checkout) state(said gjson.Result, want string) {
	c.t.Helper()
	if got := said.Get("[branch,ahead,dirty,pushed]").Raw; got != want {
		c.t.Errorf("the report is %s, not %s: %s", got, want, said.Raw)
	}
	if head := c.git(c.path, "rev-parse", "HEAD"); said.Get("head").Str != head || said.Get("repo").Str != c.path {
		c.t.Errorf("the report is %s; HEAD is %s", said.Raw, head)
	}
}

func (c *checkout) report(want string) {
	c.t.Helper()
	said, err := use(c.t, c.set, "vihokai_deploy", "{}")
	if err != nil {
		c.t.Fatal(err)
	}
	c.state(said, want)
}

// refused has a push refused, and checks that the remote has what it had.
func (c *checkout) refused(arguments, why string) {
	c.t.Helper()
	before := c.git(c.remote, "for-each-ref")
	if said, err := use(c.t, c.set, "vihokai_deploy", arguments); err == nil || !strings.Contains(err.Error(), why) {
		c.t.Errorf("%s: %s, %v", arguments, said.Raw, err)
	}
	if after := c.git(c.remote, "for-each-ref"); after != before {
		c.t.Errorf("%s: the remote has\n%s\nand had\n%s", arguments, after, before)
	}
}

func TestDeployReports(t *testing.T) {
	c := newCheckout(t)
	if risky(t, c.set, "vihokai_deploy", `{}`) || risky(t, c.set, "vihokai_deploy", `{"allow_main":true}`) || !risky(t, c.set, "vihokai_deploy", `{"push":true}`) {
		t.Error("a push has to be asked about, and nothing else")
	}
	c.report(`["main",0,false,false]`)
	c.change("second")
	c.report(`["main",0,true,false]`)
	c.commit("second")
	c.commit("third")
	c.report(`["main",2,false,false]`)
	c.git(c.path, "checkout", "-q", "-b", "feature")
	if said, err := use(t, c.set, "vihokai_deploy", "{}"); err != nil || said.Get("branch").Str != "feature" || said.Get("ahead").Type != gjson.Null {
		t.Errorf("of a branch without an upstream it says %s, %v", said.Raw, err)
	}
	c.git(c.path, "checkout", "-q", "--detach")
	if said, err := use(t, c.set, "vihokai_deploy", "{}"); err != nil || said.Get("branch").Str != "" {
		t.Errorf("of a detached HEAD it says %s, %v", said.Raw, err)
	}
}

func TestDeployPushes(t *testing.T) {
	c := newCheckout(t)
	c.commit("second")
	c.refused(`{"push":true}`, "it needs allow_main: true")
	said, err := use(t, c.set, "vihokai_deploy", `{"push":true,"allow_main":true}`)
	if err != nil {
		t.Fatal(err)
	}
	c.state(said, `["main",0,false,true]`)
	if got, want := c.git(c.remote, "rev-parse", "main"), c.git(c.path, "rev-parse", "HEAD"); got != want {
		t.Errorf("the remote's main is at %s, not %s", got, want)
	}

	c.git(c.path, "checkout", "-q", "-b", "feature")
	c.commit("third")
	c.change("untracked")
	if said, err = use(t, c.set, "vihokai_deploy", `{"push":true}`); err != nil {
		t.Fatal(err)
	}
	if !said.Get("pushed").Bool() || !said.Get("dirty").Bool() {
		t.Errorf("after a push of a branch with changes beside it says %s", said.Raw)
	}
	if got, want := c.git(c.remote, "rev-parse", "feature"), c.git(c.path, "rev-parse", "HEAD"); got != want {
		t.Errorf("the remote's feature is at %s, not %s", got, want)
	}
	if files := c.git(c.remote, "ls-tree", "--name-only", "feature"); strings.Contains(files, "untracked") {
		t.Errorf("what was not committed was pushed: %s", files)
	}

	c.git(c.path, "checkout", "-q", "-b", "tracking", "--track", "origin/main")
	c.commit("fourth")
	if _, err := use(t, c.set, "vihokai_deploy", `{"push":true}`); err != nil {
		t.Fatal(err)
	}
	if main, own := c.git(c.remote, "rev-parse", "main"), c.git(c.path, "rev-parse", "HEAD"); main == own {
		t.Error("a branch that tracks main was pushed to main")
	}

	c.git(c.path, "checkout", "-q", "--detach")
	c.refused(`{"push":true,"allow_main":true}`, "on no branch")
	c.git(c.path, "checkout", "-q", "feature")
	c.git(c.path, "commit", "-q", "--amend", "-m", "another third")
	c.refused(`{"push":true}`, "non-fast-forward")
	c.git(c.path, "config", "branch.feature.remote", "--upload-pack=touch x")
	c.refused(`{"push":true}`, "nothing was pushed")
}

func TestDeployWithoutRepository(t *testing.T) {
	set := newSet(t, config.Integrations{Vihokai: config.Vihokai{Repo: filepath.Join(t.TempDir(), "none")}})
	if said, err := use(t, set, "vihokai_deploy", "{}"); err == nil {
		t.Errorf("of a folder that does not exist it says %s", said.Raw)
	}
}
