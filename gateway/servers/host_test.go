package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/scratch"
)

// harness is a running host whose changes can be awaited.
type harness struct {
	*servers.Host
	t       testing.TB
	changed chan struct{}
	stop    func()
}

func start(t testing.TB, opts servers.Options, entries map[string]config.MCPServer) *harness {
	t.Helper()
	h := &harness{t: t, changed: make(chan struct{}, 1)}
	opts.OnChange = func() {
		select {
		case h.changed <- struct{}{}:
		default:
		}
	}
	h.Host = servers.New(opts)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		began := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("Run took %s to return, want at most 5s", took)
		}
	})
	t.Cleanup(h.stop)
	h.Apply(entries, nil)
	return h
}

// await waits until ok says yes.
func (h *harness) await(what string, ok func() bool) {
	h.t.Helper()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-h.changed:
		case <-deadline:
			h.t.Fatalf("waiting until %s: it did not happen; status %+v", what, h.Status())
		}
	}
}

func (h *harness) status(name string) servers.Status {
	for _, s := range h.Status() {
		if s.Name == name {
			return s
		}
	}
	return servers.Status{}
}

func (h *harness) awaitState(name string, want servers.State) servers.Status {
	h.t.Helper()
	h.await(name+" is "+string(want), func() bool { return h.status(name).Live.Status == want })
	return h.status(name)
}

func (h *harness) call(name, tool, args string) (*servers.Result, error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return h.Call(ctx, servers.Call{Server: name, Tool: tool, Arguments: json.RawMessage(args)})
}

func (h *harness) text(name, tool, args string) string {
	h.t.Helper()
	res, err := h.call(name, tool, args)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.Text(0)
}

func (h *harness) toolNames() []string {
	var names []string
	for _, tool := range h.Tools() {
		names = append(names, tool.Name)
	}
	return names
}

func fakeServer(t testing.TB, mode string) config.MCPServer {
	return config.MCPServer{Command: self(t), Env: map[string]config.Secret{
		fakeMode: config.Secret(mode),
		"GORACE": "atexit_sleep_ms=0", // else each fake takes a second to end
	}}
}

func oneFake(t testing.TB, mode string) map[string]config.MCPServer {
	return map[string]config.MCPServer{"fake": fakeServer(t, mode)}
}

func TestToolsAreAsTheServerSentThem(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	h.awaitState("fake", servers.Connected)
	tools := h.Tools()
	if len(tools) != 2 {
		t.Fatalf("got %d tools, want 2, of two pages", len(tools))
	}
	if string(tools[0].Raw) != echoTool {
		t.Errorf("definition\n got %s\nwant %s", tools[0].Raw, echoTool)
	}
	if tools[0].Trusted {
		t.Error("a server's annotations are trusted without the user's word")
	}
}

