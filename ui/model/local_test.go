package model_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/models/local"
	"pointsman/ui/model"
)

// TestLocalEdits writes what adds a server into files, and looks at what they say
// then, with the comments that they had.
func TestLocalEdits(t *testing.T) {
	found := local.Server{Provider: "ollama", Title: "Ollama", Address: "http://127.0.0.1:11434/v1", Models: []string{"llama3.2:3b", "qwen3"}}
	for name, test := range map[string]struct {
		file string
		want []string
		not  []string
	}{
		"an empty file": {"", []string{
			"  ollama:\n    base_url: http://127.0.0.1:11434/v1\n", "- model_name: llama3.2:3b\n    litellm_params:\n      model: ollama_chat/llama3.2:3b\n", "- model_name: qwen3\n",
		}, []string{"discover"}},
		"a list with comments": {"# mine\nmodel_list: # who answers\n  # the first\n  - model_name: qwen3 # hosted\n    litellm_params: {model: groq/qwen3, api_key: os.environ/K}\n", []string{
			"# mine\n", "model_list: # who answers\n", "# the first\n", "qwen3 # hosted\n", "api_key: os.environ/K", "model_name: ollama/qwen3\n", "model: ollama_chat/qwen3\n",
		}, nil},
		"declared capabilities": {"capabilities: {fast: quick answers}\nmodel_list: [{model_name: fast, litellm_params: {model: groq/x}}]\n", []string{"discover: true"}, []string{"llama3"}},
		"an Ollama elsewhere":   {"providers:\n  ollama: {base_url: http://big.example:11434/v1}\n", []string{"big.example", "ollama-local:\n    base_url: http://127.0.0.1:11434/v1\n", "model: ollama-local/qwen3\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			store, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
			if err != nil {
				t.Fatal(err)
			}
			now := store.Snapshot()
			if err := store.Edit(now.Revision, model.LocalEdits(now.Config, found)); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q is not in the file:\n%s", want, text)
				}
			}
			for _, not := range test.not {
				if strings.Contains(string(text), not) {
					t.Errorf("%q is in the file:\n%s", not, text)
				}
			}
		})
	}
}

func TestLocalWords(t *testing.T) {
	for want, s := range map[string]local.Server{
		"Ollama 0.17.6 runs on this machine, with a, b, c and 1 more.":  {Title: "Ollama", Version: "0.17.6", Models: []string{"a", "b", "c", "d"}},
		"LM Studio runs on this machine, with a.":                       {Title: "LM Studio", Models: []string{"a"}},
		"Ollama 1 runs on this machine, without a model that can chat.": {Title: "Ollama", Version: "1"},
	} {
		if got := model.LocalWords(s); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if got := model.NewLocalServers([]local.Server{{Title: "a", Configured: true}, {Title: "b"}}); len(got) != 1 || got[0].Title != "b" {
		t.Errorf("new are %v", got)
	}
}
