package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/config"
)

// update applies one change to a file and returns the new text.
func update(t *testing.T, text string, mutate func(*config.Config)) string {
	t.Helper()
	path := write(t, text)
	store, err := config.Load(config.Options{Path: path, Getenv: env(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Update(func(c *config.Config) error { mutate(c); return nil }); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestUpdateText(t *testing.T) {
	rule := config.Rule{ID: "r2", Action: "allow", Server: "fs", Tool: "read", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	tests := []struct {
		name, in, want string
		mutate         func(*config.Config)
	}{
		{"scalar", "# head\ntools: # own\n  max_rounds: 3 # three\n\n  parallel: 2\n", "# head\ntools: # own\n  max_rounds: 9 # three\n\n  parallel: 2\n",
			func(c *config.Config) { c.Tools.MaxRounds = 9 }},
		{"quotes stay", "default_model: \"a\"\nreasoning_effort: 'low'\n", "default_model: \"b c\"\nreasoning_effort: 'high'\n",
			func(c *config.Config) { c.DefaultModel, c.ReasoningEffort = "b c", "high" }},
		{"new key in a section", "tools:\n    max_rounds: 3\n# end\nlog: {level: info}\n", "tools:\n    max_rounds: 3\n    parallel: 2\n# end\nlog: {level: info}\n",
			func(c *config.Config) { c.Tools.Parallel = 2 }},
		{"new section", "default_model: a # x", "default_model: a # x\nlog:\n  level: debug",
			func(c *config.Config) { c.Log.Level = "debug" }},
		{"flow", "log: {level: info} # l\ntools: {}\n", "log: {level: warn} # l\ntools: {parallel: 3}\n",
			func(c *config.Config) { c.Log.Level, c.Tools.Parallel = "warn", 3 }},
		{"json", "{\n  \"default_model\": \"a\",\n  \"tools\": {\"parallel\": 3}\n}\n", "{\n  \"default_model\": \"a\",\n  \"tools\": {\"parallel\": 3, \"max_rounds\": 4},\n  \"log\": {\"level\": \"warn\"}\n}\n",
			func(c *config.Config) { c.Tools.MaxRounds, c.Log.Level = 4, "warn" }},
		{"null section", "tools: # mine\nlog:\n", "tools: # mine\n  parallel: 3\nlog:\n",
			func(c *config.Config) { c.Tools.Parallel = 3 }},
		{"add a server", "mcpServers:\n  a: {command: x} # a\n\n# next\nlog: {level: info}\n", "mcpServers:\n  a: {command: x} # a\n  b:\n    command: npx\n    args:\n      - -y\n      - '@x/y'\n\n# next\nlog: {level: info}\n",
			func(c *config.Config) {
				c.MCPServers["b"] = config.MCPServer{Command: "npx", Args: []string{"-y", "@x/y"}}
			}},
		{"a sandbox that is none", "mcpServers:\n  a: {command: x}\n  b: {command: x, sandbox: {enabled: true, network: {allowOutbound: true}}}\n",
			"mcpServers:\n  a: {command: x, sandbox: {enabled: false}}\n  b: {command: x, sandbox: {enabled: false, network: {allowOutbound: true}}}\n",
			func(c *config.Config) {
				a, b := c.MCPServers["a"], c.MCPServers["b"]
				a.Sandbox, b.Sandbox = &config.Sandbox{}, &config.Sandbox{Network: b.Sandbox.Network}
				c.MCPServers["a"], c.MCPServers["b"] = a, b
			}},
		{"remove a server", "mcpServers:\n  a: {command: x} # a\n  # about b\n  b:\n    command: y\n    other: 1\n  c: {command: z}\n", "mcpServers:\n  a: {command: x} # a\n  # about b\n  c: {command: z}\n",
			func(c *config.Config) { delete(c.MCPServers, "b") }},
		{"remove the last server", "mcpServers:\n  a:\n    command: x\nlog: {level: info}\n", "mcpServers: {}\nlog: {level: info}\n",
			func(c *config.Config) { delete(c.MCPServers, "a") }},
		{"unknown keys of a server stay", "mcpServers:\n  a: {command: x, vendorKey: [1, 2], args: [y]}\n", "mcpServers:\n  a: {command: x, vendorKey: [1, 2], args: [z], disabled: true}\n",
			func(c *config.Config) {
				s := c.MCPServers["a"]
				s.Args, s.Disabled = []string{"z"}, true
				c.MCPServers["a"] = s
			}},
		{"tools absent becomes empty", "mcpServers: {a: {command: x}}\n", "mcpServers: {a: {command: x, tools: []}}\n",
			func(c *config.Config) { s := c.MCPServers["a"]; s.Tools = []string{}; c.MCPServers["a"] = s }},
		{"tools empty becomes absent", "mcpServers: {a: {command: x, tools: []}}\n", "mcpServers: {a: {command: x}}\n",
			func(c *config.Config) { s := c.MCPServers["a"]; s.Tools = nil; c.MCPServers["a"] = s }},
		{"list grows", "tools:\n  safe:\n  - a # first\n  # second\n  - b\n", "tools:\n  safe:\n  - a # first\n  # second\n  - b\n  - c\n",
			func(c *config.Config) { c.Tools.Safe = append(c.Tools.Safe, "c") }},
		{"list shrinks", "tools:\n  safe:\n    - a # first\n    # second\n    - b # bb\n    - c\n", "tools:\n  safe:\n    - a # first\n    # second\n    - c\n",
			func(c *config.Config) { c.Tools.Safe = []string{"a", "c"} }},
		{"list from empty", "approvals:\n  rules: [] # written by the app\n  require: true\n", "approvals:\n  rules: # written by the app\n    - id: r2\n      action: allow\n      server: fs\n      tool: read\n      created: \"2026-01-02T03:04:05Z\"\n  require: true\n",
			func(c *config.Config) { c.Approvals.Rules = []config.Rule{rule} }},
		{"list to empty", "approvals:\n  deny:\n    - a # why\nlog: {level: info}\n", "approvals:\n  deny: [] # why\nlog: {level: info}\n",
			func(c *config.Config) { c.Approvals.Deny = nil }},
		{"element of a list", "model_list:\n  - model_name: a # A\n    litellm_params: {model: openai/x, top_p: 1}\n  - model_name: b\n    litellm_params: {model: openai/y}\n",
			"model_list:\n  - model_name: a # A\n    litellm_params: {model: openai/z, top_p: 1}\n  - model_name: b\n    litellm_params: {model: openai/y}\n",
			func(c *config.Config) { c.ModelList[0].LiteLLMParams.Model = "openai/z" }},
		{"first key of an element goes", "models:\n  - label: L\n    id: a\n", "models:\n  - id: a\n",
			func(c *config.Config) { c.Models[0].Label = "" }},
		{"windows line ends", "tools:\r\n  parallel: 2 # two\r\nlog: {level: info}\r\n", "tools:\r\n  parallel: 3 # two\r\n  max_rounds: 4\r\nlog: {level: info}\r\n",
			func(c *config.Config) { c.Tools.Parallel, c.Tools.MaxRounds = 3, 4 }},
		{"block text", "model_list: [{model_name: \"*\", litellm_params: {model: openai/x}}]\ncapabilities:\n  coding: |\n    Writing.\n    Reviewing.\n  fast: short\n", "model_list: [{model_name: \"*\", litellm_params: {model: openai/x}}]\ncapabilities:\n  coding: \"All.\\nOf it.\"\n  fast: short\n  z: new\n",
			func(c *config.Config) { c.Capabilities["coding"], c.Capabilities["z"] = "All.\nOf it.", "new" }},
		{"text over several lines", "default_model: a\n  b\n  c # d\nlog: {level: info}\n", "default_model: e # d\nlog: {level: info}\n",
			func(c *config.Config) { c.DefaultModel = "e" }},
		{"outside ASCII", "model_list: [{model_name: \"*\", litellm_params: {model: openai/x}}]\ncapabilities: {é: \"ü\", ß: b} # ñ\n", "model_list: [{model_name: \"*\", litellm_params: {model: openai/x}}]\ncapabilities: {é: \"ü\", ß: c} # ñ\n",
			func(c *config.Config) { c.Capabilities["ß"] = "c" }},
		{"comment only", "# nothing yet\n", "# nothing yet\nlog:\n  level: warn\n", func(c *config.Config) { c.Log.Level = "warn" }},
		{"document mark", "---\n# a\nlog: {level: info}\n...\n", "---\n# a\nlog: {level: info}\ndefault_model: m\n...\n", func(c *config.Config) { c.DefaultModel = "m" }},
		{"flow list", "tools: {safe: [a, b, c], risky: [x]}\n", "tools: {safe: [b, c, d], risky: []}\n",
			func(c *config.Config) { c.Tools.Safe, c.Tools.Risky = []string{"b", "c", "d"}, nil }},
		{"duration", "approvals: {timeout: 5m}\n", "approvals: {timeout: 1m30s}\n", func(c *config.Config) { c.Approvals.Timeout = config.Duration(90 * time.Second) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := update(t, tt.in, tt.mutate); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestUpdateWithoutChangeLeavesTheFileAlone(t *testing.T) {
	const text = "default_model:   'x'   # odd  \n\n\n"
	path := write(t, text)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	store, err := config.Load(config.Options{Path: path, Getenv: env(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Update(func(*config.Config) error { return nil }); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was replaced (%v)", err)
	}
}

func TestUpdateMakesANewFile(t *testing.T) {
	home := filepath.Join(t.TempDir(), "deep", "home")
	store, err := config.Load(config.Options{Getenv: env(t, "POINTSMAN_HOME="+home)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Update(func(c *config.Config) error { c.Log.Level = "warn"; return nil }); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(home, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "# Pointsman") || !strings.HasSuffix(string(text), "log:\n  level: warn\n") {
		t.Errorf("new file:\n%s", text)
	}
	if problems := config.Check(store.Path()); len(problems) > 0 {
		t.Errorf("it has problems: %v", problems)
	}
}
