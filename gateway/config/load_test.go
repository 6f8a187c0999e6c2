package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/gateway/config"
)

// env makes a Getenv of pairs, with POINTSMAN_HOME in a fresh directory.
func env(t *testing.T, pairs ...string) func(string) string {
	t.Helper()
	values := map[string]string{"POINTSMAN_HOME": t.TempDir()}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, text string, pairs ...string) (*config.Store, error) {
	t.Helper()
	return config.Load(config.Options{Path: write(t, text), Getenv: env(t, pairs...)})
}

func TestLoadPathOrder(t *testing.T) {
	flag, first, second := write(t, "default_model: flag"), write(t, "default_model: first"), write(t, "default_model: second")
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("default_model: home"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(second)) // a config.yaml here must not be taken by itself
	tests := []struct {
		name, path string
		env        []string
		want       string
	}{
		{"flag wins", flag, []string{"POINTSMAN_CONFIG=" + first}, "flag"},
		{"own variable", "", []string{"POINTSMAN_CONFIG=" + first, "ORCHESTRATOR_CONFIG=" + second}, "first"},
		{"the original's variable", "", []string{"ORCHESTRATOR_CONFIG=" + second}, "second"},
		{"the user's directory", "", []string{"POINTSMAN_HOME=" + home}, "home"},
		{"nothing there", "", nil, config.Default().DefaultModel},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, err := config.Load(config.Options{Path: tt.path, Getenv: env(t, tt.env...)})
			if err != nil {
				t.Fatal(err)
			}
			if got := store.Config().DefaultModel; got != tt.want {
				t.Errorf("default_model = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLoadNamedFileAbsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent.yaml")
	for _, opts := range []config.Options{
		{Path: path, Getenv: env(t)},
		{Getenv: env(t, "POINTSMAN_CONFIG="+path)},
		{Getenv: env(t, "ORCHESTRATOR_CONFIG="+path)},
	} {
		_, err := config.Load(opts)
		if !errors.Is(err, config.ErrNotFound) || err.Error() != "config not found: "+path {
			t.Errorf("error = %v", err)
		}
	}
}

func TestLoadEmptyFilesMeanDefaults(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "comment": "# hello\n", "null": "~\n", "document mark": "---\n", "empty object": "{}", "blank": "\n\n",
		"null sections": "gateway:\ntools:\nmcpServers:\nproviders: ~\n",
	} {
		t.Run(name, func(t *testing.T) {
			store, err := load(t, text)
			if err != nil {
				t.Fatal(err)
			}
			if got := store.Config(); got.Tools.MaxRounds != 8 || got.Gateway.Auth != "key" || !got.Approvals.Require {
				t.Errorf("not the defaults: %+v", got)
			}
		})
	}
}

func TestLoadPrecedence(t *testing.T) {
	path := write(t, "tools: {max_rounds: 3}\ndefault_model: file")
	store, err := config.Load(config.Options{
		Path:   path,
		Getenv: env(t, "MCP_MAX_TOOL_ROUNDS=4", "LLM_MODEL_ID=environment"),
		Flags:  func(c *config.Config) { c.DefaultModel = "flag" },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := store.Config(); got.Tools.MaxRounds != 4 || got.DefaultModel != "flag" || got.Tools.MaxOffered != 100 {
		t.Errorf("rounds %d, model %q, offered %d", got.Tools.MaxRounds, got.DefaultModel, got.Tools.MaxOffered)
	}
}
