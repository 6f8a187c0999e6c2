package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/journal"
	"pointsman/gateway/models"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

type toolRow = tools.Row

// window is the windows' client of a gateway.
func window(t *testing.T, d *desk) *control.Client {
	t.Helper()
	ln, client := control.Local(control.Info{})
	client.Secret = "the window's"
	server := control.NewServer(control.Options{
		Gateway: d.Gateway, Manager: d.Manager(), Secret: client.Secret, Open: func() bool { return true },
		Views: map[string]func(context.Context) any{"tools": func(context.Context) any { return d.Tools() }},
	})
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ctx, ln) })
	t.Cleanup(func() { client.Close(); stop(); _ = ln.Close(); serving.Wait() })
	return client
}

func edit(value any, path ...string) []control.Edit {
	return []control.Edit{{Path: path, Value: value}}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

const literalKey = "sk-test-0123456789abcdefghij"

func TestSettingsAreChangedAtOnce(t *testing.T) {
	d := newDesk(t, "desktop: {theme: light} # at night\nproviders: {corp: {base_url: 'http://corp.example/v1', api_key: "+literalKey+"}}\n", nil)
	w := window(t, d)
	before := must[control.Settings](t)(w.Settings(t.Context()))
	corp := before.Config.Providers["corp"]
	if before.Path != d.configPath || corp.APIKey != "[secret]" || before.Config.Desktop.Theme != "light" || len(before.Problems) != 1 {
		t.Errorf("shown: %+v", before)
	}
	after := must[control.Settings](t)(w.Edit(t.Context(), before.Revision, edit("dark", "desktop", "theme")))
	if after.Config.Desktop.Theme != "dark" || d.Config().Desktop.Theme != "dark" || after.Revision == before.Revision {
		t.Errorf("after: %+v", after)
	}
	corp.BaseURL = "http://other.example/v1"
	must[control.Settings](t)(w.Edit(t.Context(), after.Revision, edit(corp, "providers", "corp")))
	if got := d.Config().Providers["corp"]; got.APIKey != literalKey || got.BaseURL != corp.BaseURL {
		t.Errorf("a key that was shown masked is now %v at %s", got.APIKey, got.BaseURL)
	}
	if text, err := os.ReadFile(d.configPath); err != nil || !strings.Contains(string(text), "theme: dark} # at night") {
		t.Errorf("%v, the file:\n%s", err, text)
	}

	var conflict *control.ConflictError
	if _, err := w.Edit(t.Context(), before.Revision, edit("system", "desktop", "theme")); !errors.As(err, &conflict) || conflict.Current.Config.Desktop.Theme != "dark" || conflict.Current.Revision == before.Revision {
		t.Errorf("from an old revision: %v", err)
	}
	var invalid *control.InvalidError
	now := must[control.Settings](t)(w.Settings(t.Context()))
	if _, err := w.Edit(t.Context(), now.Revision, edit("blue", "desktop", "theme")); !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Path != "desktop.theme" || len(invalid.Problems[0].Allowed) != 3 {
		t.Errorf("an invalid value: %v", err)
	}
}

func TestHeldPartsAreAcceptedOrRefused(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	loosen := func() control.Settings {
		if err := os.WriteFile(d.configPath, []byte("default_model: demo\napprovals: {require: false}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		d.await(t, "the held part", func() bool { return len(d.Status(t.Context()).Config.Held) == 1 })
		return must[control.Settings](t)(w.Settings(t.Context()))
	}
	held := loosen()
	if got := must[control.Settings](t)(w.RefuseHeld(t.Context(), held.Revision)); len(held.Held) != 1 || len(got.Held) != 0 || !d.Config().Approvals.Require {
		t.Errorf("refused: %+v", got)
	}
	held = loosen()
	var conflict *control.ConflictError
	if _, err := w.AcceptHeld(t.Context(), "of another file"); !errors.As(err, &conflict) || !d.Config().Approvals.Require {
		t.Errorf("what nobody has seen was accepted: %v", err)
	}
	if got := must[control.Settings](t)(w.AcceptHeld(t.Context(), held.Revision)); len(got.Held) != 0 || d.Config().Approvals.Require {
		t.Errorf("accepted: %+v", got)
	}
}

// TestANewSecretIsUsedAtOnce by the server that was started with the old one.
func TestANewSecretIsUsedAtOnce(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	if err := w.SetSecret(t.Context(), "token", "the first value"); err != nil {
		t.Fatal(err)
	}
	now := must[control.Settings](t)(w.Settings(t.Context()))
	must[control.Settings](t)(w.Edit(t.Context(), now.Revision, edit(childServer(t, "${keychain:token}"), "mcpServers", "child")))
	started := func() string {
		for _, s := range d.Servers() {
			if s.Name == "child" && s.Live.Status == servers.Connected {
				return s.Live.ConnectionID
			}
		}
		return ""
	}
	d.await(t, "the server", func() bool { return started() != "" })
	first := started()
	if err := w.SetSecret(t.Context(), "other", "has nothing to do with it"); err != nil || started() != first {
		t.Errorf("another secret: %v", err)
	}
	if err := w.SetSecret(t.Context(), "token", rightToken); err != nil {
		t.Fatal(err)
	}
	d.await(t, "the server with its new token", func() bool {
		return slices.ContainsFunc(d.Tools(), func(row toolRow) bool { return row.Tool == "read_with_token" })
	})
	has := must[map[string]bool](t)(w.HasSecret(t.Context(), []string{"token", "none"}))
	if !has["token"] || has["none"] {
		t.Errorf("has %v", has)
	}
	if err := w.DeleteSecret(t.Context(), "token"); err != nil {
		t.Error(err)
	}
	var refused *control.RefusedError
	if err := w.DeleteSecret(t.Context(), "token"); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("deleting it again: %v", err)
	}
	d.await(t, "the server without its token", func() bool { return started() == "" })
	if err := w.SetSecret(t.Context(), "token", ""); !errors.As(err, &refused) || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty value: %v", err)
	}
}

// shutKeychain cannot be used, in one way or another.
type shutKeychain struct{ err error }

func (k shutKeychain) Get(context.Context, string) (string, error) { return "", k.err }
func (k shutKeychain) Set(context.Context, string, string) error   { return k.err }
func (k shutKeychain) Delete(context.Context, string) error        { return k.err }

func TestWithoutAKeychainItIsSaidWhatWorks(t *testing.T) {
	for name, shut := range map[string]error{"locked": secrets.ErrLocked, "none": secrets.ErrUnavailable} {
		t.Run(name, func(t *testing.T) {
			w := window(t, newDesk(t, "", func(o *gateway.Options) { o.Keychain = shutKeychain{shut} }))
			_, hasErr := w.HasSecret(t.Context(), []string{"x"})
			_, keyErr := w.NewKey(t.Context())
			for what, err := range map[string]error{"set": w.SetSecret(t.Context(), "x", "the very value"), "delete": w.DeleteSecret(t.Context(), "x"), "has": hasErr, "new key": keyErr} {
				if err == nil || !strings.Contains(err.Error(), "keychain is") || !strings.Contains(err.Error(), "go on working") || strings.Contains(err.Error(), "very value") {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

func TestANewKeyReplacesTheOldOneAtOnce(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	handler := d.Handler()
	status := func(key string) int {
		request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/v1/models", nil)
		request.Header.Set("Authorization", "Bearer "+key)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	old := must[string](t)(w.Key(t.Context()))
	if got := status(old); got != http.StatusOK {
		t.Fatalf("the first key: %d", got)
	}
	fresh := must[string](t)(w.NewKey(t.Context()))
	if fresh == old || len(fresh) < 40 || status(old) != http.StatusUnauthorized || status(fresh) != http.StatusOK {
		t.Errorf("old: %d, new: %d", status(old), status(fresh))
	}
	if kept := must[string](t)(d.keychain.Get(t.Context(), "gateway")); kept != fresh || must[string](t)(w.Key(t.Context())) != fresh {
		t.Error("the keychain has another key")
	}
	for name, test := range map[string]struct{ value, says string }{
		"literal":     {"a-key-that-stands-in-the-file", "gateway.api_key"},
		"environment": {"os.environ/MY_KEY", "MY_KEY"},
	} {
		now := must[control.Settings](t)(w.Settings(t.Context()))
		must[control.Settings](t)(w.Edit(t.Context(), now.Revision, edit(test.value, "gateway", "api_key")))
		var refused *control.RefusedError
		if _, err := w.NewKey(t.Context()); !errors.As(err, &refused) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestARuleKeepsNoSecret: what a rule is bound to stands in the file.
func TestARuleKeepsNoSecret(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	d.answer(t, func(req approvals.Request) approvals.Decision {
		arguments, err := json.Marshal(map[string]string{"path": gjson.GetBytes(req.Arguments, "path").String(), "content": credential})
		if err != nil {
			t.Error(err)
		}
		return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk, Arguments: arguments,
			Scope: &approvals.Scope{Lifetime: approvals.Always, ExactArguments: true}}
	})
	must[*gateway.ChatResult](t)(d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go"}))
	rules := must[[]approvals.Rule](t)(w.Rules(t.Context()))
	if len(rules) != 1 || !rules[0].Concealed() {
		t.Fatalf("rules: %+v", rules)
	}
	text, err := os.ReadFile(d.configPath)
	if err != nil || strings.Contains(string(text), credential) || !strings.Contains(string(text), "arguments: "+rules[0].Arguments) {
		t.Errorf("the file (%v):\n%s", err, text)
	}
}

func TestRulesAreRemovedAndRestored(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	d.answer(t, func(approvals.Request) approvals.Decision {
		return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk, Scope: &approvals.Scope{Lifetime: approvals.Always, ExactArguments: true}}
	})
	must[*gateway.ChatResult](t)(d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go"}))
	rules := must[[]approvals.Rule](t)(w.Rules(t.Context()))
	if len(rules) != 1 || rules[0].Tool != "write_file" || rules[0].Arguments == "" {
		t.Fatalf("rules: %+v", rules)
	}
	rule := rules[0]
	var refused *control.RefusedError
	if err := w.RestoreRule(t.Context(), rule); !errors.As(err, &refused) {
		t.Errorf("a rule that was not removed was restored: %v", err)
	}
	if removed := must[bool](t)(w.RemoveRule(t.Context(), rule.ID)); !removed || len(d.Config().Approvals.Rules) != 0 && len(must[[]approvals.Rule](t)(w.Rules(t.Context()))) != 0 {
		t.Error("the rule was not removed")
	}
	if removed := must[bool](t)(w.RemoveRule(t.Context(), rule.ID)); removed {
		t.Error("it was removed twice")
	}
	wider := rule
	wider.Arguments = ""
	if err := w.RestoreRule(t.Context(), wider); !errors.As(err, &refused) {
		t.Errorf("a wider rule was restored: %v", err)
	}
	if err := w.RestoreRule(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	// The change before may be taken in just now, and then this one.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if rules = must[[]approvals.Rule](t)(w.Rules(t.Context())); len(rules) == 1 && rules[0].Arguments == rule.Arguments {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("restored: %+v", rules)
		}
	}
	text, err := os.ReadFile(d.configPath)
	if err != nil || !strings.Contains(string(text), rule.ID) {
		t.Errorf("%v, the file:\n%s", err, text)
	}
}

func TestAPersonStopsARun(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	ended := make(chan error, 1)
	go func() {
		_, err := d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go", Client: "a test"})
		ended <- err
	}()
	d.await(t, "the request for approval", func() bool { return len(d.Desk().Pending()) == 1 })
	waiting := d.Desk().Pending()[0].ID
	runs, err := w.Runs(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Client != "a test" || len(runs[0].Plan) == 0 || runs[0].Rounds == 0 {
		t.Fatalf("runs: %+v, %v", runs, err)
	}
	if last := runs[0].Calls[len(runs[0].Calls)-1]; last.Request == nil || last.Finished || !strings.Contains(last.Tool, "write_file") {
		t.Errorf("what waits: %+v", last)
	}
	if stopped := must[bool](t)(w.StopRun(t.Context(), "run_none")); stopped {
		t.Error("a run that is not there was stopped")
	}
	if stopped := must[bool](t)(w.StopRun(t.Context(), runs[0].Run)); !stopped {
		t.Error("the run was not stopped")
	}
	err = <-ended
	if e := models.AsError(err); !errors.Is(err, approvals.ErrStopped) || !strings.Contains(e.Message, "stopped by the person") || e.Status != http.StatusBadRequest {
		t.Errorf("its client got %v", err)
	}
	if ending := d.Desk().Ending(waiting); !strings.Contains(ending, "stopped by the person") {
		t.Errorf("the one who was asked is told %q", ending)
	}
	if len(d.Desk().Pending()) != 0 || len(must[[]json.RawMessage](t)(runsAsJSON(w))) != 0 {
		t.Error("something of it is left")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d.checkRecord(t, journal.Withdrawn, "stopped by the person")
}

func runsAsJSON(w *control.Client) ([]json.RawMessage, error) {
	var runs []json.RawMessage
	return runs, w.Get(context.Background(), "/runs", &runs)
}

// rightToken makes childServer offer a tool more.
const rightToken = "the-right-token-0123456789"

// childServer is a server in a process of its own: this test's executable.
func childServer(t *testing.T, token string) config.MCPServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return config.MCPServer{Command: self, Env: map[string]config.Secret{"GATEWAY_TEST_SERVER": "run", "TOKEN": config.Secret(token)}}
}

// runChild is childServer's process.
func runChild() {
	fmt.Fprintln(os.Stderr, "started with", os.Getenv("TOKEN"))
	if os.Getenv("GATEWAY_TEST_SERVER") == "fail" {
		fmt.Fprintln(os.Stderr, "no database")
		os.Exit(3)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "child", Version: "7"}, nil)
	nothing := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	}
	names := []string{"read_note", "delete_note"}
	if os.Getenv("TOKEN") == rightToken {
		names = append(names, "read_with_token")
	}
	for _, name := range names {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, nothing)
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

func TestAServerIsTriedOut(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	entry := childServer(t, "${keychain:unsaved}")
	entry.Tools = []string{"delete_note", "read_with_token"}
	got := must[control.ServerTest](t)(w.TestServer(t.Context(), "child", entry, map[string]string{"unsaved": rightToken}))
	classes := map[string]bool{}
	for _, row := range got.Tools {
		if row.Missing == nil {
			classes[row.Name] = row.Risky
		}
	}
	if got.State != servers.Connected || got.Error != "" || len(got.Tools) != 3 || len(classes) != 2 || !classes["child__delete_note"] || classes["child__read_with_token"] {
		t.Errorf("got %+v", got)
	}
	if text := strings.Join(got.Stderr, "\n"); !strings.Contains(text, "started with") || strings.Contains(text, rightToken) {
		t.Errorf("on stderr: %q", text)
	}
	if !strings.Contains(string(got.ServerInfo), `"child"`) || got.Protocol == "" {
		t.Errorf("it is %s, %s", got.ServerInfo, got.Protocol)
	}
	if slices.ContainsFunc(d.Servers(), func(s servers.Status) bool { return s.Name == "child" }) || must[map[string]bool](t)(w.HasSecret(t.Context(), []string{"unsaved"}))["unsaved"] {
		t.Error("something of it stays")
	}

	broken := entry
	broken.Env = map[string]config.Secret{"GATEWAY_TEST_SERVER": "fail"}
	got = must[control.ServerTest](t)(w.TestServer(t.Context(), "child", broken, nil))
	if got.State != servers.Failed || !strings.Contains(got.Error, "no database") || !slices.Contains(got.Stderr, "no database") || got.Tools == nil {
		t.Errorf("one that fails: %+v", got)
	}
	if got = must[control.ServerTest](t)(w.TestServer(t.Context(), "child", entry, nil)); got.State != servers.Failed || !strings.Contains(got.Error, `"unsaved"`) {
		t.Errorf("without its secret: %+v", got)
	}
	var invalid *control.InvalidError
	if _, err := w.TestServer(t.Context(), "child", config.MCPServer{}, nil); !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Path != "mcpServers.child" {
		t.Errorf("an empty entry: %v", err)
	}
}

// TestATrialEndsWithTheGateway: its process does not keep the program.
func TestATrialEndsWithTheGateway(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	reached, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(reached)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(release)
	ended := make(chan error, 1)
	go func() {
		_, err := w.TestServer(t.Context(), "slow", config.MCPServer{URL: slow.URL}, nil)
		ended <- err
	}()
	<-reached
	began := time.Now()
	if err := d.Close(); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("closing took %s: %v", time.Since(began), err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAProviderIsTriedOut(t *testing.T) {
	const good, listed = "the-good-key-0123456789", `{"data":[{"id":"text-embedding-9"},{"id":"chatty"}]}`
	provider := func(list, answer string) *httptest.Server {
		mux := http.NewServeMux()
		check := func(text string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer "+good {
					w.WriteHeader(http.StatusUnauthorized)
					fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, r.Header.Get("Authorization"))
					return
				}
				if text == "" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, text)
			}
		}
		mux.HandleFunc("GET /v1/models", check(list))
		mux.HandleFunc("POST /v1/chat/completions", check(answer))
		mux.HandleFunc("/page/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello</html>") })
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return server
	}
	const answer = `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"length"}]}`
	whole, gone := provider(listed, answer), httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, test := range []struct {
		name, url, key string
		ok             bool
		says, model    string
	}{
		{"works", whole.URL + "/v1", good, true, "chatty has answered", "chatty"},
		{"wrong key", whole.URL + "/v1", "a-wrong-key-9876543210", false, "key is wrong", ""},
		{"nobody there", gone.URL + "/v1", good, false, "Nothing answers at", ""},
		{"no such host", "http://nowhere.invalid/v1", good, false, "nowhere.invalid", ""},
		{"a web page", whole.URL + "/page", good, false, "mostly ends in /v1", ""},
		{"wrong path", whole.URL + "/v2", good, false, "mostly ends in /v1", ""},
		{"lists nothing", provider(`{"data":[]}`, answer).URL + "/v1", good, false, "lists no model", ""},
		{"no chat", provider(listed, "").URL + "/v1", good, false, "mostly ends in /v1", "chatty"},
		{"another answer", provider(listed, `{"hello":1}`).URL + "/v1", good, false, "not an OpenAI-compatible", "chatty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := window(t, newDesk(t, "", nil))
			got := must[control.ProviderTest](t)(w.TestProvider(t.Context(), "corp", config.Provider{BaseURL: test.url}, test.key))
			if got.OK != test.ok || !strings.Contains(got.Message, test.says) || got.Model != test.model || strings.Contains(got.Message+got.Detail, test.key) {
				t.Errorf("got %+v", got)
			}
		})
	}
	w := window(t, newDesk(t, "", nil))
	var invalid *control.InvalidError
	if _, err := w.TestProvider(t.Context(), "corp", config.Provider{}, ""); !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
		t.Errorf("without an address: %v", err)
	}
	if got := must[control.ProviderTest](t)(w.TestProvider(t.Context(), "openai", config.Provider{APIKey: "keychain:none"}, "")); got.OK || !strings.Contains(got.Message, "no key") {
		t.Errorf("without a key: %+v", got)
	}
}

// TestManagingNeedsTheSecret: that approvals are open opens nothing else.
func TestManagingNeedsTheSecret(t *testing.T) {
	d := newDesk(t, "approvals: {control: true}\n", nil)
	w := window(t, d)
	w.Secret = "a guess"
	calls := map[string]func() error{
		"Settings":     func() error { _, err := w.Settings(t.Context()); return err },
		"Edit":         func() error { _, err := w.Edit(t.Context(), "", edit("dark", "desktop", "theme")); return err },
		"AcceptHeld":   func() error { _, err := w.AcceptHeld(t.Context(), ""); return err },
		"RefuseHeld":   func() error { _, err := w.RefuseHeld(t.Context(), ""); return err },
		"SetSecret":    func() error { return w.SetSecret(t.Context(), "x", "y") },
		"DeleteSecret": func() error { return w.DeleteSecret(t.Context(), "x") },
		"HasSecret":    func() error { _, err := w.HasSecret(t.Context(), []string{"x"}); return err },
		"Key":          func() error { _, err := w.Key(t.Context()); return err },
		"NewKey":       func() error { _, err := w.NewKey(t.Context()); return err },
		"Rules":        func() error { _, err := w.Rules(t.Context()); return err },
		"RemoveRule":   func() error { _, err := w.RemoveRule(t.Context(), "x"); return err },
		"RestoreRule":  func() error { return w.RestoreRule(t.Context(), approvals.Rule{ID: "x"}) },
		"Runs":         func() error { _, err := w.Runs(t.Context()); return err },
		"StopRun":      func() error { _, err := w.StopRun(t.Context(), "x"); return err },
		"TestServer": func() error {
			_, err := w.TestServer(t.Context(), "x", config.MCPServer{Command: "x"}, nil)
			return err
		},
		"TestProvider": func() error {
			_, err := w.TestProvider(t.Context(), "x", config.Provider{BaseURL: "http://x"}, "")
			return err
		},
		"ServerLog": func() error { _, err := w.ServerLog(t.Context(), "x"); return err },
	}
	if _, err := d.keychain.Get(t.Context(), "gateway"); err == nil {
		t.Fatal("there is a key already")
	}
	for name, call := range calls {
		var refused *control.RefusedError
		if err := call(); !errors.As(err, &refused) || refused.Status != http.StatusForbidden || !strings.Contains(err.Error(), "window") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.keychain.Get(t.Context(), "gateway"); err == nil || d.Config().Desktop.Theme != "system" {
		t.Error("something was done all the same")
	}
	if rows := must[[]toolRow](t)(w.Tools(t.Context())); len(rows) < 4 { // which everybody may see
		t.Errorf("tools: %+v", rows)
	}
}

// TestNamesOfEveryKind: what users call things reaches the gateway as it is.
func TestNamesOfEveryKind(t *testing.T) {
	d := newDesk(t, "", nil)
	w := window(t, d)
	for _, name := range []string{"钥匙 📁", "a/b c", "مفتاح", "50%?#&x=y", strings.Repeat("n", 100)} {
		if err := w.SetSecret(t.Context(), name, "the value of "+name); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got, err := d.keychain.Get(t.Context(), name); err != nil || got != "the value of "+name {
			t.Errorf("%q is kept as %q, %v", name, got, err)
		}
		now := must[control.Settings](t)(w.Settings(t.Context()))
		now = must[control.Settings](t)(w.Edit(t.Context(), now.Revision, edit(config.MCPServer{Command: "x", Disabled: true}, "mcpServers", name)))
		if now.Config.MCPServers[name].Command != "x" {
			t.Errorf("a server named %q is %+v", name, now.Config.MCPServers)
		}
		if lines, err := w.ServerLog(t.Context(), name); err != nil || lines == nil || len(lines) != 0 {
			t.Errorf("the log of %q: %q, %v", name, lines, err)
		}
		now = must[control.Settings](t)(w.Edit(t.Context(), now.Revision, []control.Edit{{Path: []string{"mcpServers", name}, Remove: true}}))
		if _, left := now.Config.MCPServers[name]; left {
			t.Errorf("the server named %q stays", name)
		}
	}
	again, err := config.Load(config.Options{Path: d.configPath, Getenv: func(string) string { return "" }})
	if err != nil || len(again.Config().MCPServers) != 0 {
		t.Errorf("the file after it: %v", err)
	}
}
