package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"pointsman/gateway"
	"pointsman/gateway/secrets"
	"pointsman/ui/model"
)

func TestProviderAdded(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "# mine\n"})
	s := b.modelsScreen()
	b.sees("No provider yet")
	b.tap("Add a provider")
	b.tap("Save")
	b.sees("Choose a provider, or give it a name")
	b.pick("deepseek")
	b.fill("sk-…", hush)
	b.tap("Save")
	b.sees("“deepseek” is saved.")
	b.wantFile([]string{"# mine", "api_key: keychain:deepseek"}, hush, "base_url")
	if got := b.secret("deepseek"); got != hush {
		t.Errorf("the keychain holds %q", got)
	}
	b.sees("In the keychain")
	s.open("deepseek")
	if got := b.entry("In the keychain · replace"); got.Text != "" || !got.Password {
		t.Errorf("the key's entry holds %q, masked %v", got.Text, got.Password)
	}
	b.tap("Cancel")
	b.tap("Add provider")
	b.pick("deepseek")
	b.tap("Save")
	b.sees("There is a provider of this name already")
}

// TestProviderByAddress adds one that nobody knows. That its name is that of the
// clients' key does not change that key.
func TestProviderByAddress(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{})
	if err := b.keychain.Set(t.Context(), "gateway", "the clients' key"); err != nil {
		t.Fatal(err)
	}
	b.modelsScreen().edit(model.ProviderForm{})
	b.pick(otherProvider)
	b.fill("my-company", "gateway")
	b.fill("sk-…", hush)
	b.tap("Save")
	b.sees("is not a known one and has no base_url")
	b.fill("https://example.com/v1", "nowhere")
	b.tap("Save")
	b.sees("Not an address such as https://example.com/v1")
	b.fill("https://example.com/v1", "https://models.example/v1")
	b.tap("Save")
	b.sees("is saved.")
	b.wantFile([]string{"base_url: https://models.example/v1", "keychain:gateway-2"}, hush)
	if got, kept := b.secret("gateway-2"), b.secret("gateway"); got != hush || kept != "the clients' key" {
		t.Errorf("the keychain holds %q, and for the clients %q", got, kept)
	}
}

func TestProviderFromEnvironment(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{})
	s := b.modelsScreen()
	s.edit(model.ProviderForm{})
	b.pick("openai")
	b.fill("sk-…", "os.environ/MY_KEY")
	b.tap("Save")
	b.sees("In the environment")
	b.wantFile([]string{"api_key: os.environ/MY_KEY"})
	s.open("openai")
	if got := b.entry("sk-…").Text; got != "os.environ/MY_KEY" {
		t.Errorf("the reference shows as %q", got)
	}
}

// TestModelHealth shows what has become of a provider that refuses the key, as
// soon as it has.
func TestModelHealth(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: fmt.Sprintf("default_model: tiny/tiny-1\nproviders: {tiny: {base_url: %q, api_key: wrong}}\n", fakeProvider(t, "right"))})
	s := b.modelsScreen()
	b.tabs(s.front.(*fyne.Container).Objects[0], 3)
	b.sees("1 deployment, none of them left alone")
	b.sees("Not asked yet")
	if _, err := b.gateway.Chat(t.Context(), gateway.ChatRequest{Prompt: "hello"}); err == nil {
		t.Fatal("the provider took a wrong key")
	}
	b.until("the screen knows", func() bool { return strings.Contains(b.words(), "Key refused until") })
	b.sees("1 of 1 deployment left alone for now")
	b.sees("1 request · 1 failed")
	s.health.list.OnSelected(0)
	b.sees("that key is not known here")
}

