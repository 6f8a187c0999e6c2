package config_test

import (
	"cmp"
	"strings"
	"testing"

	compare "github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
)

const flowing = `
providers:
  openai: {api_key: keychain:openai}
  corp: {base_url: "http://corp/v1", headers: {X-Key: "${env:CORP}"}}
  plain: {base_url: "http://plain/v1"}
fallback: {base_url: "http://second/v1", api_key: keychain:second}
model_list:
  - {model_name: own, litellm_params: {model: plain/x, api_key: os.environ/OWN}}
  - {model_name: there, litellm_params: {model: openai/x, api_base: "http://there/v1", api_key: keychain:there}}
mcpServers:
  hub: {url: "http://hub/mcp", headers: {Authorization: "Bearer ${keychain:hub}"}}
`

// TestWhereSecretsGoIsHeld: another program decides neither where a secret is
// sent nor which.
func TestWhereSecretsGoIsHeld(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to string // of the text
		held     []string
		env      []string
		file     string // "": flowing
	}{
		{name: "address of a known provider", from: "openai: {api_key", to: "openai: {base_url: 'http://evil/v1', api_key",
			held: []string{"provider openai would send its key to http://evil/v1"}},
		{name: "address beside headers", from: "http://corp/v1", to: "http://evil/v1", held: []string{"provider corp would send its key to http://evil/v1"}},
		{name: "user in the address", from: "http://corp/v1", to: "http://u:hunter22@evil/v1", held: []string{"provider corp would send its key to http://secret@evil/v1"}},
		{name: "new provider", from: "  plain:", to: "  evil: {base_url: 'http://evil/v1', api_key: '${keychain:openai}'}\n  plain:",
			held: []string{"provider evil would send its key to http://evil/v1"}},
		{name: "another secret to the same address", from: "${env:CORP}", to: "${keychain:openai}", held: []string{"provider corp would send its key to http://corp/v1"}},
		{name: "a plain variable", from: "plain: {", to: "plain: {api_key: $OPENAI_API_KEY, ", held: []string{"provider plain would send its key to http://plain/v1"}},
		{name: "a known provider gets another's key", from: "  plain:", to: "  groq: {api_key: keychain:openai}\n  plain:",
			held: []string{"provider groq would send its key to groq's own address"}},
		{name: "fallback", from: "http://second/v1", to: "http://evil/v1", held: []string{"fallback would send its key to http://evil/v1"}},
		{name: "api_base", from: "http://there/v1", to: "http://evil/v1", held: []string{`model_list: "there" would send its key to http://evil/v1`}},
		{name: "base_url of a deployment", from: "model: plain/x,", to: "model: plain/x, base_url: 'http://evil/v1',",
			held: []string{`model_list: "own" would send its key to http://evil/v1`}},
		{name: "headers of a deployment", from: "model: plain/x, api_key: os.environ/OWN", to: "model: plain/x, extra_headers: {A: 'Bearer ${keychain:hub}'}",
			held: []string{`model_list: "own" would send its key to http://plain/v1`}},
		{name: "another provider for a deployment", from: "model: plain/x", to: "model: corp/x", held: []string{`model_list: "own" would send its key to http://corp/v1`}},
		{name: "the provider that a deployment goes to", from: "http://plain/v1", to: "http://evil/v1", held: []string{`model_list: "own" would send its key to http://evil/v1`}},
		{name: "any provider for a deployment", from: "model: plain/x", to: "model: corp-x", held: []string{`model_list: "own" would send its key to the provider that has corp-x`}},
		{name: "the provider that a deployment may go to", from: "http://plain/v1", to: "http://evil/v1", file: strings.Replace(flowing, "model: plain/x", "model: grok", 1),
			held: []string{`model_list: "own" would send its key to http://evil/v1`}},
		{name: "put back what makes the rest of it bad", from: "  - {model_name: own, litellm_params: {model: plain/x, api_key: os.environ/OWN}}\n  - {model_name: there, litellm_params: {model: openai/x, api_base: \"http://there/v1\"",
			to:   "  - {model_name: there, litellm_params: {model: openai/x, api_base: \"http://evil/v1\"",
			held: []string{`model_list: "there" would send its key to http://evil/v1`}},
		{name: "the key of the environment", from: "openai: {api_key: keychain:openai}", to: "openai: {base_url: 'http://evil/v1'}", env: []string{"LLM_API_KEY=hunter22"},
			held: []string{"provider openai would send its key to http://evil/v1"}},
		{name: "the key of the environment, of a provider", from: "http://plain/v1", to: "http://plain2/v1", env: []string{"LLM_PROVIDER=plain", "LLM_API_KEY=hunter22"},
			held: []string{"provider plain would send its key to http://plain2/v1"}},
		{name: "server headers", from: "Bearer ${keychain:hub}", to: "Bearer ${keychain:openai}", held: []string{`mcpServers: server "hub" would be sent another secret`}},
		{name: "server address", from: "http://hub/mcp", to: "http://evil/mcp", held: []string{`mcpServers: server "hub" would be at another address`}},

		{name: "no secret: an address", from: "  plain:", to: "  evil: {base_url: 'http://evil/v1'}\n  plain:"},
		{name: "no secret: a literal", from: "  plain:", to: "  evil: {base_url: 'http://evil/v1', api_key: mine}\n  plain:"},
		{name: "no secret any more", from: "openai: {api_key: keychain:openai}", to: "openai: {base_url: 'http://evil/v1'}"},
		{name: "a known provider is set up", from: "  plain:", to: "  groq: {api_key: keychain:groq}\n  plain:"},
		{name: "a timeout", from: "openai: {api_key", to: "openai: {timeout: 5s, api_key"},
		{name: "a deployment more that sends nothing new", from: "model_list:\n", to: "model_list:\n  - {model_name: more, litellm_params: {model: plain/y, api_key: os.environ/OWN}}\n"},
		{name: "a header goes", from: ", headers: {Authorization: \"Bearer ${keychain:hub}\"}", to: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := cmp.Or(test.file, flowing)
			store, err := config.Load(config.Options{Path: write(t, file), Getenv: env(t, test.env...)})
			if err != nil {
				t.Fatal(err)
			}
			was := store.Config()
			text := strings.Replace(file, test.from, test.to, 1)
			if text == file {
				t.Fatal("the case changes nothing")
			}
			changes := watch(t, store)
			replace(t, store.Path(), text)
			c := next(t, changes)
			if c.Err != nil {
				t.Fatal(c.Err)
			}
			if diff := compare.Diff(test.held, c.Held); diff != "" {
				t.Error(diff)
			}
			if same := compare.Diff(was.Providers, store.Config().Providers) + compare.Diff(was.ModelList, store.Config().ModelList) +
				compare.Diff(was.Fallback, store.Config().Fallback) + compare.Diff(was.MCPServers, store.Config().MCPServers); (same == "") != (len(test.held) > 0) {
				t.Errorf("in force is %s", same)
			}
			if len(test.held) == 0 {
				return
			}
			if err := store.AcceptHeld(store.Snapshot().Revision); err != nil || len(store.Held()) > 0 {
				t.Errorf("after the yes: %v, held %q", err, store.Held())
			}
		})
	}
}

// TestThePersonDecidesWhereSecretsGo: what a form saves is not held.
func TestThePersonDecidesWhereSecretsGo(t *testing.T) {
	store, err := load(t, flowing)
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []config.Edit{
		{Path: []string{"providers", "openai", "base_url"}, Value: "http://new/v1"},
		{Path: []string{"providers", "plain", "base_url"}, Value: "http://new/v1"},
		{Path: []string{"fallback", "base_url"}, Value: "http://new/v1"},
		{Path: []string{"model_list"}, Remove: true},
	} {
		if err := store.Edit(store.Snapshot().Revision, []config.Edit{edit}); err != nil || len(store.Held()) > 0 {
			t.Errorf("%v: %v, held %q", edit.Path, err, store.Held())
		}
	}
	if got := store.Config(); got.Providers["openai"].BaseURL != "http://new/v1" || got.Fallback.BaseURL != "http://new/v1" {
		t.Errorf("in force: %+v", got.Providers)
	}
}
