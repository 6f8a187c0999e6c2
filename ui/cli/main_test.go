package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"pointsman/gateway/policy"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers/process"
	"pointsman/ui/cli"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv("CLI_TEST_SERVER") != "" {
		stubbornServer()
	}
	if len(os.Args) > 1 && os.Args[1] == "guard" { // a gateway in a test has started itself as its guard
		if err := process.RunGuard(context.Background(), os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv("CLI_TEST_LIBRARY") != "" {
		libraryServer()
	}
	dir, err := os.MkdirTemp("", "pointsman-cli-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = os.Setenv(buildDir, dir) // where the program is built, should a test need it
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// buildDir names the variable that holds the folder of the built program.
const buildDir = "CLI_TEST_BUILD"

// stubbornServer is an MCP server whose tools do not answer, and which does not go
// when its stdin closes, unless it is meek. get_report notes which process it is, and send_report, in
// a file beside that, with which mark it was called.
func stubbornServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "stubborn", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "get_report", Description: "Get the report.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if err := os.WriteFile(os.Getenv("CLI_TEST_SERVER"), fmt.Append(nil, os.Getpid()), 0o600); err != nil {
				return nil, nil, err
			}
			select {}
		})
	type marked struct {
		Mark string `json:"mark"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "send_report", Description: "Send the report."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in marked) (*mcp.CallToolResult, any, error) {
			ran, err := os.OpenFile(os.Getenv("CLI_TEST_SERVER")+ranSuffix, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = fmt.Fprintln(ran, in.Mark)
				err = errors.Join(err, ran.Close())
			}
			if err != nil {
				return nil, nil, err
			}
			<-ctx.Done()
			return nil, nil, context.Cause(ctx)
		})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
	if os.Getenv("CLI_TEST_MEEK") != "" {
		os.Exit(0)
	}
	select {}
}

const ranSuffix = ".ran"

// rig is a home of its own, and what the commands run with there.
type rig struct {
	t        *testing.T
	home     string
	env      map[string]string
	keychain secrets.Keychain
	policy   string // the administrator's file; empty: there is none
}

const gatewayKey = "pm-test-0123456789abcdef"

func newRig(t *testing.T, config string) *rig {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, home: home, keychain: secrets.Memory(), env: map[string]string{
		"POINTSMAN_HOME": home, "GATEWAY_API_KEY": gatewayKey, "NO_COLOR": "1",
	}}
}

// scratchConfig is a gateway of the demo model and the built-in server.
const scratchConfig = "default_model: demo\nmcpServers:\n  scratch: {type: builtin}\n"

func (r *rig) options(in io.Reader, out, err io.Writer, args []string) cli.Options {
	return cli.Options{
		Args: args, Stdin: in, Stdout: out, Stderr: err, Version: "v1.2.3", Keychain: r.keychain,
		Getenv: func(name string) string { return r.env[name] },
		Policy: func() *policy.Policy {
			if r.policy == "" {
				return &policy.Policy{}
			}
			return policy.Read(r.policy)
		},
	}
}

// ended is how a command ended.
type ended struct {
	code        int
	out, errors string
}

// run runs a command without a terminal.
func (r *rig) run(stdin string, args ...string) ended {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	var out, errs syncBuffer
	code := cli.Run(ctx, r.options(strings.NewReader(stdin), &out, &errs, args))
	return ended{code, out.String(), errs.String()}
}

// must is run for a command that has to end well.
func (r *rig) must(args ...string) ended {
	r.t.Helper()
	e := r.run("", args...)
	if e.code != 0 {
		r.t.Fatalf("%v ended with %d: %s", args, e.code, e.errors)
	}
	return e
}

// syncBuffer is a buffer that several goroutines write to.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// serving is a `serve` in this process.
type serving struct {
	address string
	log     *syncBuffer
	stop    func() int // interrupts it and returns its exit code
}

func (r *rig) serve(args ...string) *serving {
	r.t.Helper()
	s := &serving{log: &syncBuffer{}}
	r.start(s, strings.NewReader(""), s.log, args...)
	return s
}

// start runs serve with these streams until the test ends.
func (r *rig) start(s *serving, in io.Reader, errs io.Writer, args ...string) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, r.options(in, io.Discard, errs, append([]string{"serve", "--port", "0"}, args...)))
	}()
	stop := sync.OnceValue(func() int {
		cancel()
		select {
		case c := <-code:
			return c
		case <-time.After(patience):
			return -1
		}
	})
	s.stop = stop
	r.t.Cleanup(func() { stop() })
	eventually(r.t, "serve is ready", func() bool {
		select {
		case c := <-code:
			r.t.Fatalf("serve ended with %d: %s", c, errs)
		default:
		}
		s.address = r.listening()
		return s.address != ""
	})
	if config, err := os.ReadFile(filepath.Join(r.home, "config.yaml")); err == nil && strings.Contains(string(config), "scratch: {type: builtin}") {
		eventually(r.t, "the scratch server's tools are there", func() bool { return strings.Contains(r.must("tools", "--json").out, "scratch__write_file") })
	}
}

// listening is the address of the running resident, or "".
func (r *rig) listening() string {
	var status struct {
		Listen   string `json:"listen"`
		Resident bool   `json:"resident"`
	}
	var out, errs syncBuffer
	if cli.Run(r.t.Context(), r.options(strings.NewReader(""), &out, &errs, []string{"status", "--json"})) != 0 {
		return ""
	}
	if json.Unmarshal([]byte(out.String()), &status) != nil || !status.Resident {
		return ""
	}
	return status.Listen
}

// chat asks the resident over HTTP and returns the reply's body.
func (s *serving) chat(t *testing.T, body string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+gatewayKey)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(data)
}

// keysOf are the keys of a JSON object, sorted.
func keysOf(t *testing.T, text string) []string {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return slices.Sorted(maps.Keys(object))
}

// firstOf is the first element of a JSON list.
func firstOf(t *testing.T, text string) string {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) == 0 {
		t.Fatalf("no list with elements (%v): %q", err, text)
	}
	return string(list[0])
}

// provider is a model provider that calls a tool once and then says answer.
func provider(t *testing.T, tool, arguments, answer string) string {
	t.Helper()
	return actor{tool: tool, arguments: arguments, answer: answer}.serve(t)
}

// actor is a model that says something, calls a tool, and then says answer.
type actor struct {
	says, tool, arguments, answer string
	stubborn                      bool // it calls the tool whatever it is told
}

// serve makes it a model provider, and returns the address.
func (a actor) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		message := map[string]any{"role": "assistant", "content": a.answer}
		finish := "stop"
		if a.stubborn || !bytes.Contains(body, []byte(`"role":"tool"`)) && a.tool != "" {
			finish = "tool_calls"
			message["content"] = a.says
			message["tool_calls"] = []any{map[string]any{"index": 0, "id": "call_1", "type": "function", "function": map[string]string{"name": a.tool, "arguments": a.arguments}}}
		}
		if bytes.Contains(body, []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "text/event-stream")
			writeChunk(w, map[string]any{"index": 0, "delta": message, "finish_reason": finish})
			fmt.Fprint(w, "data: [DONE]\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "x", "object": "chat.completion", "model": "m", "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func writeChunk(w io.Writer, choice map[string]any) {
	data, err := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": []any{choice}})
	if err == nil {
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// closedPipe is a pipe that nobody reads any more.
type closedPipe struct{ err error }

func (p closedPipe) Write([]byte) (int, error) { return 0, p.err }

// lockedKeychain waits for a person who does not come.
type lockedKeychain struct{ err error }

func (k lockedKeychain) Get(context.Context, string) (string, error) { return "", k.err }
func (k lockedKeychain) Set(context.Context, string, string) error   { return k.err }
func (k lockedKeychain) Delete(context.Context, string) error        { return k.err }

var errBroken = errors.New("the disk is full")

// idIn is the id of the first element of a JSON list.
func idIn(t *testing.T, list string) string {
	t.Helper()
	var element struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(firstOf(t, list)), &element); err != nil {
		t.Fatal(err)
	}
	return element.ID
}
