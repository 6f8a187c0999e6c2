package models

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pointsman/gateway/config"
)

// TestReferencesAreReadAtTheRequest changes what the environment holds between
// two requests.
func TestReferencesAreReadAtTheRequest(t *testing.T) {
	u := &upstream{replies: []reply{good(), good(), good()}}
	router := rig(t, u, func(c *config.Config) {
		c.ModelList = []config.Deployment{{ModelName: "coding", LiteLLMParams: config.LiteLLMParams{Model: "os.environ/MODEL", APIBase: "os.environ/BASE", APIKey: "os.environ/KEY"}}}
		c.Providers["corp"] = config.Provider{BaseURL: "os.environ/BASE", APIKey: "os.environ/KEY"}
	})
	values := map[string]string{"os.environ/MODEL": "openai/one", "os.environ/BASE": "http://one.example/v1", "os.environ/KEY": "key-1"}
	router.opts.Resolve = func(_ context.Context, ref string) (string, error) { return values[ref], nil }
	for i, want := range []asked{{url: "http://one.example/v1/chat/completions", auth: "Bearer key-1", body: `{"model":"one"}`}, {url: "http://two.example/v1/chat/completions", auth: "Bearer key-2", body: `{"model":"two"}`}} {
		if _, err := do(t, router, `{"model":"coding"}`, false); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, u.asked[i], cmp.AllowUnexported(asked{}), cmpopts.IgnoreFields(asked{}, "at")); diff != "" {
			t.Error(diff)
		}
		values = map[string]string{"os.environ/MODEL": "openai/two", "os.environ/BASE": "http://two.example/v1", "os.environ/KEY": "key-2"}
	}
	if _, err := do(t, router, `{"model":"corp/x"}`, false); err != nil || u.asked[2].url != "http://two.example/v1/chat/completions" {
		t.Errorf("a provider's address from the environment: %v, %+v", err, u.asked)
	}
}

func TestAzure(t *testing.T) {
	for name, c := range map[string]struct{ base, version, path, key, auth string }{
		"with a version":      {"", "2024-10-21", "/openai/deployments/dep/chat/completions?api-version=2024-10-21", "k", ""},
		"v1":                  {"", "v1", "/openai/v1/chat/completions", "", "Bearer k"},
		"without a version":   {"/", "", "/openai/v1/chat/completions", "", "Bearer k"},
		"v1 in the address":   {"/openai/v1/", "", "/openai/v1/chat/completions", "", "Bearer k"},
		"with its deployment": {"/openai/deployments/other/", "2024-10-21", "/openai/deployments/other/chat/completions?api-version=2024-10-21", "k", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var path, key, auth string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path, key, auth = r.URL.String(), r.Header.Get("api-key"), r.Header.Get("Authorization")
				answerWell(w, r)
			}))
			defer server.Close()
			router := routerTo(t, server.URL)
			router.cfg.ModelList = []config.Deployment{{ModelName: "mine", LiteLLMParams: config.LiteLLMParams{Model: "azure/dep", APIBase: server.URL + c.base, APIVersion: c.version, APIKey: "k"}}}
			if err := router.addGroups(); err != nil {
				t.Fatal(err)
			}
			if _, err := do(t, router, `{"model":"mine"}`, false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.path, c.key, c.auth}, []string{path, key, auth}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPrefixes has deployments of every prefix that needs no address of its own.
