// Package server has the official MCP conformance runner judge how we serve MCP
// clients: the Go SDK's everything-server stands behind a gateway, whose /mcp is
// judged as if it were that server itself.
package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
	"pointsman/test/conformance"
)

// TestConformance has the runner judge the gateway in both eras of the protocol.
// The server behind keeps sessions in the one, and none in the other.
func TestConformance(t *testing.T) {
	program := build(t)
	for name, suite := range map[string]struct {
		runner    string
		args      []string
		stateless bool
	}{
		"active":     {conformance.Stable, nil, false},
		"2025-11-25": {conformance.Next, []string{"--requirements", "2025-11-25"}, false},
		"2026-07-28": {conformance.Next, []string{"--requirements", "2026-07-28"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			runner, err := conformance.Find(ctx, "..", suite.runner)
			if err != nil {
				t.Skip(err)
			}
			url := serve(t, program, suite.stateless)
			report, err := runner.Run(ctx, "server", append(suite.args, "--url", url, "--output-dir", t.TempDir())...)
			if err != nil {
				t.Fatalf("%v\n%s", err, report)
			}
			t.Log(report)
		})
	}
}

// build builds the everything-server.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "everything-server")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the everything-server: %v: %s", err, out)
	}
	return path
}

// serve starts the everything-server and a gateway before it, and returns where
// that serves MCP.
func serve(t *testing.T, program string, stateless bool) string {
	t.Helper()
	behind := free(t)
	cmd := exec.CommandContext(t.Context(), program, "-http", behind, fmt.Sprintf("-stateless=%t", stateless))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })

	home := t.TempDir()
	path := filepath.Join(home, "config.yaml")
	text := fmt.Sprintf(`gateway: {auth: none}
approvals: {require: false}
mcp: {tools: servers}
mcpServers:
  everything: {type: http, url: "http://%s", prefix: ""}
`, behind)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(t.Context(), gateway.Options{
		Config: store, Home: config.Home{State: home, Runtime: home}, Keychain: secrets.Memory(),
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Start()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(serving, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	awaitConnected(t, g)
	return "http://" + ln.Addr().String() + "/mcp"
}

// awaitConnected waits until the server behind is reached, which was started only
// now.
func awaitConnected(t *testing.T, g *gateway.Gateway) {
	t.Helper()
	changed, unsubscribe := g.Subscribe()
	defer unsubscribe()
	patience := time.After(30 * time.Second)
	for g.Servers()[0].Live.Status != servers.Connected {
		select {
		case <-changed:
		case <-patience:
			t.Fatalf("the everything-server is not reached: %+v", g.Servers()[0].Live)
		}
	}
}

// free returns an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
