package setup_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"pointsman/ui/connect/setup"
)

// TestMain lets the test's own program stand for ours.
func TestMain(m *testing.M) {
	switch strings.Join(os.Args[1:], " ") {
	case "mcp":
		serveTools()
	case "hook copilot preToolUse":
		answerHook()
	case "connect key":
		fmt.Println(key)
		os.Exit(0)
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each process that is started, otherwise
	goleak.VerifyTestMain(m)
}

// serveTools is an MCP server of two tools, or one that fails.
func serveTools() {
	if os.Getenv("SETUP_TEST") == "broken" {
		fmt.Fprintln(os.Stderr, "no such home")
		os.Exit(1)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "ours", Version: "1"}, nil)
	for _, name := range []string{"a", "b"} {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, nil
		})
	}
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
	os.Exit(0)
}

// answerHook lets what only views pass.
func answerHook() {
	if os.Getenv("SETUP_TEST") == "denies" {
		fmt.Println(`{"permissionDecision":"deny","permissionDecisionReason":"not today"}`)
		os.Exit(0)
	}
	event, err := io.ReadAll(bufio.NewReader(os.Stdin))
	if err != nil || !strings.Contains(string(event), `"toolName":"view"`) {
		fmt.Println(`{"permissionDecision":"deny","permissionDecisionReason":"Pointsman is not running"}`)
		os.Exit(2)
	}
	fmt.Println(`{"permissionDecision":"allow"}`)
	os.Exit(0)
}

