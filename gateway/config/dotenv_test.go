package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
)

// withDotEnv loads a configuration with a .env file beside it.
func withDotEnv(t *testing.T, file, dotenv string, pairs ...string) (*config.Store, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(path, []byte(dotenv), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Options{Path: write(t, file), Getenv: env(t, pairs...), DotEnv: path})
}

func TestDotEnvNeverLeadsAKeyElsewhere(t *testing.T) {
	const mine = "providers: {openai: {api_key: os.environ/MYKEY, headers: {X-Key: 'keychain:h'}, timeout: 3s}, corp: {base_url: 'http://c', api_key: keychain:c}}"
	second := config.Duration(3_000_000_000)
	tests := []struct {
		name, dotenv string
		env          []string
		provider     string
		want         config.Provider
	}{
		{"an address gets no key of the file", "LLM_BASE_URL=http://evil", nil, "openai", config.Provider{BaseURL: "http://evil", Timeout: second}},
		{"an address for a provider of the file", "LLM_BASE_URL=http://evil\nLLM_PROVIDER=corp", nil, "corp", config.Provider{BaseURL: "http://evil"}},
		{"an address gets its own key", "LLM_BASE_URL=http://own\nLLM_API_KEY=k", nil, "openai", config.Provider{BaseURL: "http://own", APIKey: "k", Timeout: second}},
		{"an address with a provider of the environment", "LLM_BASE_URL=http://own", []string{"LLM_PROVIDER=corp"}, "corp", config.Provider{BaseURL: "http://own"}},
		{"an address gets no key of the environment", "LLM_BASE_URL=http://evil\nLLM_PROVIDER=evil", []string{"LLM_API_KEY=k"}, "openai", config.Provider{APIKey: "os.environ/LLM_API_KEY", Timeout: second, Headers: map[string]config.Secret{"X-Key": "keychain:h"}}},
		{"a provider does not take the environment's key along", "LLM_PROVIDER=groq", []string{"LLM_API_KEY=k"}, "openai", config.Provider{APIKey: "os.environ/LLM_API_KEY", Timeout: second, Headers: map[string]config.Secret{"X-Key": "keychain:h"}}},
		{"a key goes to a known address", "LLM_PROVIDER=groq\nLLM_API_KEY=k", nil, "groq", config.Provider{APIKey: "k"}},
		{"a key goes to no address of the file", "LLM_PROVIDER=corp\nLLM_API_KEY=k", nil, "corp", config.Provider{BaseURL: "http://c", APIKey: "keychain:c"}},
		{"a key goes to the environment's address", "LLM_API_KEY=k\nLLM_BASE_URL=http://evil\nLLM_PROVIDER=evil", []string{"LLM_PROVIDER=x", "LLM_BASE_URL=http://x"}, "x", config.Provider{BaseURL: "http://x", APIKey: "k"}},
		{"an address of the environment keeps the file's key", "LLM_PROVIDER=corp", []string{"LLM_BASE_URL=http://x"}, "openai", config.Provider{BaseURL: "http://x", APIKey: "os.environ/MYKEY", Timeout: second, Headers: map[string]config.Secret{"X-Key": "keychain:h"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, err := withDotEnv(t, mine, tt.dotenv, tt.env...)
			if err != nil {
				t.Fatal(err)
			}
			c := store.Config()
			if c.DefaultProvider != tt.provider {
				t.Errorf("default_provider = %q", c.DefaultProvider)
			}
			if diff := cmp.Diff(tt.want, c.Providers[tt.provider]); diff != "" {
				t.Error(diff)
			}
			if len(store.Notices()) == 0 {
				t.Error("nothing tells of the .env file")
			}
		})
	}
}

func TestDotEnvDoesNotMoveTheKeysOfDeployments(t *testing.T) {
	const list = `model_list:
- {model_name: same, litellm_params: {model: openai/m, api_key: keychain:k, extra_headers: {X-Key: keychain:h}}}
- {model_name: bare, litellm_params: {model: m, api_key: keychain:k}}
- {model_name: own, litellm_params: {model: openai/m, api_base: 'http://own', api_key: keychain:k}}
- {model_name: other, litellm_params: {model: groq/m, api_key: keychain:k}}`
	for _, tt := range []struct{ name, dotenv, keys string }{
		{"address", "LLM_BASE_URL=http://evil", "own other"},
		{"provider", "LLM_PROVIDER=groq", "same own other"},
		{"nothing", "LLM_MODEL_ID=m", "same bare own other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store, err := withDotEnv(t, list, tt.dotenv)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, d := range store.Config().ModelList {
				if d.LiteLLMParams.APIKey != "" || d.LiteLLMParams.ExtraHeaders != nil {
					keys = append(keys, d.ModelName)
				}
			}
			if got := strings.Join(keys, " "); got != tt.keys {
				t.Errorf("deployments with keys: %s, want %s", got, tt.keys)
			}
		})
	}
}

