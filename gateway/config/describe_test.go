package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
)

// secretive holds a secret in every place that can hold one; all contain "s3cr3t".
const secretive = `
gateway: {api_key: s3cr3t-gateway, cors_origins: [http://a.example]}
providers:
  openai: {api_key: s3cr3t-openai, headers: {X-Key: s3cr3t-header}, base_url: 'https://me:s3cr3t@h/v1?api_key=s3cr3t'}
  groq: {api_key: keychain:groq}
fallback: {enabled: true, api_key: s3cr3t-fallback, base_url: http://f/v1, model: fm}
model_list:
  - model_name: a
    litellm_params: {model: openai/x, api_key: s3cr3t-deployment, extra_headers: {A: s3cr3t}}
    model_info: {token: s3cr3t, mode: chat}
mcpServers:
  a: {command: x, args: [--token, s3cr3t-arg, --api-key=s3cr3t, plain], env: {FOO: s3cr3t-env, BAR: '${keychain:bar}'}}
  default: {url: 'https://u:s3cr3t@h/mcp', headers: {Authorization: Bearer s3cr3t, X: 'Bearer ${keychain:x}'}, timeout: 5000}
`

func TestNothingShowsASecret(t *testing.T) {
	store, err := load(t, secretive)
	if err != nil {
		t.Fatal(err)
	}
	c := store.Config()
	described, err := json.Marshal(c.Describe(nil))
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(c.Providers["openai"].APIKey)
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "key", c.Gateway.APIKey)
	for name, out := range map[string]string{
		"json": string(described), "yaml": text, "encoded": string(encoded), "log": logged.String(),
		"%v": fmt.Sprintf("%v %+v %s", c.Fallback, c.Gateway, c.Fallback.APIKey), "%#v": fmt.Sprintf("%#v", c.Gateway), "problems": fmt.Sprint(store.Problems()),
	} {
		if strings.Contains(out, "s3cr3t") {
			t.Errorf("%s shows a secret: %s", name, out)
		}
	}
	for _, part := range []string{"keychain:groq", "${keychain:bar}", "Bearer ${keychain:x}", "plain"} {
		if !strings.Contains(text, part) || !strings.Contains(string(described), part) {
			t.Errorf("%q is not shown", part)
		}
	}
	if problems := config.Faults(config.CheckText("shown.yaml", []byte(text))); problems != nil {
		t.Errorf("the YAML form is no configuration: %v", problems)
	}
}

func TestDescribeHasTheOriginalsKeys(t *testing.T) {
	store, err := load(t, secretive)
	if err != nil {
		t.Fatal(err)
	}
	out := store.Config().Describe(func(s config.Secret) bool { return s != "s3cr3t-fallback" })
	got := map[string]any{}
	for key, value := range out {
		if strings.HasPrefix(key, "llm_") || strings.HasPrefix(key, "mcp_") && key != "mcp_servers" || strings.HasPrefix(key, "gateway_") {
			got[key] = value
		}
	}
	want := map[string]any{
		"llm_provider": "openai", "llm_model_id": "gpt-6-sol", "llm_base_url": "https://secret@h/v1?api_key=secret", "llm_api_key_present": true,
		"llm_timeout_seconds": 120.0, "llm_reasoning_effort": "", "llm_fallback_enabled": true, "llm_fallback_base_url": "http://f/v1", "llm_fallback_model_id": "fm",
		"llm_fallback_api_key_present": false, "mcp_server_url": "https://secret@h/mcp", "mcp_transport": "http", "mcp_timeout_seconds": 5.0, "mcp_allowed_tools": []string{},
		"mcp_require_approval": true, "mcp_max_tool_rounds": 8, "mcp_plan_mode": true, "mcp_loop_detection": true, "mcp_loop_soft_threshold": 3, "mcp_loop_hard_threshold": 5,
		"gateway_api_key_required": true, "gateway_cors_origins": []string{"http://a.example"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if servers, ok := out["mcp_servers"].([]map[string]any); !ok || len(servers) != 2 || servers[0]["name"] != "a" {
		t.Errorf("mcp_servers: %v", out["mcp_servers"])
	}
}

func TestSecretRefs(t *testing.T) {
	store, err := load(t, secretive)
	if err != nil {
		t.Fatal(err)
	}
	want := []config.SecretRef{
		{Path: "mcpServers.a.env.BAR", Ref: "keychain:bar"},
		{Path: "mcpServers.default.headers.X", Ref: "keychain:x"},
		{Path: "providers.groq.api_key", Ref: "keychain:groq"},
	}
	if diff := cmp.Diff(want, store.Config().SecretRefs()); diff != "" {
		t.Error(diff)
	}
}

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	home, err := config.Locate(env(t, "POINTSMAN_HOME="+dir))
	if err != nil || home.Config != dir || !strings.HasPrefix(home.State, dir) || !strings.HasPrefix(home.Runtime, dir) || home.State == home.Runtime {
		t.Errorf("%+v, %v", home, err)
	}
	if _, err := config.Locate(func(string) string { return "" }); err == nil {
		t.Error("no error without any home")
	}
}
