package servers_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// TestCallMeta: what a caller has in _meta reaches the server, in both eras; the
// progress token, and who we are, stay ours.
func TestCallMeta(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "meta", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		meta, err := json.Marshal(req.Params.Meta)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: `{"params":{"_meta":` + string(meta) + `}}`}}}, err
	})
	web := func(stateless bool) config.MCPServer {
		web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless}))
		t.Cleanup(web.Close)
		t.Cleanup(web.CloseClientConnections)
		return config.MCPServer{URL: web.URL}
	}
	given := json.RawMessage(`{"traceparent":"00-1","progressToken":"theirs","vendor":{"a":[1]},"io.modelcontextprotocol/clientInfo":{"name":"another"}}`)
	for _, test := range []struct {
		name, tool string
		entry      config.MCPServer
		who        string // the program that the server is told of in _meta; "" when it is given what the caller has
	}{
		{"initialize", "line", fakeServer(t, "normal"), "another"},
		{"stateless", "meta", fakeServer(t, "sdk"), "pointsman"},
		{"over HTTP, with sessions", "meta", web(false), "another"},
		{"over HTTP, stateless", "meta", web(true), "pointsman"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := start(t, servers.Options{}, map[string]config.MCPServer{"s": test.entry})
			result, err := h.Call(t.Context(), servers.Call{Server: "s", Tool: test.tool, Meta: given})
			if err != nil {
				t.Fatal(err)
			}
			text := gjson.GetBytes(result.Raw, "content.0.text").Str
			if test.tool == "meta" && !strings.HasPrefix(text, `{"params"`) {
				text = `{"params":{"_meta":` + text + `}}`
			}
			meta := gjson.Get(text, "params._meta")
			if meta.Get("traceparent").Str != "00-1" || meta.Get("vendor").Raw != `{"a":[1]}` {
				t.Errorf("the server saw _meta %s", meta.Raw)
			}
			if token := meta.Get("progressToken"); !token.Exists() || token.Str == "theirs" {
				t.Errorf("the progress token is %s", token.Raw)
			}
			if got := meta.Get(`io\.modelcontextprotocol/clientInfo.name`).Str; got != test.who {
				t.Errorf("the client is %q in %s", got, meta.Raw)
			}
		})
	}
}
