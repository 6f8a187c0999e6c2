package gateway

import (
	"cmp"
	"context"
	"os"
	"time"

	"pointsman/gateway/models"
	"pointsman/gateway/servers"
)

// Status is what `GET /v1/status` and `pointsman status` tell.
type Status struct {
	Version   string          `json:"version"`
	PID       int             `json:"pid"`
	Since     time.Time       `json:"since"`
	Listen    string          `json:"listen"`
	Resident  bool            `json:"resident"`
	LLM       LLMStatus       `json:"llm"`
	MCP       MCPStatus       `json:"mcp"`
	Approvals ApprovalsStatus `json:"approvals"`
	Config    ConfigStatus    `json:"config"`
	Ollama    OllamaStatus    `json:"ollama"`
	Runs      int64           `json:"runs"`   // active now
	Paused    bool            `json:"paused"` // no tool may be called
}

// LLMStatus tells who answers when nobody in particular is asked for.
type LLMStatus struct {
	Provider              string   `json:"provider"`
	ModelID               string   `json:"model_id"`
	BaseURL               string   `json:"base_url"`
	APIKeyPresent         bool     `json:"api_key_present"`
	TimeoutSeconds        float64  `json:"timeout_seconds"`
	ReasoningEffort       string   `json:"reasoning_effort"`
	FallbackEnabled       bool     `json:"fallback_enabled"`
	FallbackConfigured    bool     `json:"fallback_configured"`
	FallbackBaseURL       string   `json:"fallback_base_url"`
	FallbackModelID       string   `json:"fallback_model_id"`
	FallbackAPIKeyPresent bool     `json:"fallback_api_key_present"`
	KnownModels           []string `json:"known_models"`
	// Deployments tell how those are doing that answer.
	Deployments []models.DeploymentHealth `json:"deployments"`
}

// MCPStatus tells of the MCP servers together, and of each.
type MCPStatus struct {
	Transport          string           `json:"transport"` // of the one server; "multi" for several
	Configured         bool             `json:"configured"`
	Connected          bool             `json:"connected"`   // at least one is
	ServerInfo         any              `json:"server_info"` // of the one server, or by name
	Servers            []string         `json:"servers"`
	Inventory          []servers.Status `json:"inventory"`
	AllowedTools       []string         `json:"allowed_tools"`
	Tools              int              `json:"tools"` // offered
	RequireApproval    bool             `json:"require_approval"`
	ApproverConfigured bool             `json:"approver_configured"` // somebody or something could say yes
}

// ApprovalsStatus tells what waits for a person.
type ApprovalsStatus struct {
	Pending int `json:"pending"`
}

// ConfigStatus tells what of the configuration is not as the user may think, in
// sentences.
type ConfigStatus struct {
	Path     string   `json:"path"`
	Held     []string `json:"held"`     // loosens a gate, and waits for a yes or the next start
	Restart  []string `json:"restart"`  // changed settings that take effect at the next start
	Problems []string `json:"problems"` // warnings, and why what the file holds now is not in force
}

// Status returns the gateway's state. It asks the keychain whether keys are
// there, and nobody else.
func (g *Gateway) Status(ctx context.Context) Status {
	return Status{
		Version: g.opts.Version, PID: os.Getpid(), Since: g.started, Listen: cmp.Or(g.Address(), g.Config().Gateway.Listen), Resident: g.key.serving.Load(),
		LLM: g.llmStatus(ctx), MCP: g.mcpStatus(), Runs: g.active.Load(), Paused: g.Paused(),
		Approvals: ApprovalsStatus{Pending: len(g.desk.Pending())}, Config: g.configStatus(), Ollama: g.Ollama(),
	}
}

// Address is where Serve listens, as host:port, or "" before it does.
func (g *Gateway) Address() string {
	if address := g.address.Load(); address != nil {
		return *address
	}
	return ""
}

// Runs is how many runs are active now.
func (g *Gateway) Runs() int64 { return g.active.Load() }

func (g *Gateway) statusAny(ctx context.Context) any { return g.Status(ctx) }

func (g *Gateway) configStatus() ConfigStatus {
	s := ConfigStatus{Path: g.store.Path(), Held: []string{}, Problems: []string{}, Restart: append([]string{}, needRestart(g.began, g.Config())...)}
	for _, sentence := range g.store.Held() {
		s.Held = append(s.Held, g.redactor.Redact(sentence))
	}
	for _, fault := range g.store.Fault() {
		s.Problems = append(s.Problems, g.redactor.Redact(fault))
	}
	for _, problem := range g.store.Problems() {
		s.Problems = append(s.Problems, g.redactor.Redact(problem.Error()))
	}
	return s
}

func (g *Gateway) llmStatus(ctx context.Context) LLMStatus {
	cfg, router := g.Config(), g.Models()
	s := LLMStatus{
		ModelID: cfg.DefaultModel, TimeoutSeconds: cfg.Limits.RequestTimeoutS, ReasoningEffort: cfg.ReasoningEffort,
		FallbackEnabled: cfg.Fallback.Enabled, FallbackConfigured: cfg.Fallback.BaseURL != "",
		FallbackBaseURL: g.redactor.Redact(cfg.Fallback.BaseURL), FallbackModelID: cfg.Fallback.Model,
		KnownModels: router.Names(), Deployments: router.Health(),
	}
	if route, err := router.Resolve(""); err == nil {
		d := route.First()
		s.Provider, s.BaseURL, s.APIKeyPresent = d.Provider, g.redactor.Redact(d.BaseURL), router.KeyPresent(ctx, d)
	}
	if key := cfg.Fallback.APIKey; key != "" {
		value, err := g.resolver.Resolve(ctx, string(key))
		s.FallbackAPIKeyPresent = err == nil && value != ""
	}
	return s
}

func (g *Gateway) mcpStatus() MCPStatus {
	cfg := g.Config()
	s := MCPStatus{
		Inventory: g.host.Status(), Servers: []string{}, AllowedTools: append([]string{}, cfg.Tools.Allowed...),
		Tools: len(g.catalogue.Load().Offered()), RequireApproval: cfg.Approvals.Require, ApproverConfigured: g.approverConfigured(),
	}
	infos := map[string]any{}
	for _, status := range s.Inventory {
		s.Servers = append(s.Servers, status.Name)
		s.Transport = status.Transport
		if status.Live.Status == servers.Connected {
			s.Connected = true
			infos[status.Name] = status.Live.ServerInfo
		}
	}
	s.Configured = len(s.Servers) > 0
	switch {
	case len(s.Servers) > 1:
		s.Transport, s.ServerInfo = "multi", infos
	case len(s.Servers) == 1:
		s.ServerInfo = infos[s.Servers[0]]
	}
	return s
}

func (g *Gateway) approverConfigured() bool {
	cfg := g.Config().Approvals
	switch cfg.Approver {
	case "ask":
		return g.opts.Approver != nil || g.attended()
	case "deny":
		return false
	default:
		return true
	}
}
