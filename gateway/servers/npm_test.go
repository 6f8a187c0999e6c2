package servers_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// npmServer returns the start file of a real server that test/npm installs.
func npmServer(t testing.TB, file string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	path, err := filepath.Abs(filepath.Join("..", "..", "test", "npm", "node_modules", file))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skip("the real servers are not installed: run `npm ci` in test/npm")
	}
	return path
}

func everything(t testing.TB) string {
	return npmServer(t, "@modelcontextprotocol/server-everything/dist/index.js")
}

func TestRealFilesystemServer(t *testing.T) {
	dir := t.TempDir()
	script := npmServer(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
	entry := config.MCPServer{Command: "node", Args: []string{script, dir}}
	h := start(t, servers.Options{}, map[string]config.MCPServer{"fs": entry})
	path := filepath.Join(dir, "hello.txt")
	if res, err := h.call("fs", "write_file", `{"path":`+strconv.Quote(path)+`,"content":"from a real server"}`); err != nil || res.IsError {
		t.Fatalf("write_file: %v, %v", res, err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "from a real server" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if !strings.Contains(h.text("fs", "read_text_file", `{"path":`+strconv.Quote(path)+`}`), "from a real server") {
		t.Error("it does not read what it wrote")
	}
	if tools := h.Tools(); len(tools) < 10 || !strings.Contains(string(tools[0].Raw), `"inputSchema"`) {
		t.Errorf("%d tools", len(tools))
	}
}

// TestRealServerAsksForRoots: this server allows the directories that the
// client's roots name.
func TestRealServerAsksForRoots(t *testing.T) {
	dir := t.TempDir()
	script := npmServer(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
	entry := config.MCPServer{Command: "node", Args: []string{script, os.TempDir() + "/.."}}
	h := start(t, servers.Options{Roots: []string{dir}}, map[string]config.MCPServer{"fs": entry})
	h.awaitState("fs", servers.Connected)
	deadline := time.Now().Add(10 * time.Second)
	for got := ""; !strings.Contains(got, dir); got = h.text("fs", "list_allowed_directories", `{}`) {
		if time.Now().After(deadline) {
			t.Fatalf("it allows %s, want %s", got, dir)
		}
	}
}

func TestRealMemoryServer(t *testing.T) {
	script := npmServer(t, "@modelcontextprotocol/server-memory/dist/index.js")
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	entry := config.MCPServer{Command: "node", Args: []string{script}, Env: map[string]config.Secret{"MEMORY_FILE_PATH": config.Secret(file)}}
	h := start(t, servers.Options{}, map[string]config.MCPServer{"memory": entry})
	h.text("memory", "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["likes engines"]}]}`)
	if got := h.text("memory", "search_nodes", `{"query":"engines"}`); !strings.Contains(got, "Ada") {
		t.Errorf("search_nodes: %s", got)
	}
}

// TestRealServerPrintsJunk: this one greets on stdout before it speaks JSON.
func TestRealServerPrintsJunk(t *testing.T) {
	script := npmServer(t, "mcp-server-code-runner/dist/cli.js")
	h := start(t, servers.Options{}, map[string]config.MCPServer{"runner": {Command: "node", Args: []string{script}}})
	if got := h.text("runner", "run-code", `{"code":"console.log(6*7)","languageId":"javascript"}`); !strings.Contains(got, "42") {
		t.Errorf("run-code: %s", got)
	}
	if h.status("runner").Junk == 0 {
		t.Error("no junk was counted")
	}
}

func TestRealEverythingServer(t *testing.T) {
	tests := []struct {
		name  string
		entry func(t *testing.T) config.MCPServer
	}{
		{"stdio", func(t *testing.T) config.MCPServer {
			return config.MCPServer{Command: "node", Args: []string{everything(t), "stdio"}}
		}},
		{"sse", func(t *testing.T) config.MCPServer {
			return config.MCPServer{Type: "sse", URL: serveEverything(t, "sse") + "/sse"}
		}},
		{"http", func(t *testing.T) config.MCPServer {
			return config.MCPServer{Type: "http", URL: serveEverything(t, "streamableHttp") + "/mcp"}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			entry := test.entry(t)
			h := start(t, servers.Options{}, map[string]config.MCPServer{"e": entry})
			defer h.stop()
			if got := h.text("e", "echo", `{"message":"hello"}`); !strings.Contains(got, "hello") {
				t.Errorf("echo: %s", got)
			}
			if !slices.Contains(h.toolNames(), "echo") {
				t.Errorf("tools: %q", h.toolNames())
			}
			s := h.status("e")
			t.Logf("protocol %s, %d tools, server %s", s.Live.Protocol, s.Tools, s.Live.ServerInfo)
		})
	}
}

// TestRealServerForgetsTheSession: started anew, this one answers the old session
// with 400.
func TestRealServerForgetsTheSession(t *testing.T) {
	port := freePort(t)
	url, stop := serveEverythingOn(t, "streamableHttp", port)
	h := start(t, servers.Options{}, map[string]config.MCPServer{"e": {URL: url + "/mcp"}})
	defer h.stop()
	before := h.awaitState("e", servers.Connected).Live.ConnectionID
	stop()
	serveEverythingOn(t, "streamableHttp", port)
	if got := h.text("e", "echo", `{"message":"hello"}`); !strings.Contains(got, "hello") {
		t.Errorf("echo: %s", got)
	}
	if h.status("e").Live.ConnectionID == before {
		t.Error("the session was not made anew")
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

// serveEverything starts the server on a free port and waits until it answers.
func serveEverything(t *testing.T, transport string) string {
	t.Helper()
	url, _ := serveEverythingOn(t, transport, freePort(t))
	return url
}

// serveEverythingOn is serveEverything for a port that is known. stop kills it.
func serveEverythingOn(t *testing.T, transport string, port int) (url string, stop func()) {
	t.Helper()
	script := everything(t)
	cmd := exec.Command("node", script, transport)
	cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(stop)
	url = "http://127.0.0.1:" + strconv.Itoa(port)
	deadline := time.Now().Add(20 * time.Second)
	for {
		resp, err := http.Get(url + "/nothing")
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			http.DefaultClient.CloseIdleConnections()
			return url, stop
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not answer: %v", err)
		}
		time.Sleep(20 * time.Millisecond) // nothing announces it
	}
}
