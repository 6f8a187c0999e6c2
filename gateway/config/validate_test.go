package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pointsman/gateway/config"
)

func TestCheckFaults(t *testing.T) {
	tests := []struct {
		name, text string
		line       int
		path       string
		want       []string // parts of the message
	}{
		{"unknown key", "tools:\n  max_round: 3\n", 2, "tools.max_round", []string{"max_round", `did you mean "max_rounds"?`}},
		{"unknown section", "\n\ngatway: {}\n", 3, "gatway", []string{`did you mean "gateway"?`}},
		{"swapped letters", "mpcServers: {}\n", 1, "mpcServers", []string{`"mcpServers"`}},
		{"nothing like it", "zzzzzz: 1\n", 1, "zzzzzz", []string{"unknown key", "allowed:"}},
		{"wrong type", "tools:\n  max_rounds: many\n", 2, "tools.max_rounds", []string{"a whole number", `"many"`}},
		{"fraction", "tools: {parallel: 1.5}\n", 1, "tools.parallel", []string{"a whole number"}},
		{"quoted number", "tools: {parallel: \"3\"}\n", 1, "tools.parallel", []string{"a whole number"}},
		{"not a switch", "approvals: {require: maybe}\n", 1, "approvals.require", []string{"true or false"}},
		{"list for text", "default_model: [a]\n", 1, "default_model", []string{"must be text, not a list"}},
		{"text for list", "tools:\n  safe: a\n", 2, "tools.safe", []string{"must be a list"}},
		{"text for keys", "gateway: yes\n", 1, "gateway", []string{"keys with values"}},
		{"duration", "approvals: {timeout: soon}\n", 1, "approvals.timeout", []string{"30s"}},
		{"enum", "approvals:\n  approver: askk\n", 2, "approvals.approver", []string{"ask, deny, allow, static", `"ask"`}},
		{"theme", "desktop: {theme: blue}\n", 1, "desktop.theme", []string{"system, light, dark"}},
		{"effort", "reasoning_effort: hgih\n", 1, "reasoning_effort", []string{`"high"`}},
		{"listen without port", "gateway: {listen: localhost}\n", 1, "gateway.listen", []string{"127.0.0.1:8640"}},
		{"listen with bad port", "gateway: {listen: 'localhost:99999'}\n", 1, "gateway.listen", []string{"listen address"}},
		{"listen everywhere", "gateway: {listen: 0.0.0.0:8640}\n", 1, "gateway.listen", []string{"allow_remote"}},
		{"listen on all by absence", "gateway: {listen: ':8640'}\n", 1, "gateway.listen", []string{"allow_remote"}},
		{"remote without auth", "gateway:\n  listen: 0.0.0.0:8640\n  allow_remote: true\n  auth: none\n", 4, "gateway.auth", []string{"loopback"}},
		{"remote without key", "gateway:\n  listen: 0.0.0.0:8640\n  allow_remote: true\n  api_key: ''\n", 4, "gateway.api_key", []string{"needs a key"}},
		{"negative", "journal:\n  keep_days: -1\n", 2, "journal.keep_days", []string{"negative"}},
		{"negative fraction", "limits: {request_timeout_s: -0.5}\n", 1, "limits.request_timeout_s", []string{"negative"}},
		{"negative in a list", "model_list:\n- model_name: a\n  litellm_params: {model: openai/x, rpm: -3}\n", 3, "model_list[0].litellm_params.rpm", []string{"negative"}},
		{"zero rounds", "tools: {max_rounds: 0}\n", 1, "tools.max_rounds", []string{"above zero"}},
		{"duplicate key", "log: {level: info}\nroots: []\nlog: {level: warn}\n", 3, "log", []string{"already set in line 1"}},
		{"duplicate server", "mcpServers:\n  a: {command: x}\n  a: {command: y}\n", 3, "mcpServers.a", []string{"already set in line 2"}},
		{"unknown provider", "providers:\n  opnai: {api_key: keychain:x}\n", 2, "providers.opnai", []string{"base_url", `"openai"`}},
		{"provider that needs an address", "providers:\n  azure: {api_key: keychain:x}\n", 2, "providers.azure", []string{"base_url"}},
		{"provider with a bad address", "providers: {corp: {base_url: 'corp:8000'}}\n", 1, "providers.corp.base_url", []string{"https://"}},
		{"unknown default provider", "default_provider: opnai\n", 1, "default_provider", []string{`"openai"`}},
		{"unknown prefix", "model_list:\n  - model_name: a\n    litellm_params: {model: opnai/x}\n", 3, "model_list[0].litellm_params.model", []string{"api_base", `"openai"`}},
		{"deployment without a model", "model_list:\n  - model_name: a\n", 2, "model_list[0].litellm_params.model", []string{"litellm_params.model"}},
		{"prefix without an address", "capabilities: {a: x}\nmodel_list:\n  - model_name: a\n    litellm_params: {model: bedrock/x}\n", 4, "model_list[0].litellm_params.model", []string{"api_base"}},
		{"prefix of one's own address", "model_list:\n  - model_name: a\n    litellm_params: {model: hosted_vllm/x}\n", 3, "model_list[0].litellm_params.model", []string{"api_base"}},
		{"undeclared capability", "capabilities: {coding: x}\nmodel_list:\n- {model_name: coding, litellm_params: {model: openai/x}}\n- {model_name: codin, litellm_params: {model: openai/x}}\n", 4, "model_list[1].model_name", []string{"not under capabilities", `"coding"`}},
		{"capability without deployment", "model_list: [{model_name: coding, litellm_params: {model: openai/x}}]\ncapabilities:\n  coding: x\n  fast: y\n", 4, "capabilities.fast", []string{"no deployment", "model_name: fast"}},
		{"fallback to nothing", "router_settings:\n  fallbacks:\n  - sol: [lunna]\n", 3, "router_settings.fallbacks[0].sol[0]", []string{`falls back to "lunna"`}},
		{"default fallback to nothing", "router_settings:\n  default_fallbacks: [sol, nothing]\n", 2, "router_settings.default_fallbacks[1]", []string{`"nothing"`}},
		{"context fallback to nothing", "router_settings:\n  context_window_fallbacks: [{sol: [nothing]}]\n", 2, "router_settings.context_window_fallbacks[0].sol[0]", []string{`"nothing"`}},
		{"empty ladder", "marathon:\n  ladder: []\n", 2, "marathon.ladder", []string{"1 to 10"}},
		{"ladder too long", "marathon: {ladder: [gpt-6-sol, gpt-6-sol, gpt-6-sol, gpt-6-sol, gpt-6-sol, gpt-6-sol, gpt-6-sol, gpt-6-sol, gpt-6-sol, gpt-6-sol, gpt-6-sol]}\n", 1, "marathon.ladder", []string{"11 models"}},
		{"ladder to nothing", "marathon:\n  ladder: [gpt-6-sol, nothing]\n", 2, "marathon.ladder[1]", []string{`"nothing"`}},
		{"policy fallback to nothing", "router_settings:\n  content_policy_fallbacks: [{sol: [nothing]}]\n", 2, "router_settings.content_policy_fallbacks[0].sol[0]", []string{`"nothing"`}},
		{"fallback of LiteLLM's section", "litellm_settings:\n  num_retries: 1\n  fallbacks: [{sol: [nothing]}]\n", 3, "router_settings.fallbacks[0].sol[0]", []string{`"nothing"`}},
		{"fallback to itself", "router_settings:\n  fallbacks: [{sol: [sol]}]\n", 2, "router_settings.fallbacks[0].sol[0]", []string{"itself"}},
		{"fallback to itself by an alias", "router_settings:\n  model_group_alias: {mine: sol}\n  fallbacks: [{sol: [mine]}]\n", 3, "router_settings.fallbacks[0].sol[0]", []string{"itself"}},
		{"circle of two", "router_settings:\n  fallbacks:\n  - sol: [luna]\n  - luna: [astra, sol]\n", 3, "router_settings.fallbacks[0].sol", []string{"luna → sol → luna"}},
		{"circle of three", "router_settings:\n  fallbacks:\n  - sol: [luna]\n  - luna: [astra]\n  - astra: [sol]\n", 4, "router_settings.fallbacks[1].luna", []string{"astra → sol → luna → astra"}},
		{"alias of nothing", "router_settings:\n  model_group_alias: {mine: nothing}\n", 2, "router_settings.model_group_alias.mine", []string{`"nothing"`}},
		{"no requests at all", "model_list:\n- model_name: a\n  litellm_params: {model: openai/x, rpm: 0}\n", 3, "model_list[0].litellm_params.rpm", []string{"above zero"}},
		{"no weight at all", "model_list:\n- model_name: a\n  litellm_params: {model: openai/x, weight: 0}\n- model_name: a\n  litellm_params: {model: openai/y, weight: 0}\n", 3, "model_list[0].litellm_params.weight", []string{"weight 0"}},
		{"endless retries", "router_settings: {num_retries: 1000000}\n", 1, "router_settings.num_retries", []string{"more than"}},
		{"retry after the deadline", "router_settings: {retry_after: 500}\n", 1, "router_settings.retry_after", []string{"more than"}},
		{"a week of cooling", "router_settings: {cooldown_time: 604800}\n", 1, "router_settings.cooldown_time", []string{"more than"}},
		{"negative weight", "model_list:\n- model_name: a\n  litellm_params: {model: openai/x, weight: -1}\n", 3, "model_list[0].litellm_params.weight", []string{"negative"}},
		{"server with nothing", "mcpServers:\n  a: {args: [x]}\n", 2, "mcpServers.a", []string{"neither command nor url"}},
		{"server with both", "mcpServers:\n  a: {command: x, url: 'http://h/mcp'}\n", 2, "mcpServers.a", []string{"both"}},
		{"server of no type", "mcpServers:\n  a: {type: htp, url: 'http://h/mcp'}\n", 2, "mcpServers.a.type", []string{"streamable-http", `"http"`}},
		{"local server with url", "mcpServers:\n  a: {type: local, url: 'http://h/mcp'}\n", 2, "mcpServers.a", []string{"needs a command"}},
		{"two working directories", "mcpServers:\n  a: {command: x, cwd: /a, workingDirectory: /b}\n", 2, "mcpServers.a.workingDirectory", []string{"cwd"}},
		{"negative start time-out", "mcpServers:\n  a: {command: x, startTimeout: -1}\n", 2, "mcpServers.a.startTimeout", []string{"negative"}},
		{"grant type", "mcpServers:\n  a: {url: 'http://h/mcp', oauthGrantType: client_credential}\n", 2, "mcpServers.a.oauthGrantType", []string{`"client_credentials"`}},
		{"scopes in one text", "mcpServers:\n  a:\n    url: http://h/mcp\n    oauthClientId: c\n    oauthScopes: [good, 'read write']\n", 5, "mcpServers.a.oauthScopes[1]", []string{"without spaces"}},
		{"scopes without a client", "mcpServers:\n  a: {url: 'http://h/mcp', oauthScopes: [read]}\n", 2, "mcpServers.a.oauthScopes", []string{"oauthClientId"}},
		{"credentials without a client", "mcpServers:\n  a: {url: 'http://h/mcp', oauthGrantType: client_credentials}\n", 2, "mcpServers.a.oauthGrantType", []string{"oauthClientId"}},
		{"a secret without a client", "mcpServers:\n  a: {url: 'http://h/mcp', oauthClientSecret: 'keychain:x'}\n", 2, "mcpServers.a.oauthClientSecret", []string{"oauthClientId"}},
		{"a secret of a public client", "mcpServers:\n  a: {url: 'http://h/mcp', oauthClientId: c, oauthClientSecret: 'keychain:x', oauthPublicClient: true}\n", 2, "mcpServers.a.oauthPublicClient", []string{"no secret"}},
		{"a callback port that is none", "mcpServers:\n  a: {url: 'http://h/mcp', oauthCallbackPort: 70000}\n", 2, "mcpServers.a.oauthCallbackPort", []string{"65535"}},
		{"credentials of a public client", "mcpServers:\n  a: {url: 'http://h/mcp', oauthClientId: c, oauthGrantType: client_credentials, oauthPublicClient: true}\n", 2, "mcpServers.a.oauthPublicClient", []string{"no secret"}},
		{"tab", "tools:\n\tsafe: []\n", 2, "", []string{"tab"}},
		{"half written", "tools: {safe: [a,\n", 0, "", []string{"not valid YAML"}},
		{"half a quote", "default_model: \"gp", 0, "", []string{"not valid YAML"}},
		{"a list", "- a\n", 1, "", []string{"keys with values"}},
		{"two documents", "log: {level: info}\n---\nroots: []\n", 2, "", []string{"second"}},
		{"newer version", "version: 2\n", 1, "version", []string{"newer"}},
		{"in itself", "models: &m [{id: a, aliases: *m}]\n", 1, "", nil},
		{"ollama at our own address", "ollama: {enabled: true, listen: '127.0.0.1:8640'}\n", 1, "ollama.listen", []string{"address of its own"}},
		{"ollama for all", "ollama: {enabled: true, listen: '0.0.0.0:11434'}\n", 1, "ollama.listen", []string{"loopback"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var faults []config.Problem
			for _, p := range config.CheckText("c.yaml", []byte(tt.text)) {
				if !p.Warning {
					faults = append(faults, p)
				}
			}
			i := slices.IndexFunc(faults, func(p config.Problem) bool { return tt.path == "" || p.Path == tt.path })
			if i < 0 {
				t.Fatalf("no fault at %q: %v", tt.path, faults)
			}
			got := faults[i]
			if tt.line != 0 && got.Line != tt.line || got.File != "c.yaml" {
				t.Errorf("place is %s:%d, want line %d: %v", got.File, got.Line, tt.line, got)
			}
			for _, part := range tt.want {
				if !strings.Contains(got.Error(), part) {
					t.Errorf("%q does not say %q", got.Error(), part)
				}
			}
		})
	}
}

