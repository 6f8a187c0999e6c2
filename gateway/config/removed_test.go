package config_test

import (
	"strings"
	"testing"

	"pointsman/gateway/config"
)

// TestRemovalTakenBack removes an entry and brings it back as a form does, which
// has its secrets masked.
func TestRemovalTakenBack(t *testing.T) {
	store, err := load(t, edited+"providers:\n  own: {base_url: https://p.example/v1, api_key: literal-key-1}\n")
	if err != nil {
		t.Fatal(err)
	}
	github, own := store.Config().MCPServers["github"], store.Config().Providers["own"]
	github.Headers = map[string]config.Secret{"Authorization": "[secret]", "X-Team": "[secret]"}
	own.APIKey = "[secret]"
	edit := func(e config.Edit) error { return store.Edit(store.Snapshot().Revision, []config.Edit{sent(t, e)}) }
	for _, shown := range []config.Edit{
		{Path: []string{"mcpServers", "github"}, Value: github}, {Path: []string{"providers", "own"}, Value: own},
	} {
		if err := edit(config.Edit{Path: shown.Path, Remove: true}); err != nil {
			t.Fatal(err)
		}
		if text := textOf(t, store); strings.Contains(text, shown.Path[1]) {
			t.Fatalf("%s is still there:\n%s", shown.Path[1], text)
		}
		if err := edit(shown); err != nil {
			t.Errorf("%s does not come back: %v", shown.Path[1], err)
		}
	}
	text := textOf(t, store)
	for _, want := range []string{"Bearer hunter2hunter2", "blue", "literal-key-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q has not come back:\n%s", want, text)
		}
	}
	if err := edit(config.Edit{Path: []string{"mcpServers", "other"}, Value: github}); err == nil {
		t.Errorf("an entry of another name took the secrets over:\n%s", textOf(t, store))
	}
}
