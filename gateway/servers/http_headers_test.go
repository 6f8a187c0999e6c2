package servers_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// TestToolsThatNameHeadersWrongly: over streamable HTTP they must not be called.
func TestToolsThatNameHeadersWrongly(t *testing.T) {
	tests := map[string]struct{ properties, fault string }{
		"sound":     {`{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"object","properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}`, ""},
		"none":      {`{"a":{"type":"object"}}`, ""},
		"empty":     {`{"a":{"type":"string","x-mcp-header":""}}`, `argument "a" is no name of a header: ""`},
		"no text":   {`{"a":{"type":"string","x-mcp-header":1}}`, "is no name of a header: 1"},
		"space":     {`{"a":{"type":"string","x-mcp-header":"A B"}}`, "is no name of a header"},
		"not ASCII": {`{"a":{"type":"string","x-mcp-header":"Région"}}`, "is no name of a header"},
		"number":    {`{"a":{"type":"number","x-mcp-header":"A"}}`, "is not on a string"},
		"deep":      {`{"b":{"type":"object","properties":{"c":{"type":"array","x-mcp-header":"C"}}}}`, `argument "c" is not on a string`},
		"twice":     {`{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"object","properties":{"c":{"type":"string","x-mcp-header":"a"}}}}`, "is another argument's, too"},
	}
	list := &mcp.ListToolsResult{}
	for name, test := range tests {
		list.Tools = append(list.Tools, &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object","properties":` + test.properties + `}`)})
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "any", InputSchema: json.RawMessage(`{"type":"object"}`)}, nothing)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler { // AddTool refuses such tools
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch method {
			case "tools/list":
				return list, nil
			case "tools/call":
				return nothing(ctx, nil)
			}
			return next(ctx, method, req)
		}
	})
	get := func(*http.Request) *mcp.Server { return s }
	stateless := httptest.NewServer(mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(stateless.Close)
	before := httptest.NewServer(legacyOnly(mcp.NewStreamableHTTPHandler(get, nil)))
	t.Cleanup(before.Close)
	h := start(t, servers.Options{}, map[string]config.MCPServer{"now": {URL: stateless.URL}, "before": {URL: before.URL}})
	defer h.stop()
	h.awaitState("now", servers.Connected)
	h.awaitState("before", servers.Connected)

	for _, tool := range h.Tools() {
		want := tests[tool.Name].fault
		if tool.Server == "before" {
			want = "" // that protocol knows no such headers
		}
		if (tool.Fault == "") != (want == "") || !strings.Contains(tool.Fault, want) {
			t.Errorf("%s, %s: the fault is %q, want %q", tool.Server, tool.Name, tool.Fault, want)
		}
		_, err := h.call(tool.Server, tool.Name, `{}`)
		if (err == nil) != (want == "") {
			t.Errorf("%s, %s: called: %v", tool.Server, tool.Name, err)
		}
	}
	if got, want := len(h.Tools()), 2*len(tests); got != want {
		t.Errorf("%d tools are listed, want %d", got, want)
	}
}