func TestCheckReportsEveryFaultAtOnce(t *testing.T) {
	path := write(t, "tools: {max_rounds: -1, parallel: x}\ngateway: {listen: nowhere, auth: maybe}\nnope: 1\nmcpServers: {a: {}}\n")
	_, err := config.Load(config.Options{Path: path, Getenv: env(t, "MCP_PLAN_MODE=perhaps")})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"tools.max_rounds", "tools.parallel", "gateway.listen", "gateway.auth", "nope", "mcpServers.a", "MCP_PLAN_MODE", path + ":1:"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("nothing about %s in:\n%v", part, err)
		}
	}
}

func TestCheckWarnings(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // one part for each warning, in order
	}{
		{"what never falls back", "router_settings: {fallbacks: [{soll: [luna]}]}\n", []string{"never falls back"}},
		{"what may be discovered", "providers: {corp: {base_url: 'http://h', models: {discover: true}}}\nrouter_settings: {fallbacks: [{sol: [z-1]}]}\n", []string{`"z-1"`}},
		{"routes of every kind", "model_list: [{model_name: 'my-*', litellm_params: {model: openai/x}}]\nrouter_settings: {fallbacks: [{sol: [my-own, openai/x, glm-9]}, {'*': [luna]}], model_group_alias: {mine: my-1}, default_fallbacks: [mine]}\n", nil},
		{"other programs' keys", "mcpServers:\n  a: {command: x, deferTools: auto, env: {A: 1, B: null}}\n", []string{"deferTools"}},
		{"literal key", "providers:\n  openai:\n    api_key: sk-abcdEFGH1234abcdEFGH\n", []string{"`pointsman keys set openai`, then write \"keychain:openai\""}},
		{"literal header", "mcpServers:\n  gh: {url: 'https://h/mcp', headers: {Authorization: Bearer abcdef123456}}\n", []string{`"Bearer ${keychain:gh}"`}},
		{"literal environment", "mcpServers:\n  gh: {command: x, env: {GITHUB_TOKEN: ghp_abcdefghijklmnop, NODE_ENV: production}}\n", []string{"keys set GITHUB_TOKEN"}},
		{"password in an address", "providers: {corp: {base_url: 'https://me:pw@corp/v1'}}\n", []string{"user name or password"}},
		{"disabled server that is not there", "mcpServers: {github: {command: x}}\ndisabledMcpServers: [github, githib]\n", []string{`did you mean "github"?`}},
		{"sandbox of its own that confines nothing", "sandbox: {enabled: true}\nmcpServers:\n  a: {command: x, sandbox: {network: {allowOutbound: true}}}\n  b: {command: x, sandbox: {enabled: false}}\n", []string{"mcpServers.a.sandbox: takes the place"}},
		{"variables", "mcpServers:\n  gh: {command: x, env: {GITHUB_TOKEN: $GH_TOKEN, API_KEY: '${KEY}'}, headers: {}}\n", nil},
		{"text that ends in what could be a variable", "mcpServers:\n  gh: {command: x, env: {GITHUB_TOKEN: 'ghp_efghijklmnop$QRST'}}\n", []string{"keys set GITHUB_TOKEN"}},
		{"references", "providers: {openai: {api_key: keychain:openai}, groq: {api_key: os.environ/G}, corp: {base_url: 'http://h', api_key: '${env:X}'}}\n", nil},
		{"placeholder", "model_list: [{model_name: a, litellm_params: {model: openai/x, api_key: none}}]\n", nil},
		{"typing error in a LiteLLM section", "router_settings: {num_retrys: 1}\n", []string{`"num_retries"`}},
		{"many ignored keys are one warning", "litellm_settings: {a: 1}\ngeneral_settings: {}\nrouter_settings: {redis_host: h}\n",
			[]string{"litellm_settings.a, general_settings, router_settings.redis_host"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			problems := config.CheckText("c.yaml", []byte(tt.text))
			if len(problems) != len(tt.want) {
				t.Fatalf("%d problems: %v", len(problems), problems)
			}
			for i, part := range tt.want {
				p := problems[i]
				if !p.Warning || p.Line == 0 || !strings.Contains(p.Error(), part) {
					t.Errorf("%+v is no warning with a place that says %q", p, part)
				}
				if strings.Contains(p.Error(), "abcd") {
					t.Errorf("%q shows the secret", p.Error())
				}
			}
		})
	}
}