func TestPrefixes(t *testing.T) {
	for model, want := range map[string]string{
		"openai/x": "https://api.openai.com/v1/ x", "anthropic/x": "https://api.anthropic.com/v1/ x", "gemini/x": "https://generativelanguage.googleapis.com/v1beta/openai/ x",
		"deepseek/x": "https://api.deepseek.com/ x", "zai/x": "https://api.z.ai/api/paas/v4/ x", "mistral/x": "https://api.mistral.ai/v1/ x", "groq/x": "https://api.groq.com/openai/v1/ x",
		"openrouter/a/b": "https://openrouter.ai/api/v1/ a/b", "ollama_chat/x": "http://127.0.0.1:11434/v1/ x", "ollama/x": "http://127.0.0.1:11434/v1/ x", "lm_studio/x": "http://127.0.0.1:1234/v1/ x",
		"corp/x": "http://corp.example/v1/ x", "gpt-6-luna": "https://api.openai.com/v1/ gpt-6-luna",
	} {
		router := rig(t, &upstream{}, func(c *config.Config) {
			c.ModelList = []config.Deployment{{ModelName: "coding", LiteLLMParams: config.LiteLLMParams{Model: model}}}
		})
		route, err := router.Resolve("coding")
		if err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		if got := route.First().BaseURL + " " + route.First().Model; got != want {
			t.Errorf("%s leads to %s, want %s", model, got, want)
		}
	}
}

// TestLiteLLMNamesOfAProvider: what the user says of a provider holds for each of
// LiteLLM's names for it.
func TestLiteLLMNamesOfAProvider(t *testing.T) {
	router := rig(t, &upstream{}, func(c *config.Config) {
		c.Providers = map[string]config.Provider{"ollama": {BaseURL: "http://127.0.0.1:9/v1", APIKey: "its-key"}}
		c.ModelList = []config.Deployment{{ModelName: "a", LiteLLMParams: config.LiteLLMParams{Model: "ollama_chat/x"}}, {ModelName: "b", LiteLLMParams: config.LiteLLMParams{Model: "ollama/x"}}}
	})
	for _, name := range []string{"a", "b"} {
		route, err := router.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		if d := route.First(); d.BaseURL != "http://127.0.0.1:9/v1/" || d.key != "its-key" {
			t.Errorf("%s leads to %s with the key %q", name, d.BaseURL, string(d.key))
		}
	}
	for address, want := range map[string]bool{"http://localhost:9/v1": true, "http://[::1]:9": true, "http://127.0.0.1:11434/v1": false, "http://10.0.0.1:9/v1": false} {
		if router.Reaches(address) != want {
			t.Errorf("%s is configured: %v", address, !want)
		}
	}
}

// TestCatalogueIsKnownToTheConfiguration compares the catalogue with the names by
// which the configuration tells a fallback to nothing.
func TestCatalogueIsKnownToTheConfiguration(t *testing.T) {
	catalogue, err := NewCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	byName := func(a, b string) bool { return a < b }
	if diff := cmp.Diff(slices.Collect(maps.Keys(catalogue.byName)), config.KnownModels(), cmpopts.SortSlices(byName)); diff != "" {
		t.Errorf("models: %s", diff)
	}
	if diff := cmp.Diff(slices.Collect(maps.Keys(catalogue.providers)), config.KnownProviders(), cmpopts.SortSlices(byName)); diff != "" {
		t.Errorf("providers: %s", diff)
	}
}

// TestALiteLLMFileLeadsWhereItSays resolves the names of a pasted file.
func TestALiteLLMFileLeadsWhereItSays(t *testing.T) {
	store, err := config.Load(config.Options{Path: filepath.Join("..", "config", "testdata", "litellm.yaml"), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	router, err := NewRouter(store.Config(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"gpt-4o": "https://example.openai.azure.com/openai/deployments/my-deployment/chat/completions?api-version=2026-01-01",
		"smart":  "https://example.openai.azure.com/openai/deployments/my-deployment/chat/completions?api-version=2026-01-01",
		"local":  "http://localhost:8000/v1/chat/completions", "hidden-one": "http://localhost:8000/v1/chat/completions",
		"gpt-5-mini": "https://api.openai.com/v1/chat/completions",
	} {
		route, err := router.Resolve(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := route.First().chatURL(); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
	if route, err := router.Resolve("gpt-5-mini"); err != nil || route.First().Model != "gpt-5-mini" || route.First().Timeout != 300*time.Second {
		t.Errorf("the pattern's deployment is %+v, %v", route.First(), err)
	}
}
