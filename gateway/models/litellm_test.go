package models

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
	"pointsman/gateway/models/stage"
)

// TestALiteLLMFileRuns has requests answered by a file of LiteLLM's as it is. What
// speaks no OpenAI-compatible API is left out, and says so when it is asked for.
func TestALiteLLMFileRuns(t *testing.T) {
	store, err := config.Load(config.Options{Path: filepath.Join("..", "config", "testdata", "litellm-mixed.yaml"), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		network := stage.New(map[string]string{"vllm": "long 500 500 500", "eu": "ok 500"})
		router, err := NewRouter(store.Config(), Options{
			Resolve: func(context.Context, string) (string, error) { return "a-key", nil }, Client: &http.Client{Transport: network},
		})
		if err != nil {
			t.Fatal(err)
		}
		var saw []string
		for _, model := range []string{"chat", "assistant", "chat", "vllm-models", "vllm-models", "only-bedrock", "groq/fast", "whatever"} {
			saw = append(saw, said(do(t, router, `{"model":"`+model+`","messages":[{"role":"user","content":"hi"}]}`, false)))
		}
		if diff := cmp.Diff([]string{"ok", "ok", "ok", "ok", "ok", "no_deployment 503", "ok", "auth_failed 403"}, saw); diff != "" {
			t.Errorf("what callers saw: %s", diff)
		}
		if diff := cmp.Diff("eu@0 ca@0 eu@0 ca@0 vllm@0 large@0 vllm@0 vllm@0 vllm@0 eu@0 api@0", network.Asked()); diff != "" {
			t.Errorf("who was asked: %s", diff)
		}
		names := router.Names()
		if slices.Contains(names, "only-bedrock") || !slices.Contains(names, "vllm-models") || !slices.Contains(names, "chat") {
			t.Errorf("the names are %v", names)
		}
		for _, row := range router.Health() {
			if row.Group == "only-bedrock" {
				t.Errorf("what is left out has a health: %+v", row)
			}
		}
	})
}
