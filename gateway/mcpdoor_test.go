package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/mcpapi"
)

// overStream connects a client to the MCP door over a stream.
func (d *desk) overStream(t *testing.T, who mcpapi.Client, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ours, theirs := net.Pipe()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = d.ServeMCP(context.Background(), theirs, who) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "stream", Version: "1"}, opts).Connect(t.Context(), &mcp.IOTransport{Reader: ours, Writer: ours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(); <-ended })
	return session
}

// bearer shows a key with every request.
type bearer struct{ key string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

// overHTTP connects a client to the MCP door over HTTP.
func overHTTP(t *testing.T, url, key string) (*mcp.ClientSession, error) {
	t.Helper()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "web", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: bearer{key}}}, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

func (d *desk) web(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(d.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

func textOf(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the content is %v", result.Content)
	}
	return text.Text
}

// TestOneDesk has ten clients over streams, one over HTTP, and four sessions of
// Copilot's hooks make 200 calls at once, half of them risky. Each decision must
// reach its own call: a call is denied, with its own path as the reason, when its
// path says so.
func TestOneDesk(t *testing.T) {
	d := newDesk(t, "", nil)
	deciding, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	work.Go(func() { d.decideAll(deciding) })

	web, err := overHTTP(t, d.web(t), d.mustKey(t))
	if err != nil {
		t.Fatal(err)
	}
	sessions := []*mcp.ClientSession{web}
	for range 10 {
		sessions = append(sessions, d.overStream(t, mcpapi.Client{}, nil))
	}
	var calls sync.WaitGroup
	for i, session := range sessions {
		many := 14
		if session == web {
			many = 20
		}
		calls.Go(func() {
			for n := range many {
				if err := oneCall(t.Context(), session, i, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 4 {
		calls.Go(func() {
			for n := range 10 {
				if err := d.oneHook(t.Context(), i, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	calls.Wait()
	if left := d.Desk().Pending(); len(left) > 0 {
		t.Errorf("%d requests still wait", len(left))
	}
	d.count(t, 200, map[string]int{"read": 100, "desk ok": 57, "desk denied": 43})
}

// count checks what the record says of n calls: how many were reads, and how the
// others ended, by whose word.
func (d *desk) count(t *testing.T, n int, want map[string]int) {
	t.Helper()
	reader, err := journal.OpenReader(filepath.Join(filepath.Dir(d.configPath), "state", "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var rows []journal.Call
	d.await(t, "the ends of all calls in the record", func() bool {
		rows = nil
		for call, err := range reader.Calls(t.Context(), journal.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, call)
		}
		return len(rows) == n && !slices.ContainsFunc(rows, func(c journal.Call) bool { return c.Outcome == "" })
	})
	got := map[string]int{}
	for _, call := range rows {
		if !call.Risky {
			got["read"]++
			continue
		}
		got[call.Approver+" "+string(call.Outcome)]++
		denied := strings.Contains(string(call.Arguments), "deny-")
		if denied != (call.Outcome == journal.Denied) || call.Approved == nil || *call.Approved == denied {
			t.Errorf("the record says %s of %s", call.Outcome, call.Arguments)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the record has %v, not %v", got, want)
	}
}

// oneHook puts a command of Copilot's to the desk, as oneCall does a call.
func (d *desk) oneHook(ctx context.Context, i, n int) error {
	name, command := fmt.Sprintf("hook-%d-%d.txt", i, n), "ls"
	if n%2 == 1 {
		if n%4 == 3 {
			name = "deny-" + name
		}
		command = "touch " + name
	}
	session := fmt.Sprint("copilot-", i)
	v := d.bash(ctx, session, command, "")
	if n%4 == 3 {
		if v.Allow || v.Reason != "not "+name {
			return fmt.Errorf("the denied hook of %s got %+v", name, v)
		}
		return nil
	}
	if !v.Allow {
		return fmt.Errorf("the hook of %s got %+v", name, v)
	}
	d.bash(ctx, session, command, `,"toolResult":{"resultType":"success","textResultForLlm":""}`)
	return nil
}

// oneCall makes a call, risky when n is odd, to be denied when it is 3 modulo 4.
func oneCall(ctx context.Context, session *mcp.ClientSession, i, n int) error {
	name := fmt.Sprintf("file-%d-%d.txt", i, n)
	params := &mcp.CallToolParams{Name: "scratch__list_files", Arguments: map[string]any{}}
	if n%2 == 1 {
		if n%4 == 3 {
			name = "deny-" + name
		}
		params = &mcp.CallToolParams{Name: "scratch__write_file", Arguments: map[string]any{"path": name, "content": "x"}}
	}
	result, err := session.CallTool(ctx, params)
	if err != nil {
		return err
	}
	text, _ := result.Content[0].(*mcp.TextContent)
	switch {
	case n%4 == 3 && (!result.IsError || text == nil || !strings.Contains(text.Text, "not "+name)):
		return fmt.Errorf("the denied call of %s said %v", name, result)
	case n%4 != 3 && result.IsError:
		return fmt.Errorf("the call of %s failed: %v", name, text)
	}
	return nil
}

// decideAll answers what waits at the desk: by the path of each call.
func (d *desk) decideAll(ctx context.Context) {
	changed, stop := d.Desk().Subscribe()
	defer stop()
	for {
		for _, req := range d.Desk().Pending() {
			decision := approvals.Decision{Outcome: approvals.Allowed}
			path := gjson.GetBytes(req.Arguments, "path").Str + strings.TrimPrefix(gjson.GetBytes(req.Arguments, "command").Str, "touch ")
			if strings.HasPrefix(path, "deny-") {
				decision = approvals.Decision{Outcome: approvals.Denied, Reason: "not " + path}
			}
			d.Desk().Resolve(req.ID, decision)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (d *desk) mustKey(t *testing.T) string {
	t.Helper()
	key, err := d.AccessKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestMCPSessionsOverHTTP: clients over HTTP are of one session when they say so,
// and never because they came by one door.
func TestMCPSessionsOverHTTP(t *testing.T) {
	d := newDesk(t, "", nil)
	url := d.web(t)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"scratch__list_files","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	stateless := func(name, session string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(fmt.Sprintf(call, name)))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
			"Mcp-Method": "tools/call", "Mcp-Name": "scratch__list_files", "X-Pointsman-Session": session,
		} {
			req.Header.Set(key, value)
		}
		response, err := (&http.Client{Transport: bearer{d.mustKey(t)}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if said, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(said), `"content"`) {
			t.Fatalf("%s was told %s %s", name, response.Status, said)
		}
	}
	events, unsubscribe := d.Events().Subscribe(100)
	defer unsubscribe()
	stateless("one", "")
	stateless("another", "")
	stateless("third", "mine")
	sessions := map[string]string{}
	for e := range drained(events) {
		sessions[e.Client] = e.Session
	}
	if want := map[string]string{"one/1": "", "another/1": "", "third/1": "mine"}; !maps.Equal(sessions, want) {
		t.Errorf("the sessions are %v, not %v", sessions, want)
	}
}

func TestMCPOverHTTPIsGuarded(t *testing.T) {
	d := newDesk(t, "", nil)
	url := d.web(t)
	if _, err := overHTTP(t, url, "another key"); err == nil {
		t.Error("a client without the key came in")
	}
	for name, header := range map[string]http.Header{
		"a web page":     {"Origin": {"https://evil.example"}},
		"a foreign host": {"Host": {"evil.example"}},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header, req.Host = header, header.Get("Host")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s got %s", name, resp.Status)
		}
	}
}

// TestMCPClientGoneOverHTTP withdraws what a client waits for that has gone.
func TestMCPClientGoneOverHTTP(t *testing.T) {
	d := newDesk(t, "gateway: {auth: none}\n", nil)
	session, err := overHTTP(t, d.web(t), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "scratch__write_file", Arguments: map[string]any{"path": "a", "content": "b"}})
		ended <- err
	}()
	d.await(t, "the request", func() bool { return len(d.Desk().Pending()) == 1 })
	cancel()
	<-ended
	d.await(t, "its withdrawal", func() bool { return len(d.Desk().Pending()) == 0 })
	if _, err := os.Stat(filepath.Join(d.folder, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the call ran: %v", err)
	}
}

func TestOwnTools(t *testing.T) {
	d := newDesk(t, "", nil)
	told := make(chan string, 100)
	session := d.overStream(t, mcpapi.Client{Session: "s"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message },
	})
	call := func(name string, arguments map[string]any) *mcp.CallToolResult {
		t.Helper()
		params := &mcp.CallToolParams{Name: name, Arguments: arguments}
		params.SetProgressToken("p")
		result, err := session.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	for name, path := range map[string]string{"gpt6_models": "demo.label", "gpt6_status": "version", "gpt6_tools": "tools.0.name"} {
		result := call(name, map[string]any{})
		if text := textOf(t, result); result.IsError || gjson.Get(text, path).String() == "" {
			t.Errorf("%s said %s", name, text)
		}
	}
	d.answer(t, func(approvals.Request) approvals.Decision { return approvals.Decision{Outcome: approvals.Allowed} })
	answer := gjson.Parse(textOf(t, call("gpt6_chat", map[string]any{"prompt": "Write a haiku about signals.", "model": "demo"})))
	if answer.Get("content").Str == "" || answer.Get("rounds").Int() < 2 || len(answer.Get("used_tools").Array()) == 0 || len(answer.Get("plan").Array()) == 0 {
		t.Errorf("the answer is %s", answer.Raw)
	}
	var words []string
	d.await(t, "word of the model and of the person who is asked", func() bool {
		for len(told) > 0 {
			words = append(words, <-told)
		}
		all := strings.Join(words, "\n")
		return strings.Contains(all, "waits for approval") && strings.Contains(all, "asking the model")
	})
	if plan := gjson.Get(textOf(t, call("gpt6_plan", map[string]any{})), "plan"); plan.Raw != answer.Get("plan").Raw {
		t.Errorf("the plan is %s, not %s", plan.Raw, answer.Get("plan").Raw)
	}
	if result := call("gpt6_chat", map[string]any{"prompt": "x", "model": "no such model"}); !result.IsError || !strings.Contains(textOf(t, result), "no such model") {
		t.Errorf("an unknown model is %s", textOf(t, result))
	}
}

// TestCopilotInstall reports without asking, and asks before it installs.
func TestCopilotInstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	bin := t.TempDir()
	program(t, bin, "npm", "printf '#!/bin/sh\\necho 9.9.9\\n' > "+bin+"/copilot; chmod +x "+bin+"/copilot; echo \"npm $*\"\n")
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	d := newDesk(t, "", nil)
	session := d.overStream(t, mcpapi.Client{}, nil)
	call := func(arguments map[string]any) gjson.Result {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "copilot_install", Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		return gjson.Parse(textOf(t, result))
	}
	if got := call(map[string]any{}); got.Get("installed").Raw != "false" {
		t.Errorf("reported %s", got.Raw)
	}
	var asked approvals.Request
	d.answer(t, func(req approvals.Request) approvals.Decision {
		asked = req
		return approvals.Decision{Outcome: approvals.Allowed}
	})
	got := call(map[string]any{"install": true})
	if got.Get("version").Str != "9.9.9" || got.Get("output").Str != "npm install -g @github/copilot" {
		t.Errorf("installed %s", got.Raw)
	}
	if asked.Class != approvals.Execute || asked.Tool != "copilot_install" || asked.Server != "pointsman" {
		t.Errorf("asked was about %+v", asked)
	}
}

// program writes a shell script.
func program(t *testing.T, folder, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
}
