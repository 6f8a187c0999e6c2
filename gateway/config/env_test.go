package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
)

func fromEnv(t *testing.T, file string, pairs ...string) *config.Config {
	t.Helper()
	store, err := load(t, file, pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return store.Config()
}

func TestEnvironmentModel(t *testing.T) {
	c := fromEnv(t, "", "LLM_PROVIDER=DeepSeek", "LLM_API_KEY=sk-1", "LLM_BASE_URL=http://h/v1", "LLM_MODEL_ID=m",
		"LLM_TIMEOUT_SECONDS=2.5", "LLM_REASONING_EFFORT=High", "LLM_FALLBACK_ENABLED=yes", "LLM_FALLBACK_API_KEY=sk-2",
		"LLM_FALLBACK_BASE_URL=http://f/v1", "LLM_FALLBACK_MODEL_ID=fm", "LLM_FALLBACK_TIMEOUT_SECONDS=7")
	want := config.Provider{BaseURL: "http://h/v1", APIKey: "os.environ/LLM_API_KEY"}
	if diff := cmp.Diff(want, c.Providers["deepseek"]); diff != "" {
		t.Error(diff)
	}
	fallback := config.Fallback{Enabled: true, BaseURL: "http://f/v1", APIKey: "os.environ/LLM_FALLBACK_API_KEY", Model: "fm", Timeout: config.Duration(7 * time.Second)}
	if diff := cmp.Diff(fallback, c.Fallback); diff != "" {
		t.Error(diff)
	}
	if c.DefaultProvider != "deepseek" || c.DefaultModel != "m" || c.ReasoningEffort != "high" || c.Limits.RequestTimeoutS != 2.5 {
		t.Errorf("provider %q, model %q, effort %q, timeout %v", c.DefaultProvider, c.DefaultModel, c.ReasoningEffort, c.Limits.RequestTimeoutS)
	}
}

func TestEnvironmentProvider(t *testing.T) {
	tests := []struct {
		name, file string
		env        []string
		provider   string
		want       config.Provider
	}{
		{"key alone means openai", "", []string{"LLM_API_KEY=k"}, "openai", config.Provider{APIKey: "os.environ/LLM_API_KEY"}},
		{"address alone means openai", "", []string{"LLM_BASE_URL=http://h"}, "openai", config.Provider{BaseURL: "http://h"}},
		{"any name with an address", "", []string{"LLM_PROVIDER=corp", "LLM_BASE_URL=http://h"}, "corp", config.Provider{BaseURL: "http://h"}},
		{"a name of the file", "providers: {corp: {base_url: 'http://c', api_key: keychain:c}}", []string{"LLM_PROVIDER=corp"}, "corp", config.Provider{BaseURL: "http://c", APIKey: "keychain:c"}},
		{"the file's other settings stay", "providers: {openai: {timeout: 3s, api_key: keychain:x}}", []string{"LLM_API_KEY=k"}, "openai", config.Provider{Timeout: config.Duration(3 * time.Second), APIKey: "os.environ/LLM_API_KEY"}},
		{"a reference stays one", "", []string{"LLM_API_KEY=keychain:mine"}, "openai", config.Provider{APIKey: "keychain:mine"}},
		{"empty is unset", "default_provider: groq", []string{"LLM_PROVIDER=", "LLM_API_KEY=", "LLM_BASE_URL="}, "groq", config.Provider{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fromEnv(t, tt.file, tt.env...)
			if c.DefaultProvider != tt.provider {
				t.Errorf("default_provider = %q", c.DefaultProvider)
			}
			if diff := cmp.Diff(tt.want, c.Providers[tt.provider]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnvironmentServers(t *testing.T) {
	stdio := func(command string, args ...string) config.MCPServer {
		return config.MCPServer{Type: "stdio", Command: command, Args: args}
	}
	tests := []struct {
		name string
		env  []string
		want map[string]config.MCPServer
	}{
		{"array", []string{`MCP_SERVERS=[{"name":"a","transport":"stdio","command":"npx -y 'x y' \"z\""},{"name":"b","transport":"streamable_http","url":"https://h/mcp","auth_token":"tok"}]`},
			map[string]config.MCPServer{"a": stdio("npx", "-y", "x y", "z"), "b": {Type: "http", URL: "https://h/mcp", Headers: map[string]config.Secret{"Authorization": "Bearer tok"}}}},
		{"a command line as url", []string{`MCP_SERVERS=[{"name":"a","transport":"stdio","url":"python -m srv"}]`}, map[string]config.MCPServer{"a": stdio("python", "-m", "srv")}},
		{"array beats url", []string{`MCP_SERVERS=[]`, "MCP_SERVER_URL=http://h/mcp"}, map[string]config.MCPServer{}},
		{"url", []string{"MCP_SERVER_URL=http://h/mcp", "MCP_AUTH_TOKEN=tok"}, map[string]config.MCPServer{"default": {Type: "http", URL: "http://h/mcp", Headers: map[string]config.Secret{"Authorization": "Bearer ${env:MCP_AUTH_TOKEN}"}}}},
		{"url with transport", []string{"MCP_SERVER_URL=http://h/sse", "MCP_TRANSPORT=sse"}, map[string]config.MCPServer{"default": {Type: "sse", URL: "http://h/sse"}}},
		{"command", []string{"MCP_SERVER_URL=srv --flag", "MCP_TRANSPORT=stdio", "MCP_TIMEOUT_SECONDS=1.5"}, map[string]config.MCPServer{"default": {Type: "stdio", Command: "srv", Args: []string{"--flag"}, Timeout: 1500}}},
		{"neither", nil, map[string]config.MCPServer{"file": {Command: "f"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fromEnv(t, "mcpServers: {file: {command: f}}", tt.env...)
			if diff := cmp.Diff(tt.want, c.MCPServers); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnvironmentTools(t *testing.T) {
	c := fromEnv(t, "", "MCP_ALLOWED_TOOLS= a , b,,c", "MCP_REQUIRE_APPROVAL=off", "MCP_MAX_TOOL_ROUNDS=5", "MCP_PLAN_MODE=0", "MCP_LOOP_DETECTION=ON",
		"MCP_LOOP_SOFT_THRESHOLD=2", "MCP_LOOP_HARD_THRESHOLD=4", "GATEWAY_API_KEY=gk", "GATEWAY_CORS_ORIGINS=http://a.example,http://b.example")
	if !slices.Equal(c.Tools.Allowed, []string{"a", "b", "c"}) || c.Approvals.Require || c.Tools.MaxRounds != 5 || c.Tools.PlanMode {
		t.Errorf("tools: %+v, approvals: %+v", c.Tools, c.Approvals)
	}
	if want := (config.LoopDetection{Enabled: true, Soft: 2, Hard: 4}); c.Tools.LoopDetection != want {
		t.Errorf("loop detection: %+v", c.Tools.LoopDetection)
	}
	if c.Gateway.APIKey != "os.environ/GATEWAY_API_KEY" || !slices.Equal(c.Gateway.CORSOrigins, []string{"http://a.example", "http://b.example"}) {
		t.Errorf("gateway: %+v", c.Gateway)
	}
}

func TestEnvironmentFaults(t *testing.T) {
	for _, tt := range []struct{ pair, want string }{
		{"LLM_PROVIDER=nobody", "openai, deepseek"}, {"LLM_TIMEOUT_SECONDS=soon", "seconds"}, {"LLM_TIMEOUT_SECONDS=0", "above zero"}, {"LLM_TIMEOUT_SECONDS=NaN", "above zero"},
		{"LLM_TIMEOUT_SECONDS=1e300", "above zero"}, {"LLM_REASONING_EFFORT=very", "minimal, low"}, {"LLM_FALLBACK_ENABLED=maybe", "true"},
		{"MCP_SERVERS={}", "JSON array"}, {"MCP_SERVERS=[{]", "JSON array"}, {"MCP_SERVERS=[] x", "follows"}, {`MCP_SERVERS=[{"url":"http://h"}]`, "no name"},
		{`MCP_SERVERS=[{"name":"a"}]`, `"a"`}, {`MCP_SERVERS=[{"name":"a","transport":"pigeon","url":"http://h"}]`, "pigeon"}, {`MCP_SERVERS=[{"name":"a","url":"http://h"},{"name":"a","url":"http://h"}]`, "two entries"},
		{`MCP_SERVERS=[{"name":"a","transport":"http","url":"npx x"}]`, "http://"}, {`MCP_SERVERS=[{"name":"a","command":"x 'y"}]`, "quotes"}, {`MCP_SERVERS=[{"name":"a","command":"x","url":"y"}]`, "both"},
		{"MCP_MAX_TOOL_ROUNDS=-1", "at least 1"}, {"MCP_MAX_TOOL_ROUNDS=1.5", "whole number"}, {"MCP_LOOP_SOFT_THRESHOLD=0", "at least 1"},
	} {
		t.Run(tt.pair, func(t *testing.T) {
			name, _, _ := strings.Cut(tt.pair, "=")
			_, err := load(t, "", tt.pair)
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %s and %q", err, name, tt.want)
			}
		})
	}
}

func TestEnvironmentFaultsDoNotShowSecrets(t *testing.T) {
	for _, pair := range []string{`MCP_SERVERS=[{"name":"a","transport":"http","url":"no","auth_token":"s3cr3t-token"}]`, `MCP_SERVERS=["s3cr3t-token"]`, `MCP_SERVERS=[{"auth_token":"s3cr3t-token"`} {
		if _, err := load(t, "", pair); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: error = %v", pair, err)
		}
	}
}

func TestDotEnvIsReadForModelsAlone(t *testing.T) {
	dotenv := filepath.Join(t.TempDir(), ".env")
	text := "LLM_API_KEY=from-dotenv\nLLM_MODEL_ID=\"dot model\" # c\nMCP_REQUIRE_APPROVAL=false\nGATEWAY_API_KEY=stolen\nMCP_SERVERS=[{\"name\":\"evil\",\"command\":\"sh\"}]\nPOINTSMAN_CONFIG=/x\n"
	if err := os.WriteFile(dotenv, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := write(t, "default_model: file")
	store, err := config.Load(config.Options{Path: path, Getenv: env(t, "LLM_MODEL_ID=real"), DotEnv: dotenv})
	if err != nil {
		t.Fatal(err)
	}
	c := store.Config()
	if c.DefaultModel != "real" {
		t.Errorf("the real environment does not win: %q", c.DefaultModel)
	}
	if c.Providers["openai"].APIKey != "from-dotenv" {
		t.Errorf("the key of .env is not used: %v", c.Providers["openai"])
	}
	if !c.Approvals.Require || c.Gateway.APIKey != "keychain:gateway" || len(c.MCPServers) != 0 {
		t.Errorf("other names leak from .env: %+v %+v", c.Gateway, c.MCPServers)
	}
	if _, ok := store.LookupEnv("GATEWAY_API_KEY"); ok {
		t.Error("LookupEnv gives other names of .env")
	}
	for _, p := range store.Problems() {
		if strings.Contains(p.Error(), "stands in the file") {
			t.Errorf("a key of .env is reported as being in the file: %v", p)
		}
	}
	if _, err := config.Load(config.Options{Path: path, Getenv: env(t), DotEnv: filepath.Join(t.TempDir(), ".env")}); err != nil {
		t.Errorf("an absent .env is an error: %v", err)
	}
}

func TestUpdateKeepsTheEnvironmentOutOfTheFile(t *testing.T) {
	dotenv := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(dotenv, []byte("LLM_API_KEY=from-dotenv\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := write(t, "log: {level: info}\n")
	store, err := config.Load(config.Options{Path: path, DotEnv: dotenv, Getenv: env(t, "GATEWAY_API_KEY=gk", "MCP_MAX_TOOL_ROUNDS=5", `MCP_SERVERS=[{"name":"a","url":"http://h/mcp","auth_token":"s3cr3t-token"}]`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Update(func(c *config.Config) error { c.Log.Level = "warn"; return nil }); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != "log: {level: warn}\n" {
		t.Errorf("file: %s", text)
	}
	if c := store.Config(); c.Tools.MaxRounds != 5 || c.MCPServers["a"].URL == "" {
		t.Error("the environment is not in force any more")
	}
	for name, mutate := range map[string]func(*config.Config){
		".env":   func(c *config.Config) { c.Providers = store.Config().Providers },
		"array":  func(c *config.Config) { c.MCPServers = store.Config().MCPServers },
		"masked": func(c *config.Config) { c.Gateway.APIKey = config.Secret(config.Secret("literal-key").String()) },
	} {
		err := store.Update(func(c *config.Config) error { mutate(c); return nil })
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "from-dotenv") {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}
