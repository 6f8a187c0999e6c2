package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
)

// spy passes requests on to an address and notes them.
type spy struct {
	*httptest.Server
	mu   sync.Mutex // guards the field below
	seen []string   // METHOD PATH, and "with a key"
}

func newSpy(t *testing.T, address string) *spy {
	t.Helper()
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	forward.FlushInterval = -1
	s := &spy{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note := r.Method + " " + r.URL.Path
		if r.Header.Get("Authorization") != "" {
			note += " with a key"
		}
		s.mu.Lock()
		s.seen = append(s.seen, note)
		s.mu.Unlock()
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *spy) saw(note string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.seen, note)
}

// TestCopilotFindsOllama: the real CLI, offline, finds our models where it looks for
// Ollama, and asks one, with a tool of ours, in the way that it writes down itself for a
// model which it has found; it shows no key.
func TestCopilotFindsOllama(t *testing.T) {
	program := copilotProgram(t)
	address := freeAddress(t)
	p := serve(t, withOllama(t, withFiles(t, ""), address))
	door := newSpy(t, address)
	home := t.TempDir()
	name := "ollama-" + strings.NewReplacer("://", "-", ":", "-").Replace(door.URL)
	found, err := json.Marshal(map[string]any{
		"providers": []any{map[string]any{"name": name, "type": "openai", "wireApi": "completions", "transport": "http", "baseUrl": door.URL + "/v1"}},
		"models": []any{map[string]any{
			"id": "scripted/test", "provider": name, "wireModel": "scripted/test", "name": "scripted/test", "maxContextWindowTokens": 40960,
			"capabilities": map[string]any{"supports": map[string]any{"toolCalls": true}, "limits": map[string]any{"max_context_window_tokens": 40960}},
			"metadata":     map[string]any{"providerKind": "ollama", "adapterId": "ollama", "providerInstanceId": "ollama:" + door.URL},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, ".copilot"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".copilot", "providers.json"), found, 0o600); err != nil {
		t.Fatal(err)
	}
	prompt := fmt.Sprintf("@tool fs__read_text_file {\"path\":%q}", filepath.Join(p.folder, "poem.txt"))
	args := []string{"-p", prompt, "-s", "--no-color", "--allow-all-tools", "--no-ask-user", "--no-auto-update", "--disable-builtin-mcps", "-C", p.folder, "--model", name + "/scripted/test"}
	contains(t, "the answer", runCopilot(t, nil, program, args, offline(home)), "roses are red")
	if !door.saw("POST /v1/chat/completions") {
		t.Errorf("the door saw %q", door.seen)
	}
	discover(t, program, home, p.folder, door)
	for _, note := range []string{"GET /api/version", "GET /api/tags", "POST /api/show"} {
		if !door.saw(note) {
			t.Errorf("the door saw %q, and no %s", door.seen, note)
		}
	}
}

// discover opens the CLI's list of models at a terminal, until it has looked.
func discover(t *testing.T, program, home, folder string, door *spy) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "--no-auto-update", "--disable-builtin-mcps", "-C", folder)
	cmd.Env = append(offline(home, "OLLAMA_HOST="+door.URL), "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	var shown lockedBuffer
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&shown, terminal) }) // it ends with the terminal
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = terminal.Close()
		reading.Wait()
		if t.Failed() {
			t.Logf("the terminal showed %q", shown.String())
		}
	}()
	keys := []string{"\r", "/model", "\r"} // the first trusts the folder; the program may not be ready for any
	ticks := 0
	await(t, "the list of models to be looked for", func() bool {
		if ticks++; ticks%80 == 0 {
			_, _ = io.WriteString(terminal, keys[(ticks/80-1)%len(keys)])
		}
		return door.saw("POST /api/show")
	})
}