func TestResultIsAsTheServerSentIt(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	res, err := h.call("fake", "echo", `{"n": 12345678901234567890, "s": "<&>", "e": ""}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"content":[{"type":"text","text":"{\"n\":12345678901234567890,\"s\":\"<&>\",\"e\":\"\"}"}],"isError":false,"vendor":{"kept":1e2}}`
	if string(res.Raw) != want {
		t.Errorf("result\n got %s\nwant %s", res.Raw, want)
	}
}

func TestStatus(t *testing.T) {
	entries := map[string]config.MCPServer{
		"good":  fakeServer(t, "normal"),
		"off":   {Command: "true", Disabled: true},
		"list":  {Command: "true"},
		"empty": {},
		"lost":  {Command: "no-such-command-anywhere"},
	}
	h := start(t, servers.Options{Path: "/nowhere"}, nil)
	h.Apply(entries, []string{"list"})
	good := h.awaitState("good", servers.Connected)
	lost := h.awaitState("lost", servers.Failed)
	for name, want := range map[string]servers.State{"off": servers.Disabled, "list": servers.Disabled, "empty": servers.NotConfigured} {
		if got := h.status(name).Live.Status; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if good.Live.PID == 0 || good.Live.Protocol != "2025-06-18" || good.Tools != 2 || good.Transport != "stdio" || good.Live.ConnectionID == "" ||
		!strings.Contains(string(good.Live.ServerInfo), `"version":"1.2.3"`) {
		t.Errorf("status of a connected server: %+v", good)
	}
	for _, part := range []string{"no-such-command-anywhere", "/nowhere", "PATH"} {
		if !strings.Contains(lost.Live.Error, part) {
			t.Errorf("the error of a missing command does not mention %s: %s", part, lost.Live.Error)
		}
	}
	if got := h.Stderr("good"); !slices.Equal(got, []string{"fake server, mode normal"}) {
		t.Errorf("stderr: %q", got)
	}
}

func TestMissingCommandSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	h := start(t, servers.Options{Path: "/nowhere"}, map[string]config.MCPServer{"u": {Command: "uvx"}})
	if got := h.awaitState("u", servers.Failed).Live.Error; !strings.Contains(got, "install uv") {
		t.Errorf("error does not say what to install: %s", got)
	}
}

func TestServerThatCannotStartSaysWhy(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "broken"))
	got := h.awaitState("fake", servers.Failed)
	if !strings.Contains(got.Live.Error, "cannot find the database") {
		t.Errorf("error lacks the last words on stderr: %s", got.Live.Error)
	}
	var unavailable *servers.UnavailableError
	if _, err := h.call("fake", "echo", `{}`); !errors.As(err, &unavailable) || unavailable.Status != servers.Failed {
		t.Errorf("calling a server that cannot start: %v", err)
	}
}

func TestJunkOnStdoutIsSkippedAndCounted(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "junk"))
	if got := h.text("fake", "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("echo: %s", got)
	}
	if got := h.status("fake").Junk; got != 3 {
		t.Errorf("counted %d lines of junk, want 3", got)
	}
}

func TestCallWaitsForASlowStart(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "slow"))
	if got := h.text("fake", "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("echo: %s", got)
	}
}

func TestStartTimeout(t *testing.T) {
	entry := fakeServer(t, "silent")
	entry.StartTimeout = 100
	h := start(t, servers.Options{}, map[string]config.MCPServer{"fake": entry})
	if got := h.awaitState("fake", servers.Failed).Live.Error; !strings.Contains(got, "startTimeout") {
		t.Errorf("error does not name the setting: %s", got)
	}
}

