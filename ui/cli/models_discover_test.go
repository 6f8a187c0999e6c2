package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeOllama answers as an Ollama with one model that can chat and one that cannot.
func fakeOllama(t *testing.T) (address string) {
	t.Helper()
	mux := http.NewServeMux()
	says := func(pattern, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	says("GET /api/version", `{"version":"0.17.6"}`)
	says("GET /api/tags", `{"models":[{"model":"llama3.2:3b"},{"model":"embed"}]}`)
	says("POST /v1/chat/completions", "data: "+`{"model":"llama3.2:3b","choices":[{"index":0,"delta":{"role":"assistant","content":"from the llama"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		can := "completion"
		if strings.Contains(string(body), "embed") {
			can = "embedding"
		}
		_, _ = io.WriteString(w, `{"capabilities":["`+can+`"]}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestModelsDiscover: nothing is added unasked; what is added answers.
func TestModelsDiscover(t *testing.T) {
	r := newRig(t, "# mine\nlog: {level: info} # as it is\n")
	address := fakeOllama(t)
	r.env["OLLAMA_HOST"] = address
	file := filepath.Join(r.home, "config.yaml")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := func() (row struct {
		Provider, Address, Version string
		Models                     []string
		Configured                 bool
	}) {
		t.Helper()
		text := r.must("models", "discover", "ollama", "--json").out
		if err := json.Unmarshal([]byte(strings.Trim(strings.TrimSpace(text), "[]")), &row); err != nil {
			t.Fatalf("it prints %q: %v", text, err)
		}
		return row
	}
	row := found()
	if row.Provider != "ollama" || row.Address != "http://"+address+"/v1" || row.Version != "0.17.6" || strings.Join(row.Models, " ") != "llama3.2:3b" || row.Configured {
		t.Errorf("found %+v", row)
	}
	got := r.must("models", "discover", "ollama")
	if !strings.Contains(got.out, "llama3.2:3b") || !strings.Contains(got.errors, "pointsman models discover ollama --yes") {
		t.Errorf("without anybody to ask: %+v", got)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("looking has changed the file to %q, %v", after, err)
	}
	if got := r.must("models", "discover", "ollama", "--yes"); !strings.Contains(got.errors, "pointsman chat --model ollama/llama3.2:3b") {
		t.Errorf("adding: %+v", got)
	}
	after, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(after), string(before)) || !strings.Contains(string(after), "model: ollama_chat/llama3.2:3b") {
		t.Errorf("the file is %q, %v", after, err)
	}
	if !found().Configured {
		t.Error("what was added is offered again")
	}
	r.must("config", "check")
	for _, name := range []string{"llama3.2:3b", "ollama/llama3.2:3b"} {
		if got := r.must("chat", "--model", name, "hello"); got.out != "from the llama\n" {
			t.Errorf("%s answers %+v", name, got)
		}
	}
	if got := r.must("models", "discover", "nobody"); got.out != "" || !strings.Contains(got.errors, "No Ollama") {
		t.Errorf("another provider: %+v", got)
	}
	if got := r.run("", "models", "discover", "--json", "--yes"); got.code != 2 {
		t.Errorf("--json with --yes: %+v", got)
	}
}
