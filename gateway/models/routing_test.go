package models

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
	"pointsman/gateway/models/stage"
)

// onStage returns a router for a configuration in YAML, over a stage.
func onStage(t testing.TB, text string, s http.RoundTripper) *Router {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	router, err := NewRouter(store.Config(), Options{
		Resolve: func(_ context.Context, ref string) (string, error) { return ref, nil }, Client: &http.Client{Transport: s},
	})
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// said words what the caller saw of a request.
func said(reply *Reply, err error) string {
	if err == nil {
		defer reply.Close()
		if strings.Contains(string(reply.Body.Raw("choices")), "content_filter") {
			return "filtered"
		}
		return "ok"
	}
	e := AsError(err)
	return stage.Failure(string(e.Code), e.Status, e.RetryAfter)
}

func TestRoutingRules(t *testing.T) {
	for name, scene := range stage.Scenes() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := stage.New(scene.Script)
				router := onStage(t, scene.YAML(), network)
				saw := scene.Play(func(model, prompt string) string {
					return said(do(t, router, `{"model":"`+model+`","messages":[{"role":"user","content":"`+prompt+`"}]}`, false))
				})
				if diff := cmp.Diff(scene.Asked, network.Asked()); diff != "" {
					t.Errorf("who was asked, and when: %s", diff)
				}
				if diff := cmp.Diff(scene.Saw, saw); diff != "" {
					t.Errorf("what the callers saw: %s", diff)
				}
			})
		})
	}
}
