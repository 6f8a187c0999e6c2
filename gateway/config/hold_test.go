package config_test

import (
	"reflect"
	"testing"

	"pointsman/gateway/config"
)

func TestHold(t *testing.T) {
	prefix := "p"
	base := func() *config.Config {
		c := config.Default()
		c.Approvals.Allow, c.Approvals.Deny = []string{"a"}, []string{"d"}
		c.Approvals.Rules = []config.Rule{{ID: "1", Action: "deny", Tool: "x"}, {ID: "2", Action: "allow", Tool: "y", Definition: "h"}}
		c.Tools.Safe, c.Tools.Risky, c.Tools.Allowed = []string{"s"}, []string{"r"}, []string{"t"}
		c.DisabledMCPServers = []string{"off"}
		c.Sandbox = config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{DenyRead: []string{"/k"}}}
		c.MCPServers = map[string]config.MCPServer{
			"a": {Command: "x", Args: []string{"y"}, Tools: []string{"one"}, Sandbox: &config.Sandbox{Enabled: true}},
			"u": {URL: "http://h/mcp", Disabled: true},
		}
		return c
	}
	server := func(name string, change func(*config.MCPServer)) func(*config.Config) {
		return func(c *config.Config) { s := c.MCPServers[name]; change(&s); c.MCPServers[name] = s }
	}
	loosened := map[string]func(*config.Config){
		"approvals off":   func(c *config.Config) { c.Approvals.Require = false },
		"approver allow":  func(c *config.Config) { c.Approvals.Approver = "allow" },
		"approver static": func(c *config.Config) { c.Approvals.Approver = "static" },
		"control":         func(c *config.Config) { c.Approvals.Control = true },
		"key":             func(c *config.Config) { c.Gateway.APIKey = "known" },
		"auth none":       func(c *config.Config) { c.Gateway.Auth = "none" },
		"remote":          func(c *config.Config) { c.Gateway.AllowRemote = true },
		"listen":          func(c *config.Config) { c.Gateway.Listen = "0.0.0.0:1" },
		"host":            func(c *config.Config) { c.Gateway.AllowedHosts = []string{"h"} },
		"origin":          func(c *config.Config) { c.Gateway.CORSOrigins = []string{"http://h"} },
		"safe":            func(c *config.Config) { c.Tools.Safe = append(c.Tools.Safe, "z") },
		"risky shrinks":   func(c *config.Config) { c.Tools.Risky = nil },
		"allowed grows":   func(c *config.Config) { c.Tools.Allowed = append(c.Tools.Allowed, "z") },
		"allowed all":     func(c *config.Config) { c.Tools.Allowed = nil },
		"allow list":      func(c *config.Config) { c.Approvals.Allow = append(c.Approvals.Allow, "z") },
		"deny list":       func(c *config.Config) { c.Approvals.Deny = nil },
		"allow rule": func(c *config.Config) {
			c.Approvals.Rules = append(c.Approvals.Rules, config.Rule{ID: "3", Action: "allow", Tool: "z"})
		},
		"rule of no action":   func(c *config.Config) { c.Approvals.Rules = append(c.Approvals.Rules, config.Rule{ID: "3", Tool: "z"}) },
		"rule widened":        func(c *config.Config) { c.Approvals.Rules[1].Definition = "" },
		"deny rule goes":      func(c *config.Config) { c.Approvals.Rules = c.Approvals.Rules[1:] },
		"new server":          func(c *config.Config) { c.MCPServers["n"] = config.MCPServer{Command: "z"} },
		"server switched on":  func(c *config.Config) { c.DisabledMCPServers = nil },
		"server enabled":      server("u", func(s *config.MCPServer) { s.Disabled = false }),
		"command":             server("a", func(s *config.MCPServer) { s.Command = "z" }),
		"arguments":           server("a", func(s *config.MCPServer) { s.Args = []string{"z"} }),
		"environment":         server("a", func(s *config.MCPServer) { s.Env = map[string]config.Secret{"LD_PRELOAD": "z"} }),
		"prefix":              server("a", func(s *config.MCPServer) { s.Prefix = &prefix }),
		"url":                 server("u", func(s *config.MCPServer) { s.URL = "http://evil/mcp" }),
		"client's secret":     server("u", func(s *config.MCPServer) { s.OAuthClientSecret = "keychain:openai" }),
		"trust":               server("a", func(s *config.MCPServer) { s.TrustAnnotations = true }),
		"tools grow":          server("a", func(s *config.MCPServer) { s.Tools = []string{"one", "two"} }),
		"tools all":           server("a", func(s *config.MCPServer) { s.Tools = nil }),
		"sandbox of a server": server("a", func(s *config.MCPServer) { s.Sandbox = &config.Sandbox{} }),
		"sandbox off":         func(c *config.Config) { c.Sandbox.Enabled = false },
		"sandbox network":     func(c *config.Config) { c.Sandbox.Network.AllowOutbound = true },
		"sandbox read":        func(c *config.Config) { c.Sandbox.Filesystem.DenyRead = nil },
	}
	for name, change := range loosened {
		t.Run(name, func(t *testing.T) {
			old, new := base(), base()
			change(new)
			new.DefaultModel = "other" // the rest of the change goes through
			kept, held := config.Hold(old, new)
			if len(held) != 1 || held[0] == "" {
				t.Errorf("held: %q", held)
			}
			want := base()
			want.DefaultModel = "other"
			if !reflect.DeepEqual(kept, want) {
				t.Errorf("not kept as it was: %+v", kept)
			}
			if kept, held := config.Hold(new, old); tightens(name) && (len(held) > 0 || !reflect.DeepEqual(kept, old)) {
				t.Errorf("the way back is held: %q", held)
			}
		})
	}
	harmless := map[string]func(*config.Config){
		"nothing": func(*config.Config) {},
		"stricter": func(c *config.Config) {
			c.Approvals.Approver = "deny"
			c.Tools.Safe = nil
			c.Approvals.Deny = append(c.Approvals.Deny, "z")
		},
		"server gone":    func(c *config.Config) { delete(c.MCPServers, "a") },
		"server stopped": server("a", func(s *config.MCPServer) { s.Timeout = 5; s.Disabled = true }),
		"fewer tools":    server("a", func(s *config.MCPServer) { s.Tools = []string{} }),
		"deny rule": func(c *config.Config) {
			c.Approvals.Rules = append(c.Approvals.Rules, config.Rule{ID: "3", Action: "deny", Tool: "z"})
		},
		"allow rule goes": func(c *config.Config) { c.Approvals.Rules = c.Approvals.Rules[:1] },
		"port":            func(c *config.Config) { c.Gateway.Listen = "[::1]:9" },
	}
	for name, change := range harmless {
		t.Run(name, func(t *testing.T) {
			old, new := base(), base()
			change(new)
			if kept, held := config.Hold(old, new); len(held) > 0 || !reflect.DeepEqual(kept, new) {
				t.Errorf("held: %q", held)
			}
		})
	}
}

// tightens reports whether taking the change back can only be stricter; another
// command, address or rule is another one in both directions.
func tightens(name string) bool {
	switch name {
	case "command", "arguments", "environment", "url", "rule widened", "prefix", "key":
		return false
	}
	return true
}
