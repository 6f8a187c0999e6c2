package port

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestIntroduced: only a program that says so in its own words is taken for one
// of ours, or for Ollama.
func TestIntroduced(t *testing.T) {
	for _, test := range []struct {
		name, path, says string
		who              string
	}{
		{"ours", "/health", `{"status":"ok","service":"pointsman","version":"1"}`, "another Pointsman"},
		{"another service", "/health", `{"status":"ok","service":"other"}`, ""},
		{"no JSON", "/health", "pointsman", ""},
		{"elsewhere", "/about", `{"service":"pointsman"}`, ""},
		{"endless", "/health", strings.Repeat(" ", 1<<20) + `{"service":"pointsman"}`, ""},
		{"Ollama", "/{$}", "Ollama is running", "Ollama"},
		{"a page about Ollama", "/{$}", "<p>Ollama is running", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("GET "+test.path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.says) })
			server := httptest.NewServer(mux)
			defer server.Close()
			if got := introduced(t.Context(), strings.TrimPrefix(server.URL, "http://")); got != test.who {
				t.Errorf("it is taken for %q", got)
			}
		})
	}
	if who := introduced(t.Context(), "127.0.0.1:1"); who != "" {
		t.Errorf("nobody is taken for %q", who)
	}
}