func TestToolError(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	res, err := h.call("fake", "fails", `{}`)
	if err != nil || !res.IsError || res.Text(0) != "no such row" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestProtocolError(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	_, err := h.call("fake", "refuses", `{}`)
	var protocol *servers.ProtocolError
	if !errors.As(err, &protocol) || protocol.Code != -32602 || protocol.Message != "bad arguments" || string(protocol.Data) != `{"field":"x"}` {
		t.Errorf("got %#v", err)
	}
}

func TestArgumentsMustBeAnObject(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	for _, args := range []string{`[1]`, `"x"`, `{"a":`, `{} {}`} {
		if _, err := h.call("fake", "echo", args); err == nil || !strings.Contains(err.Error(), "JSON object") {
			t.Errorf("arguments %s: %v", args, err)
		}
	}
}

func TestBuiltinServer(t *testing.T) {
	builtin := map[string]func(context.Context) (mcp.Transport, error){"scratch": scratch.Transport(t.TempDir())}
	h := start(t, servers.Options{Builtin: builtin}, nil)
	s := h.awaitState("scratch", servers.Connected)
	if s.Transport != "builtin" || s.Tools != 4 || s.Live.PID != 0 {
		t.Errorf("status: %+v", s)
	}
	if !h.Tools()[0].Trusted {
		t.Error("our own server's annotations are not trusted")
	}
	if got := h.text("scratch", "write_file", `{"path":"a","content":"b"}`); got != "wrote 1 bytes to a" {
		t.Errorf("write_file: %s", got)
	}
	h.Apply(nil, []string{"scratch"})
	h.awaitState("scratch", servers.Disabled)
	var unavailable *servers.UnavailableError
	if _, err := h.call("scratch", "list_files", `{}`); !errors.As(err, &unavailable) || unavailable.Status != servers.Disabled {
		t.Errorf("calling a disabled server: %v", err)
	}
	h.Apply(map[string]config.MCPServer{"scratch": fakeServer(t, "normal")}, nil)
	if got := h.text("scratch", "echo", `{}`); got != `{}` || h.Tools()[0].Trusted {
		t.Error("an entry of the same name did not take the built-in server's place")
	}
}

func TestBundledServerNeedsAnEntry(t *testing.T) {
	bundled := map[string]func(context.Context) (mcp.Transport, error){"scratch": scratch.Transport(t.TempDir())}
	h := start(t, servers.Options{Bundled: bundled}, nil)
	if all := h.Status(); len(all) != 0 {
		t.Errorf("without an entry there is %+v", all)
	}
	h.Apply(map[string]config.MCPServer{"scratch": {Type: "builtin"}}, nil)
	if s := h.awaitState("scratch", servers.Connected); s.Transport != "builtin" || s.Tools != 4 {
		t.Errorf("status: %+v", s)
	}
	h.Apply(nil, nil)
	if all := h.Status(); len(all) != 0 {
		t.Errorf("when the entry is gone there is %+v", all)
	}
}

// TestStatelessServer: one that speaks the newest protocol over stdio.
func TestStatelessServer(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "sdk"))
	if got := h.text("fake", "meta", `{}`); !strings.Contains(got, `"io.modelcontextprotocol/clientInfo":{"name":"pointsman","version":"dev"}`) {
		t.Errorf("the server saw _meta %s", got)
	}
	if got := h.status("fake").Live.Protocol; got != "2026-07-28" {
		t.Errorf("protocol %s", got)
	}
	var protocol *servers.ProtocolError
	if _, err := h.call("fake", "asks", `{}`); !errors.As(err, &protocol) || !strings.Contains(err.Error(), "nobody is there to answer elicitation/create") {
		t.Errorf("calling a tool that asks the user: %v", err)
	}
}

func TestUnknownServer(t *testing.T) {
	h := start(t, servers.Options{}, nil)
	var unavailable *servers.UnavailableError
	if _, err := h.call("nobody", "echo", `{}`); !errors.As(err, &unavailable) {
		t.Errorf("got %v", err)
	}
}