// fakeProvider answers whoever shows the key.
func fakeProvider(t *testing.T, key string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error": {"message": "that key is not known here", "code": "invalid_api_key"}}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/models") {
			fmt.Fprint(w, `{"object": "list", "data": [{"id": "tiny-1", "object": "model"}]}`)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "1", "object": "chat.completion", "model": "tiny-1", "choices": []any{
			map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": "x"}}}})
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

func TestProviderTrial(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: fmt.Sprintf("providers: {tiny: {base_url: %q, api_key: \"keychain:tiny\"}}\n", fakeProvider(t, hush))})
	if err := b.keychain.Set(t.Context(), "tiny", "old"); err != nil {
		t.Fatal(err)
	}
	s := b.modelsScreen()
	s.open("tiny")
	b.tap("Test")
	b.sees("It does not work")
	b.fill("In the keychain · replace", hush)
	b.tap("Test")
	b.sees("It works: tiny-1 has answered.")
	b.sees("It has 1 model: tiny-1")
	if b.secret("tiny") != "old" {
		t.Error("a trial has kept the key")
	}
	b.tap("Cancel")
	b.sees("It works: tiny-1 has answered.") // in the list
}

func TestProviderRemoved(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "providers:\n  own: {base_url: \"https://p.example/v1\", api_key: literal-key-q7Zk2mX9}\n"})
	s := b.modelsScreen()
	b.sees("In the file, as text")
	s.open("own")
	b.tap("Remove")
	b.sees("Removed “own”")
	b.wantFile(nil, "p.example")
	b.tap("Undo")
	b.sees("“own” is back.")
	b.wantFile([]string{"https://p.example/v1", "literal-key-q7Zk2mX9"}, "[secret]")
}

func TestProviderConflict(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "providers:\n  own: {base_url: \"https://p.example/v1\"}\n"})
	b.modelsScreen().open("own")
	b.entry("https://example.com/v1").SetText("https://mine.example/v1")
	b.write("providers:\n  own: {base_url: \"https://theirs.example/v1\"}\n")
	b.tap("Save")
	b.sees("https://theirs.example/v1")
	b.wantFile([]string{"theirs.example"}, "mine.example")
	b.tap("Save mine")
	b.sees("is saved.")
	b.wantFile([]string{"mine.example"}, "theirs.example")
}

func TestModelChoices(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "fallback: {model: glm-4.6, base_url: \"https://f.example/v1\"}\n"})
	s := b.modelsScreen()
	c := s.choices
	c.standard.entry.SetText("gpt-6-luna")
	test.Tap(c.standard.save)
	b.until("the default is saved", func() bool { return c.standard.saved == "gpt-6-luna" })
	b.wantFile([]string{"default_model: gpt-6-luna"})
	test.Tap(c.on)
	b.until("the fallback is on", func() bool { return s.view.settings.Config.Fallback.Enabled })
	b.wantFile([]string{"enabled: true", "model: glm-4.6"})
	c.fallback.entry.SetText("deepseek-flash")
	c.fallback.entry.OnSubmitted("")
	b.until("the fallback is saved", func() bool { return c.fallback.saved == "deepseek-flash" })
	b.wantFile([]string{"model: deepseek-flash"}, "glm-4.6")
	b.write("default_model: gpt-6-astra\n") // by another program
	b.until("the form follows", func() bool { return c.standard.entry.Text == "gpt-6-astra" })
}

func TestCatalogueSearch(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{})
	c := b.modelsScreen().catalogue
	if len(c.shown) < 5 {
		t.Fatalf("%d models are shown", len(c.shown))
	}
	test.Type(c.search, "ASTRA")
	if len(c.shown) != 1 || c.shown[0].ID != "gpt-6-astra" || c.count.Text != fmt.Sprintf("1 of %d", len(c.all)) {
		t.Errorf("the search finds %+v, and says %q", c.shown, c.count.Text)
	}
}

func TestProviderWithoutKeychain(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "providers: {deepseek: {api_key: \"keychain:deepseek\"}, openai: {api_key: os.environ/X}}\n", keychain: failingKeychain{secrets.ErrUnavailable}})
	s := b.modelsScreen()
	b.sees("No keychain is available here")
	b.sees("Keychain unreadable")
	b.sees("In the environment")
	s.open("deepseek")
	b.fill("In the keychain · replace", hush)
	b.tap("Save")
	b.sees("name an environment variable")
	b.wantFile([]string{"keychain:deepseek"}, hush)
}
