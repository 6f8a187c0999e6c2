package servers_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// TestRealServerAsks: server-everything asks for a form, for a sample and for the
// roots, and learns that these have changed.
func TestRealServerAsks(t *testing.T) {
	for name, entry := range map[string]func(t *testing.T) config.MCPServer{
		"stdio": func(t *testing.T) config.MCPServer {
			return config.MCPServer{Command: "node", Args: []string{everything(t), "stdio"}}
		},
		"http": func(t *testing.T) config.MCPServer {
			return config.MCPServer{Type: "http", URL: serveEverything(t, "streamableHttp") + "/mcp"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := &answering{answer: func(_ context.Context, _ servers.Origin, params json.RawMessage) (json.RawMessage, error) {
				if schema := gjson.GetBytes(params, "requestedSchema.properties"); schema.Exists() {
					first := ""
					schema.ForEach(func(key, _ gjson.Result) bool { first = key.Str; return false })
					return json.Marshal(map[string]any{"action": "accept", "content": map[string]any{"name": "first field: " + first}})
				}
				text := "sampled: " + gjson.GetBytes(params, "messages.0.content.text").Str
				return json.Marshal(map[string]any{"role": "assistant", "model": "m", "stopReason": "endTurn", "content": map[string]any{"type": "text", "text": text}})
			}}
			h := start(t, servers.Options{Client: client, Roots: []string{"/before"}}, map[string]config.MCPServer{"e": entry(t)})
			defer h.stop()
			h.awaitState("e", servers.Connected)
			if got := h.text("e", "trigger-elicitation-request", `{}`); !strings.Contains(got, "first field: name") {
				t.Errorf("elicitation: %s", got)
			}
			if got := h.text("e", "trigger-sampling-request", `{"prompt":"a question","maxTokens":5}`); !strings.Contains(got, "a question") {
				t.Errorf("sampling: %s", got)
			}
			before := h.status("e").Live.ConnectionID
			h.SetRoots([]string{"/after"})
			h.await("the server has the new roots", func() bool {
				got := h.text("e", "get-roots-list", `{}`)
				select {
				case h.changed <- struct{}{}: // look again
				default:
				}
				return strings.Contains(got, "file:///after") && !strings.Contains(got, "file:///before")
			})
			if h.status("e").Live.ConnectionID != before {
				t.Error("the server was connected anew")
			}
		})
	}
}
