// Package config is what a user can set: defaults, the file, the environment,
// validation, saving and change notices.
//
// The file is YAML (JSON is YAML too). A LiteLLM config.yaml and a Copilot
// mcpServers object both paste in unchanged. Order of precedence: defaults,
// then the file, then the environment, then flags.
//
// The package starts one goroutine, in Store.Watch, which ends with the context
// it is given.
package config

import (
	"time"
)

// Version is the newest configuration version this program reads and writes.
const Version = 1

// Config is everything a user can set. Default returns the values that hold
// where the file, the environment and the flags are silent. A Config handed out
// by Store is never changed afterwards: readers may keep it.
type Config struct {
	Version            int                  `yaml:"version"`
	Gateway            Gateway              `yaml:"gateway"`
	DefaultModel       string               `yaml:"default_model"`
	DefaultProvider    string               `yaml:"default_provider"` // who serves catalogue models; empty: each model's own provider
	ReasoningEffort    string               `yaml:"reasoning_effort"` // sent when the caller names none; empty: not sent
	Providers          map[string]Provider  `yaml:"providers"`
	Fallback           Fallback             `yaml:"fallback"`
	Models             []CatalogueModel     `yaml:"models"` // the user's own additions to the catalogue
	Capabilities       map[string]string    `yaml:"capabilities"`
	ModelList          []Deployment         `yaml:"model_list"`
	RouterSettings     RouterSettings       `yaml:"router_settings"`
	Limits             Limits               `yaml:"limits"`
	MCPServers         map[string]MCPServer `yaml:"mcpServers"`
	Tools              Tools                `yaml:"tools"`
	Approvals          Approvals            `yaml:"approvals"`
	Desktop            Desktop              `yaml:"desktop"`
	Journal            Journal              `yaml:"journal"`
	Sandbox            Sandbox              `yaml:"sandbox"`
	Integrations       Integrations         `yaml:"integrations"`
	Marathon           Marathon             `yaml:"marathon"`
	MCP                MCPDoor              `yaml:"mcp"`
	Quirks             Quirks               `yaml:"quirks"`
	Ollama             Ollama               `yaml:"ollama"`
	Diagnostics        Diagnostics          `yaml:"diagnostics"`
	Log                Log                  `yaml:"log"`
	DisabledMCPServers []string             `yaml:"disabledMcpServers"`
	Roots              []string             `yaml:"roots"`

	// MCPTimeout is MCP_TIMEOUT_SECONDS in milliseconds; zero when unset. The
	// servers that set no timeout of their own already carry it.
	MCPTimeout int64 `yaml:"-"`
}

// Workspace returns the folder that ${workspaceFolder} stands for in the servers'
// entries: the first of Roots, or "".
func (c *Config) Workspace() string {
	if len(c.Roots) == 0 {
		return ""
	}
	return c.Roots[0]
}

// Secret is a secret as configured: a reference ("keychain:NAME",
// "os.environ/NAME", "${env:NAME}", text holding "${keychain:NAME}") or a
// literal. It prints as a reference or as a mark, never as a literal value.
type Secret string

// Gateway is the HTTP door's own settings.
type Gateway struct {
	Listen       string   `yaml:"listen"` // host:port
	APIKey       Secret   `yaml:"api_key"`
	Auth         string   `yaml:"auth"` // key | none
	AllowRemote  bool     `yaml:"allow_remote"`
	AllowedHosts []string `yaml:"allowed_hosts"`
	CORSOrigins  []string `yaml:"cors_origins"`
	MaxBodyBytes int64    `yaml:"max_body_bytes"`
}

// Provider is one OpenAI-compatible endpoint. A known name needs only a key.
type Provider struct {
	BaseURL string            `yaml:"base_url"`
	APIKey  Secret            `yaml:"api_key"`
	Timeout Duration          `yaml:"timeout"` // zero: limits.request_timeout_s
	Headers map[string]Secret `yaml:"headers"`
	Models  ProviderModels    `yaml:"models"`
}

// ProviderModels says where a provider's model names come from.
type ProviderModels struct {
	Discover bool `yaml:"discover"` // ask its GET /models
}

