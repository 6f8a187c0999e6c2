package local_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"pointsman/gateway/models/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answers is a server that answers these paths with these texts.
func answers(t *testing.T, texts map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text, ok := texts[strings.TrimSpace(r.URL.Path+" "+string(body))]
		switch {
		case !ok:
			http.NotFound(w, r)
		case strings.HasPrefix(text, "http://"):
			http.Redirect(w, r, text, http.StatusFound)
		default:
			_, _ = io.WriteString(w, text)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

func TestFind(t *testing.T) {
	elsewhere := answers(t, map[string]string{"/api/version": `{"version":"9"}`, "/api/tags": `{"models":[]}`})
	const version, tags = `{"version":"0.17.6"}`, `{"models":[{"model":"llama3.2:3b"},{"model":"nomic-embed-text:latest"},{"model":"old"},{"model":"a*b"},{"name":"nameless"}]}`
	for name, test := range map[string]struct {
		provider string
		texts    map[string]string
		want     *local.Server
	}{
		"Ollama": {"ollama", map[string]string{
			"/api/version": version, "/api/tags": tags, `/api/show {"model":"llama3.2:3b"}`: `{"capabilities":["completion","tools"]}`,
			`/api/show {"model":"nomic-embed-text:latest"}`: `{"capabilities":["embedding"]}`, `/api/show {"model":"old"}`: `{}`,
		}, &local.Server{Title: "Ollama", Version: "0.17.6", Models: []string{"llama3.2:3b", "old"}}},
		"Ollama without models": {"ollama", map[string]string{"/api/version": version, "/api/tags": `{"models":null}`}, &local.Server{Title: "Ollama", Version: "0.17.6", Models: []string{}}},
		"LM Studio": {"lmstudio", map[string]string{"/api/v0/models": `{"data":[{"id":"qwen","type":"llm"},{"id":"eyes","type":"vlm"},{"id":"e","type":"embeddings"}]}`},
			&local.Server{Title: "LM Studio", Models: []string{"qwen", "eyes"}}},
		"Pointsman in Ollama's place": {"ollama", map[string]string{"/api/version": version, "/api/tags": tags, "/health": `{"service":"pointsman"}`}, nil},
		"a page":                      {"ollama", map[string]string{"/api/version": "<html>"}, nil},
		"no version":                  {"ollama", map[string]string{"/api/version": `{}`, "/api/tags": tags}, nil},
		"sent elsewhere":              {"ollama", map[string]string{"/api/version": strings.TrimSuffix(elsewhere, "/v1") + "/api/version", "/api/tags": tags}, nil},
		"another's models":            {"lmstudio", map[string]string{"/v1/models": `{"data":[{"id":"x"}]}`}, nil},
		"somebody else's":             {"vllm", map[string]string{"/v1/models": `{"data":[{"id":"x"}]}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			address := answers(t, test.texts)
			want := []local.Server{}
			if test.want != nil {
				test.want.Provider, test.want.Address = test.provider, address
				want = append(want, *test.want)
			}
			if diff := cmp.Diff(want, local.Find(t.Context(), []local.Place{{Provider: test.provider, Address: address}})); diff != "" {
				t.Errorf("what is found differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFindsNobody: addresses where nobody is, where somebody is silent, and that are
// not on this machine come to nothing, when the caller's time is over.
func TestFindsNobody(t *testing.T) {
	silence := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-silence:
		case <-r.Context().Done():
		}
	}))
	defer silent.Close()
	defer close(silence)
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	found := local.Find(ctx, []local.Place{
		{Provider: "ollama", Address: "http://127.0.0.1:1/v1"}, {Provider: "lmstudio", Address: silent.URL + "/v1"},
		{Provider: "ollama", Address: "http://192.0.2.1:11434/v1"}, {Provider: "ollama", Address: "http://example.invalid/v1"}, {Provider: "ollama", Address: "::"},
	})
	if took := time.Since(begun); len(found) != 0 || took > time.Second {
		t.Errorf("found %v in %s", found, took)
	}
}

func TestOllamaAddress(t *testing.T) {
	for host, want := range map[string]string{
		"":                        "http://127.0.0.1:11434/v1",
		"127.0.0.1":               "http://127.0.0.1:11434/v1",
		"localhost:9":             "http://localhost:9/v1",
		":9":                      "http://127.0.0.1:9/v1",
		" 0.0.0.0:9 ":             "http://127.0.0.1:9/v1",
		"[::]:9":                  "http://127.0.0.1:9/v1",
		"::1":                     "http://[::1]:11434/v1",
		"http://[::1]:9/":         "http://[::1]:9/v1",
		"https://far.example/api": "https://far.example:11434/v1",
	} {
		if got := local.OllamaAddress(host); got != want {
			t.Errorf("%q is at %s, want %s", host, got, want)
		}
	}
}