func TestCheckPastedFiles(t *testing.T) {
	for file, warnings := range map[string]int{"full.yaml": 0, "litellm.yaml": 1, "litellm-mixed.yaml": 3} {
		problems := config.Check(filepath.Join("testdata", file))
		if err := config.Faults(problems); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if len(problems) != warnings {
			t.Errorf("%s: %d warnings: %v", file, len(problems), problems)
		}
	}
	text, err := os.ReadFile(filepath.Join("testdata", "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := load(t, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := store.Config(); got.MCPServers["github"].Headers["Authorization"] != "Bearer ${keychain:github}" || got.RouterSettings.Fallbacks[0]["coding"][0] != "fast" {
		t.Errorf("misread: %+v", got)
	}
}

func TestServerToolsAbsentAndEmptyAreKeptApart(t *testing.T) {
	store, err := load(t, "mcpServers:\n  all: {command: x}\n  none: {command: x, tools: []}\n  null: {command: x, tools: }\n")
	if err != nil {
		t.Fatal(err)
	}
	servers := store.Config().MCPServers
	if servers["all"].Tools != nil || servers["null"].Tools != nil || servers["none"].Tools == nil {
		t.Errorf("all %v, null %v, none %v", servers["all"].Tools, servers["null"].Tools, servers["none"].Tools)
	}
}

func TestAnchorsAndMerges(t *testing.T) {
	store, err := load(t, "mcpServers:\n  a: &a {command: x, args: [y], timeout: 5}\n  b: {<<: *a, command: z}\n  c: *a\n")
	if err != nil {
		t.Fatal(err)
	}
	servers := store.Config().MCPServers
	if b := servers["b"]; b.Command != "z" || b.Timeout != 5 || servers["c"].Command != "x" {
		t.Errorf("servers: %+v", servers)
	}
}

func TestAnchorsCannotGrowWithoutBound(t *testing.T) {
	var b strings.Builder
	b.WriteString("roots: [a]\nmodels:\n  - &a0 {id: x, aliases: [a, a, a, a, a, a, a, a, a, a]}\n")
	b.WriteString("model_list:\n  - model_name: m\n    litellm_params: {model: openai/x}\n    model_info:\n      l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n")
	for i := range 9 {
		b.WriteString("      l" + string(rune('1'+i)) + ": &l" + string(rune('1'+i)) + " [" + strings.Repeat("*l"+string(rune('0'+i))+", ", 10) + "]\n")
	}
	problems := config.CheckText("c.yaml", []byte(b.String()))
	if err := config.Faults(problems); err == nil || len(problems) > 10 {
		t.Errorf("%d problems, first %v", len(problems), err)
	}
}
