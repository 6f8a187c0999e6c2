package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway"
	"pointsman/gateway/loop"
	"pointsman/gateway/servers"
)

// credential is one that nobody has told us of.
var credential = "ghp_" + strings.Repeat("a1B2", 9)

// indiscreet is a server that shows a credential wherever it can.
func indiscreet(ctx context.Context) (mcp.Transport, error) {
	ours, theirs := mcp.NewInMemoryTransports()
	server := mcp.NewServer(&mcp.Implementation{Name: "indiscreet", Version: "1 " + credential}, nil)
	schema := json.RawMessage(`{"type":"object"}`)
	server.AddTool(&mcp.Tool{Name: "read_fault", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("signing in with " + credential)
	})
	server.AddTool(&mcp.Tool{Name: "read_note", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "note " + credential}}}, nil
	})
	_, err := server.Connect(context.WithoutCancel(ctx), ours, nil)
	return theirs, err
}

func TestNoCredentialLeavesInErrorsAndStatuses(t *testing.T) {
	d := newDesk(t, "tools: {safe: [read_fault, read_note]}\n", func(o *gateway.Options) {
		o.Builtin["indiscreet"] = indiscreet
		o.Builtin["broken"] = func(context.Context) (mcp.Transport, error) {
			return nil, errors.New("no database at postgres://me:hunter2secret@db.example/x")
		}
	})
	d.await(t, "the servers", func() bool {
		states := map[string]servers.State{}
		for _, s := range d.Servers() {
			states[s.Name] = s.Live.Status
		}
		return states["indiscreet"] == servers.Connected && states["broken"] == servers.Failed
	})
	for name, view := range map[string]any{"status": d.Status(t.Context()), "servers": d.Servers()} {
		text, err := json.Marshal(view)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), credential) || strings.Contains(string(text), "hunter2secret") {
			t.Errorf("%s: %s", name, text)
		}
		if strings.Count(string(text), "[redacted]") < 2 {
			t.Errorf("%s does not tell that something is left out: %s", name, text)
		}
	}

	fault := d.invoke(t, "indiscreet__read_fault")
	if shown := fault.Reason + fault.Result; strings.Contains(shown, credential) || !strings.Contains(fault.Reason, "signing in with [redacted]") {
		t.Errorf("a failed call: %+v", fault)
	}
	if note := d.invoke(t, "indiscreet__read_note"); note.Result != "note "+credential {
		t.Errorf("a result was altered: %+v", note)
	}
}

// invoke has a model call a tool without arguments, and returns what became of it.
func (d *desk) invoke(t *testing.T, tool string) loop.Invocation {
	t.Helper()
	provider := scripted(t, tool, "{}")
	if err := os.WriteFile(d.configPath, []byte("default_model: fake/m\ntools: {safe: [read_fault, read_note]}\nproviders: {fake: {base_url: \""+provider+"\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.await(t, "the changed configuration", func() bool { return d.Config().Providers["fake"].BaseURL == provider })
	result, err := d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Invocations) != 1 {
		t.Fatalf("%+v", result)
	}
	return result.Invocations[0]
}
