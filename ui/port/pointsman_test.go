package port

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestIsPointsman: only a program that says so in the words of its health is
// taken for one of ours.
func TestIsPointsman(t *testing.T) {
	for _, test := range []struct {
		name, path, says string
		ours             bool
	}{
		{"ours", "/health", `{"status":"ok","service":"pointsman","version":"1"}`, true},
		{"another service", "/health", `{"status":"ok","service":"other"}`, false},
		{"no JSON", "/health", "pointsman", false},
		{"elsewhere", "/about", `{"service":"pointsman"}`, false},
		{"endless", "/health", strings.Repeat(" ", 1<<20) + `{"service":"pointsman"}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("GET "+test.path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.says) })
			server := httptest.NewServer(mux)
			defer server.Close()
			if got := isPointsman(t.Context(), strings.TrimPrefix(server.URL, "http://")); got != test.ours {
				t.Errorf("it is taken for ours: %v", got)
			}
		})
	}
	if isPointsman(t.Context(), "127.0.0.1:1") {
		t.Error("nobody is taken for ours")
	}
}