// Fallback is asked when the chosen model's provider fails for a reason that is
// not the caller's fault.
type Fallback struct {
	Enabled bool     `yaml:"enabled"`
	BaseURL string   `yaml:"base_url"`
	APIKey  Secret   `yaml:"api_key"`
	Model   string   `yaml:"model"`
	Timeout Duration `yaml:"timeout"` // zero: limits.request_timeout_s
}

// CatalogueModel describes one model. Figures that no provider publishes stay nil.
type CatalogueModel struct {
	ID              string   `yaml:"id" json:"id"`
	Provider        string   `yaml:"provider" json:"provider"`
	Label           string   `yaml:"label" json:"label"`
	Tier            string   `yaml:"tier" json:"tier"`
	Aliases         []string `yaml:"aliases" json:"aliases"`
	ContextWindow   *int64   `yaml:"context_window" json:"context_window"`               // tokens
	MaxOutput       *int64   `yaml:"max_output" json:"max_output"`                       // tokens
	Efforts         []string `yaml:"efforts" json:"efforts"`                             // accepted reasoning efforts
	ReasoningEffort string   `yaml:"reasoning_effort" json:"reasoning_effort"`           // the one sent by default
	InputCost       *float64 `yaml:"input_cost_per_token" json:"input_cost_per_token"`   // US dollars
	OutputCost      *float64 `yaml:"output_cost_per_token" json:"output_cost_per_token"` // US dollars
	Source          string   `yaml:"source" json:"source"`                               // the public page the figures come from
}

// Deployment is one entry of model_list, in LiteLLM's schema.
type Deployment struct {
	ModelName     string         `yaml:"model_name"`
	LiteLLMParams LiteLLMParams  `yaml:"litellm_params"`
	ModelInfo     map[string]any `yaml:"model_info"`
}

// LiteLLMParams are the keys of litellm_params that have a meaning here. Keys
// that LiteLLM knows and Pointsman does not use are listed once as ignored.
type LiteLLMParams struct {
	Model           string            `yaml:"model"` // provider/model
	APIBase         string            `yaml:"api_base"`
	BaseURL         string            `yaml:"base_url"` // LiteLLM takes either
	APIKey          Secret            `yaml:"api_key"`
	APIVersion      string            `yaml:"api_version"`    // Azure's; empty: its v1 API, which needs none
	Timeout         float64           `yaml:"timeout"`        // seconds
	StreamTimeout   float64           `yaml:"stream_timeout"` // seconds
	MaxTokens       *int64            `yaml:"max_tokens"`
	Temperature     *float64          `yaml:"temperature"`
	ReasoningEffort string            `yaml:"reasoning_effort"`
	ExtraHeaders    map[string]Secret `yaml:"extra_headers"`
	Weight          *float64          `yaml:"weight"`
	RPM             *int64            `yaml:"rpm"`
	TPM             *int64            `yaml:"tpm"`
	InputCost       *float64          `yaml:"input_cost_per_token"`
	OutputCost      *float64          `yaml:"output_cost_per_token"`
}

// RouterSettings are LiteLLM's router_settings; times are seconds.
type RouterSettings struct {
	NumRetries             int                   `yaml:"num_retries"`
	CooldownTime           float64               `yaml:"cooldown_time"`
	AllowedFails           *int                  `yaml:"allowed_fails"`
	RetryAfter             float64               `yaml:"retry_after"`
	Timeout                float64               `yaml:"timeout"`
	StreamTimeout          float64               `yaml:"stream_timeout"`
	Fallbacks              []map[string][]string `yaml:"fallbacks"`
	ContextWindowFallbacks []map[string][]string `yaml:"context_window_fallbacks"`
	ContentPolicyFallbacks []map[string][]string `yaml:"content_policy_fallbacks"`
	DefaultFallbacks       []string              `yaml:"default_fallbacks"`
	RoutingStrategy        string                `yaml:"routing_strategy"`
	EnablePreCallChecks    bool                  `yaml:"enable_pre_call_checks"`
	ModelGroupAlias        map[string]string     `yaml:"model_group_alias"`
}

