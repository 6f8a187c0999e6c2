package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// mcpProgram is the built program's `mcp`, and its client.
type mcpProgram struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	stdout io.Closer
	out    *bufio.Reader // of stdout
	first  time.Duration // from the start of the process to its first answer
}

// mcp starts the built program's mcp and initializes it.
func (r *rig) mcp(args ...string) *mcpProgram {
	r.t.Helper()
	cmd := r.program(append([]string{"mcp"}, args...)...)
	cmd.Dir = r.home
	in, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	m := &mcpProgram{t: r.t, cmd: cmd, in: in, stdout: out, out: bufio.NewReader(out)}
	r.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	m.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"probe","version":"7"}}}`)
	m.first = time.Since(began)
	m.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

func (m *mcpProgram) send(line string) {
	m.t.Helper()
	if _, err := io.WriteString(m.in, line+"\n"); err != nil {
		m.t.Fatal(err)
	}
}

// ask sends a request and returns its answer. Every line must be of the protocol.
func (m *mcpProgram) ask(line string) gjson.Result {
	m.t.Helper()
	m.send(line)
	return m.answer(gjson.Get(line, "id").Raw)
}

func (m *mcpProgram) answer(id string) gjson.Result {
	m.t.Helper()
	for {
		line, err := m.out.ReadString('\n')
		if err != nil {
			m.t.Fatalf("reading an answer: %v", err)
		}
		if gjson.Get(line, "jsonrpc").Str != "2.0" {
			m.t.Fatalf("the standard output has %q", line)
		}
		if gjson.Get(line, "id").Raw == id && !gjson.Get(line, "method").Exists() {
			return gjson.Parse(line)
		}
	}
}

func (m *mcpProgram) call(id int, name, arguments string) gjson.Result {
	m.t.Helper()
	return m.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, arguments))
}

// leave closes the client's end, and expects the program to end well.
func (m *mcpProgram) leave() {
	m.t.Helper()
	_ = m.in.Close()
	_, _ = io.Copy(io.Discard, m.out)
	if err := m.cmd.Wait(); err != nil {
		m.t.Errorf("mcp ended with %v", err)
	}
}

// TestMCPAlone has no resident to work through.
func TestMCPAlone(t *testing.T) {
	r := newRig(t, scratchConfig)
	if err := os.WriteFile(filepath.Join(r.home, ".env"), []byte("LLM_MODEL_ID=from-the-repository\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := r.mcp()
	t.Logf("the first answer came after %s", m.first)
	if got := m.ask(`{"jsonrpc":"2.0","id":1,"method":"no/such"}`); got.Get("error.code").Int() != -32601 {
		t.Errorf("an unknown method is answered with %s", got.Raw)
	}
	names := m.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`).Get("result.tools.#.name").Raw
	for _, want := range []string{"gpt6_chat", "copilot_install", "scratch__read_file"} {
		if !strings.Contains(names, want) {
			t.Errorf("%s is not among %s", want, names)
		}
	}
	if got := m.call(3, "scratch__list_files", "{}"); got.Get("result.isError").Bool() || !got.Get("result").Exists() {
		t.Errorf("a read is answered with %s", got.Raw)
	}
	if got := m.call(4, "scratch__write_file", `{"path":"a","content":"b"}`); !strings.Contains(got.Get("result.content.0.text").Str, "nobody to ask") {
		t.Errorf("a write is answered with %s", got.Raw)
	}
	if got := m.call(5, "gpt6_status", "{}"); strings.Contains(got.Raw, "from-the-repository") {
		t.Error("the working directory's .env is read")
	}
	m.leave()
	calls := strings.Count(r.must("journal", "--json").out, `"client":"probe/7"`)
	if calls != 3 {
		t.Errorf("the record has %d calls", calls)
	}
}

// TestMCPInside does not start the servers among which it is.
func TestMCPInside(t *testing.T) {
	r := newRig(t, scratchConfig)
	r.env["POINTSMAN_INSIDE"] = "1"
	got := r.run(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", "mcp")
	if !strings.Contains(got.out, "remove it from mcpServers") {
		t.Errorf("it ended with %+v", got)
	}
}

// TestMCPOutlivesTheResident calls through a resident, which is killed during a
// call, and goes on without it.
func TestMCPOutlivesTheResident(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes are found through their signals")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(t.TempDir(), "pid")
	r := newRig(t, scratchConfig+fmt.Sprintf("  stubborn: {command: %q, env: {CLI_TEST_SERVER: %q}, trustAnnotations: true}\n", self, note))
	resident := r.serveProgram(&syncBuffer{})
	eventually(t, "the server's tool is there", func() bool { return strings.Contains(r.must("tools", "--json").out, "stubborn__get_report") })
	r.env["COPILOT_AGENT_SESSION_ID"] = "copilot-session"
	m := r.mcp()
	t.Logf("the first answer came after %s", m.first)
	if got := m.call(1, "scratch__list_files", "{}"); got.Get("result.isError").Bool() {
		t.Errorf("a call is answered with %s", got.Raw)
	}
	if said := r.must("journal", "--json").out; !strings.Contains(said, `"session":"copilot-session"`) {
		t.Errorf("the record does not name the session: %s", said)
	}
	m.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stubborn__get_report","arguments":{}}}`)
	pid := 0
	eventually(t, "the call is under way", func() bool {
		text, err := os.ReadFile(note)
		if err == nil {
			pid, err = strconv.Atoi(string(text))
		}
		return err == nil && pid > 0
	})
	if err := resident.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = resident.Wait()
	if got := m.answer("2"); !strings.Contains(got.Get("error.message").Str, "not known") {
		t.Errorf("the call in flight is answered with %s", got.Raw)
	}
	eventually(t, "the killed one's server has ended", func() bool { return gone(pid) })
	if err := os.Remove(note); err != nil {
		t.Fatal(err)
	}
	if got := m.call(3, "scratch__list_files", "{}"); got.Get("result.isError").Bool() || !got.Get("result").Exists() {
		t.Errorf("the next call is answered with %s", got.Raw)
	}
	if _, err := os.Stat(note); err == nil {
		t.Error("the call whose outcome is not known was made again")
	}
	m.leave()
}
