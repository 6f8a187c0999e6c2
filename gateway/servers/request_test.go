package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

func (h *harness) request(server, method, params string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	raw, err := h.Request(ctx, servers.Request{Server: server, Method: method, Params: json.RawMessage(params)})
	return string(raw), err
}

func TestRequestPassesWhatTheServerSent(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "library"))
	for method, want := range map[string]string{"prompts/list": promptList, "resources/read": aResource} {
		if got, err := h.request("fake", method, ""); err != nil || got != want {
			t.Errorf("%s:\ngot  %s %v\nwant %s", method, got, err, want)
		}
	}
}

// TestRequestPassesWhatTheCallerSent: but for the progress token, which is of
// another connection.
func TestRequestPassesWhatTheCallerSent(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "library"))
	tests := map[string]struct{ params, want string }{
		"nothing":          {``, `"params":{}`},
		"absent arguments": {`{"name":"greet"}`, `"params":{"name":"greet"}`},
		"empty arguments":  {`{ "arguments":{}, "name":"greet"}`, `"params":{"arguments":{},"name":"greet"}`},
		"unknown members":  {`{"name":"greet","future":{"b":1e2,"a":null}}`, `"params":{"name":"greet","future":{"b":1e2,"a":null}}`},
		"meta":             {`{"_meta":{"progressToken":7,"x":1},"name":"greet"}`, `"params":{"name":"greet","_meta":{"x":1}}`},
		"a token alone":    {`{"_meta":{"progressToken":7},"name":"greet"}`, `"params":{"name":"greet"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := h.request("fake", "prompts/get", test.params)
			var sent struct {
				Messages []struct{ Content struct{ Text string } }
			}
			if err == nil {
				err = json.Unmarshal([]byte(got), &sent)
			}
			if err != nil || !strings.Contains(sent.Messages[0].Content.Text, test.want) {
				t.Errorf("the server got %s %v, want %s in it", got, err, test.want)
			}
		})
	}
}

func TestRequestOfWhatAServerLacks(t *testing.T) {
	h := start(t, servers.Options{}, map[string]config.MCPServer{"plain": fakeServer(t, "normal"), "boasting": fakeServer(t, "boasting")})
	tests := map[string]string{
		"prompts/list": "prompts", "prompts/get": "prompts", "resources/list": "resources", "resources/read": "resources",
		"resources/templates/list": "resource templates", "resources/subscribe": "resource subscriptions", "completion/complete": "completions",
	}
	for _, server := range []string{"plain", "boasting"} {
		for method, want := range tests {
			_, err := h.request(server, method, "")
			var lacking *servers.LackingError
			if !errors.As(err, &lacking) || lacking.What != want {
				t.Errorf("%s of %s: got %v, want a LackingError of %s", method, server, err, want)
			}
		}
	}
}

func TestRequestIsRefused(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "library"))
	tests := map[string]struct{ method, params, want string }{
		"a tool call":    {"tools/call", `{"name":"echo"}`, "none of"},
		"a notification": {"notifications/cancelled", `{}`, "none of"},
		"an array":       {"prompts/list", `[]`, "not a JSON object"},
		"broken":         {"prompts/list", `{"cursor":`, "not a JSON object"},
	}
	for name, test := range tests {
		if _, err := h.request("fake", test.method, test.params); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, test.want)
		}
	}
	var unavailable *servers.UnavailableError
	if _, err := h.request("nobody", "prompts/list", ""); !errors.As(err, &unavailable) {
		t.Errorf("of no server: %v", err)
	}
}

// noticed takes what servers say has changed.
type noticed chan servers.Notice

func (n noticed) add(notice servers.Notice) {
	select {
	case n <- notice:
	default: // nobody waits for so many
	}
}

// await waits for a notice.
func (n noticed) await(t *testing.T, want servers.Notice) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case got := <-n:
			if got == want {
				return
			}
		case <-deadline:
			t.Fatalf("no notice %+v", want)
		}
	}
}

func TestNotices(t *testing.T) {
	n := make(noticed, 16)
	h := start(t, servers.Options{OnNotice: n.add}, oneFake(t, "library"))
	if _, err := h.request("fake", "resources/subscribe", `{"uri":"mem://a"}`); err != nil {
		t.Fatal(err)
	}
	n.await(t, servers.Notice{Server: "fake", Method: servers.ResourceUpdated, URI: "mem://a"})
	n.await(t, servers.Notice{Server: "fake", Method: servers.PromptsChanged})
}

// libraryServer is a server of the SDK's with a prompt and a resource.
func libraryServer(t *testing.T) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "for " + r.Params.Arguments["who"]}, nil
	})
	s.AddResource(&mcp.Resource{URI: "mem://a", Name: "a"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "mem://a", Text: "hello"}}}, nil
	})
	return s
}

// TestRequestOverHTTP: with sessions and without, which is another protocol.
func TestRequestOverHTTP(t *testing.T) {
	for name, stateless := range map[string]bool{"sessions": false, "stateless": true} {
		t.Run(name, func(t *testing.T) {
			s := libraryServer(t)
			web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless}))
			t.Cleanup(web.Close)
			t.Cleanup(web.CloseClientConnections)
			n := make(noticed, 16)
			h := start(t, servers.Options{OnNotice: n.add}, map[string]config.MCPServer{"web": {URL: web.URL}})
			got, err := h.request("web", "prompts/get", `{"name":"greet","arguments":{"who":"Ada"},"_meta":{"x":1}}`)
			if err != nil || !strings.Contains(got, `"description":"for Ada"`) {
				t.Errorf("the prompt: %s %v", got, err)
			}
			if got, err := h.request("web", "resources/read", `{"uri":"mem://a"}`); err != nil || !strings.Contains(got, `"text":"hello"`) {
				t.Errorf("the resource: %s %v", got, err)
			}
			if got, err := h.request("web", "resources/subscribe", `{"uri":"mem://a"}`); err != nil || got != "{}" {
				t.Fatalf("subscribing: %s %v", got, err)
			}
			if err := s.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "mem://a"}); err != nil {
				t.Fatal(err)
			}
			n.await(t, servers.Notice{Server: "web", Method: servers.ResourceUpdated, URI: "mem://a"})
			if _, err := h.request("web", "resources/unsubscribe", `{"uri":"mem://a"}`); err != nil {
				t.Errorf("unsubscribing: %v", err)
			}
		})
	}
}
