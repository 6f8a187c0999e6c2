package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
)

// patience is how long a test waits for what has to come; only a failing test
// waits that long.
const patience = 30 * time.Second

// key is what clients show.
const key = "pm-end-to-end-key"

// pointsman is a running `pointsman serve` with a provider behind it.
type pointsman struct {
	*provider
	home    string
	url     string // of the door, without /v1
	folder  string // of the filesystem server
	cmd     *exec.Cmd
	env     []string
	stderr  *lockedBuffer
	exited  chan struct{} // closed when the process has ended
	control *control.Client
}

// setup is what a test asks for.
type setup struct {
	bare    bool           // there is no configuration yet
	loose   bool           // not every server connects
	native  bool           // the provider has the Responses API, too
	servers map[string]any // mcpServers
	extra   string         // YAML at the top level
	door    []string       // how the program is started; nil: serve
	env     []string       // beyond what every program of these tests has
}

// serve starts the program and waits until its servers' tools are there.
func serve(t *testing.T, s setup) *pointsman {
	t.Helper()
	p := &pointsman{provider: newProvider(t), home: t.TempDir(), folder: realPath(t, t.TempDir()), stderr: &lockedBuffer{}}
	if err := os.WriteFile(filepath.Join(p.folder, "poem.txt"), []byte("roses are red"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env, p.native = s.env, s.native
	if !s.bare {
		p.configure(t, s)
	}
	if s.door == nil {
		s.door = []string{"serve"}
	}
	p.start(t, append(s.door, "--listen", freeAddress(t))...)
	if !s.loose {
		p.awaitServers(t, len(s.servers))
	}
	return p
}

// start starts the program and waits until it serves. The last argument is the
// address that it serves.
func (p *pointsman) start(t *testing.T, args ...string) {
	t.Helper()
	p.url, p.exited = "http://"+args[len(args)-1], make(chan struct{})
	cmd, exited := p.command(context.Background(), args...), p.exited
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.cmd = cmd
	go func() { _ = cmd.Wait(); close(exited) }()
	t.Cleanup(func() { p.end(t) })
	await(t, "the door", func() bool { return p.healthy() })
	var err error
	if p.control, err = control.Dial(t.Context(), p.homes(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.control.Close)
}

// withFiles is a setup with the real filesystem server, "fs", over the test's
// folder, which holds poem.txt.
func withFiles(t *testing.T, extra string) setup {
	t.Helper()
	return setup{extra: extra, servers: map[string]any{
		"fs": map[string]any{"command": "node", "args": []string{npm(t, "@modelcontextprotocol/server-filesystem/dist/index.js"), folderMark}},
	}}
}

const folderMark = "%FOLDER%"

// configure writes the configuration.
func (p *pointsman) configure(t *testing.T, s setup) {
	t.Helper()
	servers, err := json.Marshal(s.servers)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("default_model: scripted/test\nproviders: {scripted: {base_url: %q, api_key: os.environ/SCRIPTED_KEY}}\nrouter_settings: {num_retries: 0, cooldown_time: 0}\n", p.URL+"/v1")
	if s.servers != nil {
		text += "mcpServers: " + strings.ReplaceAll(string(servers), folderMark, p.folder) + "\n"
	}
	text += s.extra
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command is the program with this home and no other settings.
func (p *pointsman) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Getenv(binaryVariable), args...)
	cmd.Dir = p.home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "POINTSMAN_HOME=" + p.home, "GATEWAY_API_KEY=" + key,
		"SCRIPTED_KEY=provider-key", "SHELL=/bin/sh", "LANG=C.UTF-8", "TMPDIR=" + os.TempDir(),
		"GORACE=atexit_sleep_ms=0", // a second a command, otherwise
	}
	cmd.Env = append(cmd.Env, p.env...)
	return cmd
}

// cli runs a command to its end and returns its standard output and exit code.
func (p *pointsman) cli(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := p.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("pointsman %s: %v", strings.Join(args, " "), err)
	}
	if stderr.Len() > 0 {
		t.Logf("pointsman %s said: %s", strings.Join(args, " "), stderr.String())
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// end ends the program as a service manager does. It must go by itself, and
// nothing in its log may tell of a data race.
func (p *pointsman) end(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Error("the program did not end when it was told to")
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	said := p.stderr.String()
	if strings.Contains(said, "DATA RACE") || strings.Contains(said, "panic") {
		t.Errorf("the program said:\n%s", said)
	}
	if t.Failed() {
		t.Logf("the program's log:\n%s", said)
	}
}

func (p *pointsman) homes(t *testing.T) config.Home {
	t.Helper()
	home, err := config.Locate(func(name string) string { return map[string]string{"POINTSMAN_HOME": p.home}[name] })
	if err != nil {
		t.Fatal(err)
	}
	return home
}

func (p *pointsman) healthy() bool {
	response, err := http.Get(p.url + "/health")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// status is what GET /v1/status says.
func (p *pointsman) status(t *testing.T) gjson.Result {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/v1/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the status: %v %s %s", err, response.Status, data)
	}
	return gjson.ParseBytes(data)
}

// awaitServers waits until n servers are connected and their tools can be called.
func (p *pointsman) awaitServers(t *testing.T, n int) {
	t.Helper()
	if n == 0 {
		return
	}
	await(t, "the MCP servers", func() bool {
		status, tools := p.status(t), int64(0)
		for _, server := range status.Get("mcp.inventory").Array() {
			if server.Get("live.status").String() != "connected" {
				return false
			}
			tools += server.Get("tools").Int()
		}
		return tools > 0 && status.Get("mcp.tools").Int() == tools
	})
}

// journal returns the calls in the journal, newest first, when all have ended: the
// end of a call is on disk a moment after its answer.
func (p *pointsman) journal(t *testing.T) []gjson.Result {
	t.Helper()
	var rows []gjson.Result
	await(t, "the calls to end", func() bool {
		rows = p.rows(t)
		return !slices.ContainsFunc(rows, func(row gjson.Result) bool { return row.Get("outcome").String() == "" })
	})
	return rows
}

// rows are what the command line shows of the journal.
func (p *pointsman) rows(t *testing.T, args ...string) []gjson.Result {
	t.Helper()
	out, code := p.cli(t, append([]string{"journal", "--json"}, args...)...)
	expect(t, "the exit code of pointsman journal", code, 0)
	var rows []gjson.Result
	for line := range strings.Lines(out) {
		rows = append(rows, gjson.Parse(line))
	}
	return rows
}

// pending waits until n requests for approval wait, and returns them.
func (p *pointsman) pending(t *testing.T, n int) []approvals.Request {
	t.Helper()
	var list []approvals.Request
	await(t, fmt.Sprintf("%d requests for approval", n), func() bool {
		var err error
		if list, err = p.control.Pending(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(list) == n
	})
	return list
}

// await polls until ok; a test that waits in vain fails.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s in vain", patience, what)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("waiting for %s: %v", what, context.Cause(t.Context()))
		}
	}
}

// freeAddress returns an address nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// npm returns a file of a package that `make npm` installs.
func npm(t *testing.T, file string) string {
	t.Helper()
	return installed(t, filepath.Join("..", "test", "npm", "node_modules", file), "make npm")
}

// installed returns the path of what a make target installs, or skips the test.
func installed(t *testing.T, path, target string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node is not installed")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed; `%s` installs it", filepath.Base(path), target)
	}
	return path
}

// lockedBuffer takes what a process says while a test reads it.
type lockedBuffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
