package gateway_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/mcpapi"
	"pointsman/gateway/models/stage"
	"pointsman/gateway/secrets"
)

// TestRoutingRulesAtEveryDoor plays the table of routing rules over HTTP, as an MCP
// client, and by the control socket's route, which the command line takes. It runs in
// a bubble, whose clock jumps. With the race detector each rule is played at one of the
// doors, in turn.
func TestRoutingRulesAtEveryDoor(t *testing.T) {
	doors := map[string]func(*testing.T, *gateway.Gateway) (ask func(model, prompt string) string, leave func()){
		"HTTP": func(_ *testing.T, g *gateway.Gateway) (func(string, string) string, func()) {
			return completions(g.Handler()), func() {}
		},
		"command line": func(_ *testing.T, g *gateway.Gateway) (func(string, string) string, func()) {
			return completions(g.TrustedHandler("chat")), func() {}
		},
		"MCP": chatTool,
	}
	names, scenes := slices.Sorted(maps.Keys(doors)), stage.Scenes()
	for i, name := range slices.Sorted(maps.Keys(scenes)) {
		scene := scenes[name]
		for j, door := range names {
			if raceDetector && i%len(names) != j {
				continue
			}
			enter := doors[door]
			t.Run(name+"/"+door, func(t *testing.T) {
				store := configured(t, scene.YAML()+"gateway: {api_key: the-key-0123456789}\n")
				synctest.Test(t, func(t *testing.T) {
					network := stage.New(scene.Script)
					g, err := gateway.New(t.Context(), gateway.Options{
						Config: store, Home: config.Home{State: filepath.Dir(store.Path())}, Keychain: secrets.Memory(), NoMCP: true, HTTPClient: &http.Client{Transport: network},
					})
					if err != nil {
						t.Fatal(err)
					}
					ask, leave := enter(t, g)
					saw := scene.Play(ask)
					leave()
					if err := g.Close(); err != nil {
						t.Error(err)
					}
					if diff := cmp.Diff(scene.Asked, network.Asked()); diff != "" {
						t.Errorf("who was asked, and when: %s", diff)
					}
					if diff := cmp.Diff(seenAt(door, scene.Saw), saw); diff != "" {
						t.Errorf("what the callers saw: %s", diff)
					}
				})
			})
		}
	}
}

// configured is a store of a file with that text.
func configured(t *testing.T, text string) *config.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// seenAt is what a table's row looks like at a door: of a failure an MCP client sees
// a text alone.
func seenAt(door string, saw []string) []string {
	var seen []string
	for _, s := range saw {
		if door == "MCP" && s != "ok" && s != "filtered" {
			s = "failed"
		}
		seen = append(seen, s)
	}
	return seen
}

// completions asks OpenAI's route of a handler.
func completions(handler http.Handler) func(model, prompt string) string {
	return func(model, prompt string) string {
		body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]}`, model, prompt)
		r, w := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/chat/completions", strings.NewReader(body)), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer the-key-0123456789")
		handler.ServeHTTP(w, r)
		answer := gjson.Parse(w.Body.String())
		switch {
		case w.Code == http.StatusOK && answer.Get("choices.0.finish_reason").String() == "content_filter":
			return "filtered"
		case w.Code == http.StatusOK:
			return "ok"
		}
		wait, _ := strconv.Atoi(w.Header().Get("Retry-After")) // absent: none
		return stage.Failure(ourCode(answer.Get("error.code").String()), w.Code, time.Duration(wait)*time.Second)
	}
}

// ourCode is our word for an error's code, where OpenAI's or a provider's own goes
// to the client.
func ourCode(code string) string {
	switch code {
	case "":
		return "invalid_request"
	case "context_length_exceeded":
		return "context_exceeded"
	case "content_policy_violation":
		return "content_filtered"
	default:
		return code
	}
}

// chatTool asks by the tool gpt6_chat of the MCP door.
func chatTool(t *testing.T, g *gateway.Gateway) (ask func(model, prompt string) string, leave func()) {
	ours, theirs := net.Pipe()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = g.ServeMCP(context.Background(), theirs, mcpapi.Client{}) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: ours, Writer: ours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask = func(model, prompt string) string {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "gpt6_chat", Arguments: map[string]any{"model": model, "prompt": prompt}})
		switch {
		case err != nil:
			return err.Error()
		case result.IsError:
			return "failed"
		}
		if content, _ := result.StructuredContent.(map[string]any)["content"].(string); content == "" {
			return "filtered"
		}
		return "ok"
	}
	return ask, func() { _ = session.Close(); <-ended }
}