// endpoint answers like ours.
func endpoint(t *testing.T, reply string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v1/chat/completions":
			http.NotFound(w, r)
		case r.Header.Get("Authorization") != "Bearer "+key:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"error": {"message": "the key is wrong"}}`)
		default:
			_, _ = fmt.Fprint(w, reply)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

const answer = ": wait\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// verifying is a machine on which the test's program stands for ours.
func verifying(t *testing.T, env map[string]string) *bench {
	t.Helper()
	b := newBench(t, env)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b.Gateway.Program, b.Gateway.Endpoint = program, endpoint(t, answer)
	return b
}

func (b *bench) verify(client string, parts ...string) map[string]setup.Check {
	b.t.Helper()
	checks, err := b.Verify(b.t.Context(), client, parts...)
	if err != nil {
		b.t.Fatal(err)
	}
	byPart := map[string]setup.Check{}
	for _, c := range checks {
		byPart[c.Part] = c
	}
	return byPart
}

// TestVerify: what a program would do works, for every program.
func TestVerify(t *testing.T) {
	b := verifying(t, nil)
	for _, client := range setup.Clients() {
		if client != "copilot-sdk" {
			b.apply(client)
		}
	}
	b.apply("copilot", setup.Models)
	tests := []struct {
		client string
		parts  []string
		says   map[string]string
	}{
		{"copilot", nil, map[string]string{setup.MCP: "2 tools", setup.Hooks: "let a read pass", setup.Models: "gpt-6-sol answered"}},
		{"copilot", []string{setup.Environment}, map[string]string{setup.Environment: "not in force"}},
		{"copilot-sdk", nil, map[string]string{setup.Environment: "gpt-6-sol answered"}},
		{"vscode", nil, map[string]string{setup.MCP: "2 tools", setup.Models: "none seems to have been given"}},
		{"claude-code", nil, map[string]string{setup.MCP: "2 tools"}},
		{"codex", nil, map[string]string{setup.MCP: "2 tools"}},
	}
	for _, tt := range tests {
		t.Run(tt.client+"/"+strings.Join(tt.parts, ","), func(t *testing.T) {
			checks := b.verify(tt.client, tt.parts...)
			if len(checks) != len(tt.says) {
				t.Errorf("checks: %+v", checks)
			}
			for part, says := range tt.says {
				if c := checks[part]; !c.OK || !strings.Contains(c.Words, says) || strings.Contains(c.What+c.Words, key) {
					t.Errorf("%s: %+v, want %q", part, c, says)
				}
			}
		})
	}
}

// TestVerifyFails: what does not work is said, with what to do.
func TestVerifyFails(t *testing.T) {
	t.Run("not set up", func(t *testing.T) {
		if _, err := verifying(t, nil).Verify(t.Context(), "cursor"); !errors.Is(err, setup.ErrNotSet) {
			t.Errorf("verify: %v", err)
		}
	})
	t.Run("a server that ends", func(t *testing.T) {
		b := verifying(t, nil)
		b.Gateway.Env = map[string]string{"SETUP_TEST": "broken"}
		b.apply("copilot", setup.MCP)
		if c := b.verify("copilot", setup.MCP)[setup.MCP]; c.OK || !strings.Contains(c.Words, "no such home") || !strings.Contains(c.Fix, "apply copilot") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a program that is gone", func(t *testing.T) {
		b := verifying(t, nil)
		b.Gateway.Program = "/not/there"
		b.apply("copilot")
		for part, c := range b.verify("copilot") {
			if part != setup.Environment && (c.OK || !strings.Contains(c.Words, "/not/there")) {
				t.Errorf("%+v", c)
			}
		}
	})
	t.Run("a hook that denies a read", func(t *testing.T) {
		b := verifying(t, nil)
		t.Setenv("SETUP_TEST", "denies")
		b.apply("copilot", setup.Hooks)
		if c := b.verify("copilot", setup.Hooks)[setup.Hooks]; c.OK || !strings.Contains(c.Words, "not today") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("hooks that Copilot does not load", func(t *testing.T) {
		b := verifying(t, nil)
		path := b.apply("copilot", setup.Hooks).Changes[0].Path
		b.write(path, b.read(path)+"// mine\n")
		if c := b.verify("copilot", setup.Hooks)[setup.Hooks]; c.OK || !strings.Contains(c.Words, "plain JSON") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a wrong key", func(t *testing.T) {
		b := verifying(t, nil)
		path := b.apply("copilot", setup.Models).Changes[0].Path
		b.write(path, strings.ReplaceAll(b.read(path), key, "pm-old"))
		if c := b.verify("copilot", setup.Models)[setup.Models]; c.OK || !strings.Contains(c.Words, "the key is wrong") || !strings.Contains(c.Fix, "connect apply copilot") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		b := verifying(t, nil)
		b.Gateway.Endpoint = "http://127.0.0.1:1/v1"
		b.apply("vscode", setup.Models)
		if c := b.verify("vscode", setup.Models)[setup.Models]; c.OK || !strings.Contains(c.Fix, "start Pointsman") {
			t.Errorf("%+v", c)
		}
	})
	for name, reply := range map[string]string{"an error in the answer": "data: {\"error\":{\"message\":\"no provider\"}}\n\n", "half an answer": "data: {\"choices\":[]}\n\n"} {
		t.Run(name, func(t *testing.T) {
			b := verifying(t, nil)
			b.Gateway.Endpoint = endpoint(t, reply)
			c := b.verify("copilot-sdk")[setup.Environment]
			if c.OK || !slices.ContainsFunc([]string{"no provider", "before it was whole"}, func(s string) bool { return strings.Contains(c.Words, s) }) {
				t.Errorf("%+v", c)
			}
		})
	}
	t.Run("the variables of the user", func(t *testing.T) {
		env := map[string]string{"COPILOT_MODEL": "m", "COPILOT_PROVIDER_API_KEY_COMMAND": "echo complaint >&2; exit 3"}
		b := verifying(t, env)
		env["COPILOT_PROVIDER_BASE_URL"] = b.Gateway.Endpoint + "/"
		if c := b.verify("copilot", setup.Environment)[setup.Environment]; c.OK || !strings.Contains(c.Words, "complaint") {
			t.Errorf("%+v", c)
		}
		env["COPILOT_PROVIDER_API_KEY_COMMAND"], env["COPILOT_PROVIDER_API_KEY"] = "", key
		if c := b.verify("copilot", setup.Environment)[setup.Environment]; !c.OK || strings.Contains(c.Words, "not in force") {
			t.Errorf("%+v", c)
		}
	})
}
