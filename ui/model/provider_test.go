package model_test

import (
	"strings"
	"testing"
	"time"

	"pointsman/gateway/config"
	"pointsman/ui/model"
)

func TestProviderLines(t *testing.T) {
	for _, test := range []struct {
		name, provider string
		key            config.Secret
		keys           model.Keychain
		word           string
	}{
		{"key in the keychain", "p", "keychain:k", model.Keychain{Has: map[string]bool{"k": true}}, "In the keychain"},
		{"key that is gone", "p", "keychain:k", model.Keychain{}, "Not in the keychain"},
		{"keychain that cannot be read", "p", "keychain:k", model.Keychain{Fault: "locked"}, "Keychain unreadable"},
		{"key behind a scheme", "p", "Bearer ${keychain:k}", model.Keychain{Has: map[string]bool{"k": true}}, "In the keychain"},
		{"variable", "p", "os.environ/K", model.Keychain{Fault: "locked"}, "In the environment"},
		{"text", "p", "[secret]", model.Keychain{}, "In the file, as text"},
		{"none", "p", "", model.Keychain{}, "No key"},
		{"none needed", "ollama", "", model.Keychain{}, "Needs no key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Providers = map[string]config.Provider{test.provider: {APIKey: test.key}}
			when := time.Date(2026, 3, 2, 14, 5, 0, 0, time.UTC)
			line := model.ProviderLines(cfg, test.keys, map[string]model.ProviderAnswer{test.provider: {Message: "no", When: when}})[0]
			if line.Key.Word != test.word || line.Key.Icon == "" || line.Answer != "14:05: no" || !line.Failed {
				t.Errorf("the line is %+v", line)
			}
		})
	}
}

func TestProviderKeys(t *testing.T) {
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{"a": {APIKey: "keychain:one"}, "b": {APIKey: "os.environ/X"}, "c": {}, "d": {APIKey: "${keychain:two}"}}
	if got := model.ProviderKeys(cfg); len(got) != 2 || got[0] != "one" || got[1] != "two" {
		t.Errorf("the names are %q", got)
	}
}

func TestProviderDraft(t *testing.T) {
	saved := config.Provider{BaseURL: "https://p.example/v1", APIKey: "[secret]", Headers: map[string]config.Secret{"X": "[secret]"}}
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{"p": saved}
	for _, test := range []struct {
		name, as, key string
		api           config.Secret
		keep, fault   string
	}{
		{"kept as it is", "p", "", "[secret]", "", ""},
		{"a new key", "p", " new ", "keychain:p", "new", ""},
		{"a variable", "p", "os.environ/K", "os.environ/K", "", ""},
		{"another name without the key", "q", "", "[secret]", "", "type it again"},
		{"another name with a key", "q", "new", "keychain:q", "new", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := model.SavedProvider("p", saved)
			f.Name, f.Key = test.as, test.key
			d := f.Draft(cfg)
			if d.Entry.APIKey != test.api || d.Secrets[strings.TrimPrefix(string(test.api), "keychain:")] != test.keep || (len(d.Faults) > 0) != (test.fault != "") {
				t.Errorf("the key is %q, %q is kept, faults %v", string(d.Entry.APIKey), d.Secrets, d.Faults)
			}
		})
	}
}

func TestFindModels(t *testing.T) {
	window := func(n int64) *int64 { return &n }
	all := []model.CatalogueRow{
		{ID: "gpt-6-sol", Aliases: []string{"sol"}, Label: "GPT-6 Sol", Tier: "medium", Provider: "openai", ContextWindow: window(1_050_000)},
		{ID: "glm-4.6", Label: "GLM", Provider: "zai", ContextWindow: window(200_000)}, {ID: "own", Provider: "me", ContextWindow: window(512)}, {ID: "bare"},
	}
	for search, want := range map[string]int{"": 4, "SOL": 1, "openai medium": 1, "openai zai": 0, "g": 2} {
		if got := model.FindModels(all, search); len(got) != want {
			t.Errorf("%q finds %d, want %d", search, len(got), want)
		}
	}
	for i, want := range []string{"1.1 M", "200 k", "512", "–"} {
		if got := all[i].Context(); got != want {
			t.Errorf("%s: %q, want %q", all[i].ID, got, want)
		}
	}
}