// Limits bound `ask` (the *_chars keys) and every provider request.
type Limits struct {
	MaxPromptChars       int     `yaml:"max_prompt_chars"`
	MaxContextChars      int     `yaml:"max_context_chars"`
	MaxSystemChars       int     `yaml:"max_system_chars"`
	MaxSchemaChars       int     `yaml:"max_schema_chars"`
	MaxOutputTokens      int     `yaml:"max_output_tokens"`
	RequestTimeoutS      float64 `yaml:"request_timeout_s"` // seconds
	SchemaRepairAttempts int     `yaml:"schema_repair_attempts"`
}

// MCPServer is one entry of mcpServers, in the shape of Copilot's mcp-config.json.
type MCPServer struct {
	Type              string            `yaml:"type"` // local | stdio | http | sse | streamable-http | builtin; empty: by command or url
	Command           string            `yaml:"command"`
	Args              []string          `yaml:"args"`
	Env               map[string]Secret `yaml:"env"`
	Cwd               string            `yaml:"cwd"`
	WorkingDirectory  string            `yaml:"workingDirectory"`
	URL               string            `yaml:"url"`
	Headers           map[string]Secret `yaml:"headers"`
	Tools             []string          `yaml:"tools"`        // nil: all; empty: none
	Timeout           int64             `yaml:"timeout"`      // milliseconds; zero: 60,000
	StartTimeout      int64             `yaml:"startTimeout"` // milliseconds; zero: 60,000
	Disabled          bool              `yaml:"disabled"`
	Prefix            *string           `yaml:"prefix"` // nil: the server's name; empty: bare tool names
	TrustAnnotations  bool              `yaml:"trustAnnotations"`
	OAuthClientID     string            `yaml:"oauthClientId"`
	OAuthClientSecret Secret            `yaml:"oauthClientSecret"`
	OAuthScopes       []string          `yaml:"oauthScopes"`
	OAuthPublicClient bool              `yaml:"oauthPublicClient"`
	OAuthGrantType    string            `yaml:"oauthGrantType"`
	OAuthCallbackPort int               `yaml:"oauthCallbackPort"` // on 127.0.0.1; 0: 8641
	Sandbox           *Sandbox          `yaml:"sandbox"`
}

// Tools says which tools the model may use and how the loop runs.
type Tools struct {
	Allowed       []string      `yaml:"allowed"`
	Risky         []string      `yaml:"risky"`
	Safe          []string      `yaml:"safe"`
	MaxRounds     int           `yaml:"max_rounds"`
	MaxOffered    int           `yaml:"max_offered"`
	Parallel      int           `yaml:"parallel"`
	PlanMode      bool          `yaml:"plan_mode"`
	LoopDetection LoopDetection `yaml:"loop_detection"`
}

// LoopDetection sets after how many equal repetitions a run is warned and stopped.
type LoopDetection struct {
	Enabled bool `yaml:"enabled"`
	Soft    int  `yaml:"soft"`
	Hard    int  `yaml:"hard"`
}

// Approvals says who is asked before a risky call.
type Approvals struct {
	Require  bool     `yaml:"require"`
	Approver string   `yaml:"approver"` // ask | deny | allow | static
	Allow    []string `yaml:"allow"`
	Deny     []string `yaml:"deny"`
	Timeout  Duration `yaml:"timeout"`
	Rules    []Rule   `yaml:"rules"`
	Control  bool     `yaml:"control"`
}

// Rule is a remembered decision. See approvals.Rule for its meaning.
type Rule struct {
	ID            string    `yaml:"id"`
	Action        string    `yaml:"action"` // allow | deny
	Server        string    `yaml:"server"`
	Tool          string    `yaml:"tool"`
	Definition    string    `yaml:"definition"`          // hash of the tool definition it was given for
	Arguments     string    `yaml:"arguments,omitempty"` // exact arguments as canonical JSON, or sha256:HEX of it when a secret is among them
	PathPrefix    string    `yaml:"path_prefix,omitempty"`
	CommandPrefix []string  `yaml:"command_prefix,omitempty"` // the first words of a plain shell command
	Folder        string    `yaml:"folder,omitempty"`         // with command_prefix: where it runs, there or below
	Until         time.Time `yaml:"until,omitempty"`          // zero: always
	Created       time.Time `yaml:"created"`
}