func TestDotEnvFallback(t *testing.T) {
	const whole = "LLM_FALLBACK_ENABLED=1\nLLM_FALLBACK_BASE_URL=http://own\nLLM_FALLBACK_API_KEY=k\nLLM_FALLBACK_MODEL_ID=m"
	filed := config.Fallback{Enabled: true, BaseURL: "http://mine", APIKey: "keychain:f"}
	for _, tt := range []struct {
		name, file, dotenv string
		env                []string
		want               config.Fallback
	}{
		{"whole", "", whole, nil, config.Fallback{Enabled: true, BaseURL: "http://own", APIKey: "k", Model: "m"}},
		{"no key", "", "LLM_FALLBACK_ENABLED=1\nLLM_FALLBACK_BASE_URL=http://evil", nil, config.Fallback{}},
		{"no address", "", "LLM_FALLBACK_ENABLED=1\nLLM_FALLBACK_API_KEY=k", nil, config.Fallback{}},
		{"the file's stays", "fallback: {enabled: true, base_url: 'http://mine', api_key: keychain:f}", whole, nil, filed},
		{"the environment's stays", "", whole, []string{"LLM_FALLBACK_API_KEY=real"}, config.Fallback{APIKey: "os.environ/LLM_FALLBACK_API_KEY"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store, err := withDotEnv(t, tt.file, tt.dotenv, tt.env...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, store.Config().Fallback); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDotEnvMakesNoReferences(t *testing.T) {
	for _, line := range []string{
		"LLM_API_KEY=os.environ/MYKEY", "LLM_API_KEY=keychain:openai", "LLM_API_KEY='${keychain:openai}'", "LLM_API_KEY='${MYKEY}'", "LLM_API_KEY='x${env:MYKEY}'",
		"LLM_API_KEY=' keychain:openai'", "LLM_BASE_URL='http://evil/${MYKEY}'", "LLM_FALLBACK_API_KEY=keychain:openai", "LLM_MODEL_ID='${MYKEY}'",
	} {
		t.Run(line, func(t *testing.T) {
			_, err := withDotEnv(t, "", line, "MYKEY=s3cr3t")
			name, _, _ := strings.Cut(line, "=")
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), ".env") || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("error = %v", err)
			}
		})
	}
	if _, err := withDotEnv(t, "", "LLM_OTHER=keychain:x"); err != nil {
		t.Errorf("a name that is not ours: %v", err)
	}
}

func TestDotEnvIsAnnounced(t *testing.T) {
	store, err := withDotEnv(t, "fallback: {base_url: 'http://f'}", "LLM_MODEL_ID=m\nLLM_API_KEY=k3y-value\nLLM_REASONING_EFFORT=low\nLLM_FALLBACK_MODEL_ID=f\nOTHER=1", "LLM_REASONING_EFFORT=high")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, p := range store.Problems() {
		if !p.Warning {
			t.Errorf("not a warning: %v", p)
		}
		told = append(told, p.Error())
	}
	text := strings.Join(told, "\n")
	for _, want := range []string{"LLM_API_KEY, LLM_MODEL_ID taken from ", ".env", "LLM_FALLBACK_MODEL_ID of "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	if strings.Contains(text, "EFFORT") || strings.Contains(text, "k3y") {
		t.Errorf("told: %s", text)
	}
	if value, ok := store.LookupEnv("LLM_API_KEY"); ok {
		t.Errorf("a reference to a variable would be resolved from .env: %q", value)
	}
}

func TestDotEnvThatIsAFolderIsNone(t *testing.T) {
	store, err := config.Load(config.Options{Path: write(t, ""), Getenv: env(t), DotEnv: t.TempDir()})
	if err != nil || len(store.Problems()) > 0 {
		t.Fatal(err, store)
	}
}
