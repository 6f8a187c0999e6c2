package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pointsman/gateway/config"
)

// Conflict is what a configuration has that the policy forbids, or cannot be
// judged, as the policy cannot be followed.
type Conflict struct {
	Policy  string // the policy's file
	Path    string // in the configuration, such as "mcpServers.github"
	Message string // what is wrong, and what to do
}

// Error gives the path, what is wrong, the policy's file and Code.
func (c *Conflict) Error() string { return c.Path + ": " + c.reason() }

func (c *Conflict) reason() string {
	return fmt.Sprintf("%s (%s, set by the administrator in %s)", c.Message, Code, c.Policy)
}

func (p *Policy) conflict(path, format string, args ...any) *Conflict {
	return &Conflict{p.Path, path, fmt.Sprintf(format, args...)}
}

// Server returns the *Conflict that keeps a server from starting, or nil. The
// entry is as Confined returns it.
func (p *Policy) Server(name string, entry config.MCPServer) error {
	at := "mcpServers." + name
	fits := func(a Allowed) bool { return a.fits(name, entry) }
	confined := entry.Sandbox != nil && entry.Sandbox.Enabled
	switch {
	case p.Fault != "":
		return p.conflict(at, "the administrator's policy cannot be followed, so no server is started: %s", p.Fault)
	case p.Servers.Allowed != nil && !slices.ContainsFunc(p.Servers.Allowed, fits):
		return p.conflict(at, "it is not one of the servers that may be started; take it out, or ask the administrator to allow it")
	case p.Sandbox.Required && entry.Command != "" && !confined:
		return p.conflict(at+".sandbox", "every local server has to be confined; set sandbox.enabled to true, or take the entry's own sandbox out")
	}
	return nil
}

// Confined returns the server entries, the local ones without a sandbox of their
// own with the one that is set for all, which is enabled where the policy requires
// one.
func (p *Policy) Confined(cfg *config.Config) map[string]config.MCPServer {
	all := cfg.Sandbox
	all.Enabled = all.Enabled || p.Sandbox.Required
	entries := maps.Clone(cfg.MCPServers)
	for name, entry := range entries {
		if entry.Sandbox == nil && entry.Command != "" && all.Enabled {
			entry.Sandbox = &all
			entries[name] = entry
		}
	}
	return entries
}

// Conflicts returns the conflicts of all servers that are not disabled, sorted by
// name. None of them starts.
func (p *Policy) Conflicts(cfg *config.Config) []error {
	var conflicts []error
	entries := p.Confined(cfg)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if entries[name].Disabled || slices.Contains(cfg.DisabledMCPServers, name) {
			continue
		}
		if err := p.Server(name, entries[name]); err != nil {
			conflicts = append(conflicts, err)
		}
	}
	return conflicts
}

// Check returns what of a configuration's approvals the policy forbids. Such a
// configuration must not be put in force. It is config.Options.Check.
func (p *Policy) Check(cfg *config.Config) []config.Problem {
	if !p.Approvals.Require && p.Fault == "" {
		return nil
	}
	var problems []config.Problem
	forbid := func(path, message string) {
		problems = append(problems, config.Problem{Path: path, Message: p.conflict(path, "%s", message).reason()})
	}
	if !cfg.Approvals.Require {
		forbid("approvals.require", "a person has to be asked about risky calls; set it to true, or leave it out")
	}
	if approver := cfg.Approvals.Approver; approver != "ask" && approver != "deny" {
		forbid("approvals.approver", approver+" lets calls run without asking; write ask or deny")
	}
	if cfg.Approvals.Control {
		forbid("approvals.control", "would let programs answer in a person's place; set it to false, or leave it out")
	}
	for i, name := range cfg.Tools.Safe {
		if strings.Trim(name, "*?_") == "" { // it fits any tool
			forbid(fmt.Sprintf("tools.safe[%d]", i), "would let every tool run without asking; name the tools that are safe")
		}
	}
	return problems
}