// Desktop is what the tray and the windows are set to.
type Desktop struct {
	LaunchAtLogin bool   `yaml:"launch_at_login"`
	Theme         string `yaml:"theme"` // system | light | dark
	Notify        bool   `yaml:"notify"`
}

// Journal bounds the record of tool calls.
type Journal struct {
	KeepDays int    `yaml:"keep_days"`
	MaxMB    int    `yaml:"max_mb"`
	Results  string `yaml:"results"` // redacted | none
}

// Sandbox is what a server's process may reach.
type Sandbox struct {
	Enabled    bool              `yaml:"enabled"`
	Network    SandboxNetwork    `yaml:"network"`
	Filesystem SandboxFilesystem `yaml:"filesystem"`
}

// SandboxNetwork is the network part of Sandbox.
type SandboxNetwork struct {
	AllowOutbound bool `yaml:"allowOutbound"`
}

// SandboxFilesystem is the file part of Sandbox.
type SandboxFilesystem struct {
	AllowWrite []string `yaml:"allowWrite"`
	DenyRead   []string `yaml:"denyRead"`
}

// Integrations are tools that exist only when configured.
type Integrations struct {
	HubSpot HubSpot `yaml:"hubspot"`
	Vihokai Vihokai `yaml:"vihokai"`
}

// HubSpot configures hubspot_track.
type HubSpot struct {
	BaseURL string `yaml:"base_url"`
}

// Vihokai configures vihokai_deploy.
type Vihokai struct {
	Repo string `yaml:"repo"`
}

// Marathon configures the debug marathon.
type Marathon struct {
	Ladder []string `yaml:"ladder"` // the models that each question is put to, in this order
}

// MCPDoor says what the MCP door serves.
type MCPDoor struct {
	Tools string `yaml:"tools"` // all | own | servers
}

// Quirks switches workarounds for providers.
type Quirks struct {
	// ResponsesBridge is auto or off: whether turns of clients of chat completions
	// go to a provider's Responses API when effort and tools need it.
	ResponsesBridge string `yaml:"responses_bridge"`
}

// Ollama is the Ollama-compatible face.
type Ollama struct {
	Enabled bool   `yaml:"enabled"`
	Listen  string `yaml:"listen"`
}

// Diagnostics sets how much of the servers' traffic is kept in memory.
type Diagnostics struct {
	MCP string `yaml:"mcp"` // off | error | warning | info | debug | trace
}

// Log sets the program's own log.
type Log struct {
	Level string `yaml:"level"` // debug | info | warn | error
}

// Default returns the configuration of an empty file.
func Default() *Config {
	return &Config{
		Version: Version,
		Gateway: Gateway{
			Listen:       "127.0.0.1:8640",
			APIKey:       "keychain:gateway",
			Auth:         "key",
			MaxBodyBytes: 32 << 20,
		},
		DefaultModel:   "gpt-6-sol",
		RouterSettings: RouterSettings{NumRetries: 2, CooldownTime: 60},
		Limits: Limits{
			MaxPromptChars: 100_000, MaxContextChars: 400_000, MaxSystemChars: 10_000, MaxSchemaChars: 20_000,
			MaxOutputTokens: 4096, RequestTimeoutS: 120, SchemaRepairAttempts: 1,
		},
		Tools: Tools{
			MaxRounds: 8, MaxOffered: 100, Parallel: 8, PlanMode: true,
			LoopDetection: LoopDetection{Enabled: true, Soft: 3, Hard: 5},
		},
		Approvals:   Approvals{Require: true, Approver: "ask", Timeout: Duration(5 * time.Minute)},
		Desktop:     Desktop{Theme: "system", Notify: true},
		Journal:     Journal{KeepDays: 90, MaxMB: 500, Results: "redacted"},
		Marathon:    Marathon{Ladder: []string{"gpt-6-luna", "gpt-6-sol", "gpt-6-astra"}},
		MCP:         MCPDoor{Tools: "all"},
		Quirks:      Quirks{ResponsesBridge: "auto"},
		Ollama:      Ollama{Listen: "127.0.0.1:11434"},
		Diagnostics: Diagnostics{MCP: "off"},
		Log:         Log{Level: "info"},
	}
}
