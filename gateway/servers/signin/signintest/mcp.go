package signintest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type said struct {
	Text string `json:"text" jsonschema:"what to say"`
}

// MCP is an MCP server with the one tool echo, for New.
func MCP() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Repeat a text.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in said) (*mcp.CallToolResult, said, error) {
			return nil, in, nil
		})
	get := func(*http.Request) *mcp.Server { return s }
	return mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
}

// Visit opens an address as a browser does, and returns what it shows.
func Visit(t testing.TB, address string) string {
	t.Helper()
	browser := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, text)
}

// Hosted opens an address as a browser does that is sent on to a page of
// somebody else's, and returns the address of that page.
func Hosted(t testing.TB, address string) string {
	t.Helper()
	browser := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.Header.Get("Location") == "" {
		t.Fatalf("%s does not lead on: %s, %v", address, resp.Status, err)
	}
	return resp.Header.Get("Location")
}