func TestCrashDuringACall(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	before := h.text("fake", "pid", `{}`)
	var lost *servers.LostError
	if _, err := h.call("fake", "crash", `{}`); !errors.As(err, &lost) {
		t.Fatalf("got %v, want a LostError", err)
	}
	// The next call, made at once, gets a new process, and many get the same one.
	pids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range pids {
		wg.Go(func() {
			if res, err := h.call("fake", "pid", `{}`); err == nil {
				pids[i] = res.Text(0)
			}
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid == before || pid == "" || pid != pids[0] {
			t.Fatalf("after the crash of %s the calls reached %q", before, pids)
		}
	}
}

func TestCrashIsNoticedWithoutACall(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	first := h.awaitState("fake", servers.Connected)
	if _, err := h.call("fake", "crash", `{}`); err == nil {
		t.Fatal("the call survived the crash")
	}
	h.await("it is connected again", func() bool {
		s := h.status("fake")
		return s.Live.Status == servers.Connected && s.Live.ConnectionID != first.Live.ConnectionID
	})
}

func TestTimeoutTellsTheServerAndKeepsTheConnection(t *testing.T) {
	entry := fakeServer(t, "normal")
	entry.Timeout = 100
	logFile := filepath.Join(t.TempDir(), "cancelled")
	entry.Env["FAKE_LOG"] = config.Secret(logFile)
	h := start(t, servers.Options{}, map[string]config.MCPServer{"fake": entry})
	pid := h.text("fake", "pid", `{}`)
	var timeout *servers.TimeoutError
	if _, err := h.call("fake", "hang", `{}`); !errors.As(err, &timeout) || timeout.After != 100*time.Millisecond {
		t.Fatalf("got %v, want a TimeoutError", err)
	}
	if got := h.text("fake", "pid", `{}`); got != pid {
		t.Errorf("the connection was not kept: pid %s, then %s", pid, got)
	}
	if data, err := os.ReadFile(logFile); err != nil || len(data) == 0 {
		t.Errorf("the server was not told: %q, %v", data, err)
	}
}

func TestCancelTellsTheServer(t *testing.T) {
	entry := fakeServer(t, "normal")
	logFile := filepath.Join(t.TempDir(), "cancelled")
	entry.Env["FAKE_LOG"] = config.Secret(logFile)
	h := start(t, servers.Options{}, map[string]config.MCPServer{"fake": entry})
	h.awaitState("fake", servers.Connected)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := h.Call(ctx, servers.Call{Server: "fake", Tool: "hang"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	h.text("fake", "pid", `{}`) // the server has read what came before
	if _, err := os.Stat(logFile); err != nil {
		t.Error("the server was not told")
	}
}

func TestProgressExtendsTheTimeout(t *testing.T) {
	entry := fakeServer(t, "normal")
	entry.Timeout = 150 // the call takes twice as long
	h := start(t, servers.Options{}, map[string]config.MCPServer{"fake": entry})
	h.awaitState("fake", servers.Connected)
	var seen []string
	res, err := h.Call(context.Background(), servers.Call{
		Server: "fake", Tool: "progress",
		OnProgress: func(p servers.Progress) { seen = append(seen, p.Message) },
	})
	if err != nil || res.Text(0) != "done" {
		t.Fatalf("got %v, %v", res, err)
	}
	if want := []string{"step 1", "step 2", "step 3", "step 4", "step 5"}; !slices.Equal(seen, want) {
		t.Errorf("progress %q, want %q", seen, want)
	}
}

func TestBigResult(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	const size = 9 << 20
	res, err := h.call("fake", "big", `{"n":9437184}`)
	if err != nil || len(res.Text(0)) != size {
		t.Fatalf("got %d bytes, %v; want %d", len(res.Text(0)), err, size)
	}
	if got := res.Text(1000); len(got) > 1100 || !strings.HasSuffix(got, "[cut: 1000 of 9437184 bytes shown]") {
		t.Errorf("cut to %d bytes, ending in %q", len(got), got[max(0, len(got)-60):])
	}
}

func TestServerThatDoesNotReadHoldsUpNobody(t *testing.T) {
	entry := fakeServer(t, "silent")
	entry.StartTimeout = 60_000
	h := start(t, servers.Options{}, map[string]config.MCPServer{"fake": entry})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	args := json.RawMessage(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)
	if _, err := h.Call(ctx, servers.Call{Server: "fake", Tool: "echo", Arguments: args}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestListChanged(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	h.awaitState("fake", servers.Connected)
	h.text("fake", "rename", `{}`)
	h.await("the new list is there", func() bool { return slices.Equal(h.toolNames(), []string{"echo", "renamed"}) })
}

func TestApplyRestartsOnlyWhatChanged(t *testing.T) {
	same, changes, prefix := fakeServer(t, "normal"), fakeServer(t, "normal"), "other"
	h := start(t, servers.Options{}, map[string]config.MCPServer{"same": same, "changes": changes, "goes": fakeServer(t, "normal")})
	same.Tools, same.Prefix = []string{"pid"}, &prefix // what is offered is not the server's business
	pidSame, pidChanges := h.text("same", "pid", `{}`), h.text("changes", "pid", `{}`)
	changes.Args = []string{"ignored"}
	h.Apply(map[string]config.MCPServer{"same": same, "changes": changes}, nil)
	if got := h.text("same", "pid", `{}`); got != pidSame {
		t.Error("an entry that did not change was restarted")
	}
	if got := h.text("changes", "pid", `{}`); got == pidChanges {
		t.Error("an entry that changed was not restarted")
	}
	if got := h.status("goes"); got.Name != "" {
		t.Errorf("an entry that went is still there: %+v", got)
	}
}

func TestServerSeesAShortEnvironment(t *testing.T) {
	t.Setenv("LLM_API_KEY", "sk-do-not-leak")
	t.Setenv("OPENAI_API_KEY", "sk-do-not-leak")
	t.Setenv("LC_ALL", "C.UTF-8")
	entry := fakeServer(t, "normal")
	entry.Env["TOKEN"] = "keychain:token"
	resolve := func(_ context.Context, ref string) (string, error) {
		return strings.ReplaceAll(ref, "keychain:token", "s3cret"), nil
	}
	h := start(t, servers.Options{Resolve: resolve}, map[string]config.MCPServer{"fake": entry})
	env := strings.Split(h.text("fake", "env", `{}`), "\n")
	for _, pair := range env {
		if strings.Contains(pair, "sk-do-not-leak") {
			t.Errorf("the server sees %s", pair)
		}
	}
	for _, want := range []string{"TOKEN=s3cret", "LC_ALL=C.UTF-8", "HOME=" + os.Getenv("HOME")} {
		if runtime.GOOS != "windows" && !slices.Contains(env, want) {
			t.Errorf("the server does not see %s", want)
		}
	}
}

func TestResolveErrorIsTheServersError(t *testing.T) {
	entry := fakeServer(t, "normal")
	entry.Env["TOKEN"] = "keychain:gone"
	resolve := func(_ context.Context, ref string) (string, error) {
		if ref == "keychain:gone" {
			return "", errors.New("no secret of that name")
		}
		return ref, nil
	}
	h := start(t, servers.Options{Resolve: resolve}, map[string]config.MCPServer{"fake": entry})
	if got := h.awaitState("fake", servers.Failed).Live.Error; !strings.Contains(got, "env TOKEN") || !strings.Contains(got, "no secret of that name") {
		t.Errorf("error: %s", got)
	}
}

// logOf is a logger, and what it was told, without the times.
func logOf() (*slog.Logger, func() string) {
	var mu sync.Mutex
	var b strings.Builder
	write := writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return b.Write(p)
	})
	log := slog.New(slog.NewTextHandler(write, &slog.HandlerOptions{Level: slog.LevelInfo}))
	return log, func() string {
		mu.Lock()
		defer mu.Unlock()
		return b.String()
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestAFailureIsToldOnce(t *testing.T) {
	log, told := logOf()
	h := start(t, servers.Options{Logger: log}, oneFake(t, "broken"))
	for range 3 { // a call makes it try again at once
		_, err := h.call("fake", "echo", "{}")
		var away *servers.UnavailableError
		if !errors.As(err, &away) {
			t.Fatalf("got %v", err)
		}
	}
	h.stop()
	if text := told(); strings.Count(text, "status=failed") != 1 || strings.Count(text, "status=pending") != 1 {
		t.Errorf("the log says:\n%s", text)
	}
}

// That we stop is no failure of the servers.
func TestStoppingIsNoFailure(t *testing.T) {
	log, told := logOf()
	entries := oneFake(t, "normal")
	entries["silent"] = fakeServer(t, "silent")
	h := start(t, servers.Options{Logger: log}, entries)
	h.awaitState("fake", servers.Connected)
	h.stop()
	if text := told(); strings.Contains(text, "failed") || !strings.Contains(text, "server=fake status=stopped") {
		t.Errorf("the log says:\n%s", text)
	}
}
