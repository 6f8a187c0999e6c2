package setup_test

import (
	"strings"
	"testing"

	"pointsman/ui/connect/setup"
)

// TestWarnings: what defeats a setup is said.
func TestWarnings(t *testing.T) {
	tests := []struct {
		name  string
		env   map[string]string
		files map[string]string
		says  []string // in one warning; none: no warning
	}{
		{name: "nothing"},
		{name: "another home", env: map[string]string{"COPILOT_HOME": "/elsewhere"}, says: []string{"COPILOT_HOME", "/elsewhere", "asks nobody"}},
		{name: "hooks off", files: map[string]string{".copilot/settings.json": "{\"disableAllHooks\": true, // c\n}"}, says: []string{"settings.json", "disableAllHooks"}},
		{name: "hooks off in the folder", files: map[string]string{"work/.github/copilot/settings.local.json": `{"disableAllHooks": true}`}, says: []string{"settings.local.json", "trust"}},
		{name: "hooks on", files: map[string]string{".copilot/settings.json": `{"disableAllHooks": false}`}},
		{name: "a proxy", env: map[string]string{"http_proxy": "http://user:pw@p"}, says: []string{"HTTP_PROXY", "NO_PROXY", "127.0.0.1"}},
		{name: "a proxy for others", env: map[string]string{"HTTP_PROXY": "http://p", "no_proxy": "x, 127.0.0.1"}},
		{name: "a proxy for none", env: map[string]string{"ALL_PROXY": "http://p", "NO_PROXY": "*"}},
		{name: "other providers", files: map[string]string{".copilot/providers.json": `{"providers": [{"name": "old", "apiKey": "sk-x"}]}`}, says: []string{"providers.json", "old", "beats"}},
		{name: "our provider", files: map[string]string{".copilot/providers.json": `{"providers": [{"name": "pointsman"}]}`}},
		{name: "an unreadable one", files: map[string]string{".copilot/providers.json": `{`}, says: []string{"providers.json", "cannot be read"}},
		{name: "another address", env: map[string]string{"COPILOT_PROVIDER_BASE_URL": "http://me:pw@x/v1"}, says: []string{"COPILOT_PROVIDER_BASE_URL", "x/v1"}},
		{name: "providers elsewhere", env: map[string]string{"COPILOT_PROVIDERS_CONFIG": "/dev/null/x"}},
		{name: "our address", env: map[string]string{"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:8640/v1/"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.env)
			for name, text := range tt.files {
				b.write(name, text)
			}
			warnings := b.List()[0].Warnings
			if set := b.List()[0].Environment == setup.Current; set != (tt.name == "our address") {
				t.Errorf("the variables are in force: %v", set)
			}
			if len(tt.says) == 0 && len(warnings) > 0 || len(tt.says) > 0 && len(warnings) != 1 {
				t.Fatalf("warnings: %q", warnings)
			}
			for _, part := range tt.says {
				if !strings.Contains(warnings[0], part) {
					t.Errorf("%q does not say %q", warnings[0], part)
				}
			}
			if strings.Contains(strings.Join(warnings, ""), "pw") {
				t.Errorf("a password is shown: %q", warnings)
			}
		})
	}
}

// FuzzIdentity: whatever the file, undoing what was applied restores every byte.
func FuzzIdentity(f *testing.F) {
	for _, text := range crowds("User/mcp.json", setup.MCP) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := newBench(t, nil)
		path := b.write(".config/Code/User/mcp.json", text)
		plan, err := b.Plan(t.Context(), "vscode", setup.MCP)
		if err == nil {
			_, err = b.Apply(t.Context(), plan)
		}
		if err == nil {
			b.undo("vscode")
		}
		if got := b.read(path); got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
