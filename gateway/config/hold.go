package config

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// gate is one setting that guards what may run or who may reach us.
type gate struct {
	value    func(*Config) any                     // what the setting says, to be compared
	loosened func(old, new *Config) (string, bool) // says in a sentence how new is looser
	keep     func(old, into *Config)               // puts old's setting into the other
}

// Hold returns new with each setting that loosens a gate kept as it is in old,
// and a sentence for each that says what waits for a person's yes. It changes
// neither argument.
func Hold(old, new *Config) (*Config, []string) {
	return hold(old, new, func(gate) bool { return false })
}

// hold is Hold, but for the gates that trusted lets pass.
func hold(old, new *Config, trusted func(gate) bool) (*Config, []string) {
	kept := new.Clone()
	var held []string
	for _, g := range gatesOf(old, new) {
		if sentence, loosened := g.loosened(old, new); loosened && !trusted(g) {
			g.keep(old, kept)
			held = append(held, sentence)
		}
	}
	return kept, held
}

// gatesOf lists the gates: the fixed ones, then one for each server.
func gatesOf(old, new *Config) []gate {
	gates := append(fixedGates(), listGates()...)
	gates = append(gates, ruleGate(), serverListGate(), sandboxGate())
	names := map[string]bool{}
	for name := range old.MCPServers {
		names[name] = true
	}
	for name := range new.MCPServers {
		names[name] = true
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	sort.Strings(sorted)
	for _, name := range sorted {
		gates = append(gates, serverGate(name))
	}
	return gates
}

// field makes the gate of a single setting.
func field[T any](at func(*Config) *T, looser func(old, new T) (string, bool)) gate {
	return gate{
		value:    func(c *Config) any { return *at(c) },
		loosened: func(old, new *Config) (string, bool) { return looser(*at(old), *at(new)) },
		keep:     func(old, into *Config) { *at(into) = *at(old.Clone()) },
	}
}

// becomes is for a switch that is looser in one position.
func becomes(at func(*Config) *bool, looser bool, sentence string) gate {
	return field(at, func(old, new bool) (string, bool) { return sentence, old != new && new == looser })
}

func fixedGates() []gate {
	return []gate{
		becomes(func(c *Config) *bool { return &c.Approvals.Require }, false, "approvals.require: off would let risky tools run without asking"),
		becomes(func(c *Config) *bool { return &c.Approvals.Control }, true, "approvals.control: on would let programs answer approvals"),
		becomes(func(c *Config) *bool { return &c.Gateway.AllowRemote }, true, "gateway.allow_remote: on would let other machines reach the gateway"),
		becomes(func(c *Config) *bool { return &c.Ollama.Enabled }, true, "ollama.enabled: on would open a door that takes no key"),
		field(func(c *Config) *string { return &c.Approvals.Approver }, looserApprover),
		field(func(c *Config) *string { return &c.Gateway.Auth }, func(old, new string) (string, bool) {
			return "gateway.auth: none would let any local program use the gateway", new != old && new == "none"
		}),
		field(func(c *Config) *string { return &c.Gateway.Listen }, func(old, new string) (string, bool) {
			return fmt.Sprintf("gateway.listen: %s would be reachable from other machines", new), !loopbackAddress(new) && new != old
		}),
	}
}

// strictness orders the approvers from the strictest.
var strictness = []string{"deny", "ask", "static", "allow"}

func looserApprover(old, new string) (string, bool) {
	return fmt.Sprintf("approvals.approver: %s would be less strict than %s", new, old),
		slices.Index(strictness, new) > slices.Index(strictness, old)
}

func loopbackAddress(address string) bool {
	host := address
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		host = strings.Trim(address[:i], "[]")
	}
	return isLoopback(host)
}

// listGates are lists that must not grow, or must not shrink.
func listGates() []gate {
	return []gate{
		grows("tools.safe", "would run without asking", func(c *Config) *[]string { return &c.Tools.Safe }),
		grows("approvals.allow", "would be allowed", func(c *Config) *[]string { return &c.Approvals.Allow }),
		grows("gateway.cors_origins", "could call the gateway from a browser", func(c *Config) *[]string { return &c.Gateway.CORSOrigins }),
		grows("gateway.allowed_hosts", "would be answered as a host name", func(c *Config) *[]string { return &c.Gateway.AllowedHosts }),
		grows("roots", "would be open to servers", func(c *Config) *[]string { return &c.Roots }),
		shrinks("tools.risky", "would no longer be held risky", func(c *Config) *[]string { return &c.Tools.Risky }),
		shrinks("approvals.deny", "would no longer be denied", func(c *Config) *[]string { return &c.Approvals.Deny }),
		field(func(c *Config) *[]string { return &c.Tools.Allowed }, func(old, new []string) (string, bool) {
			if len(new) == 0 { // an empty list allows all
				return "tools.allowed would be empty, which allows every tool", len(old) > 0
			}
			added := missingFrom(old, new)
			return fmt.Sprintf("tools.allowed: %s would be allowed", strings.Join(added, ", ")), len(old) > 0 && len(added) > 0
		}),
	}
}

func grows(path, what string, at func(*Config) *[]string) gate {
	return field(at, func(old, new []string) (string, bool) {
		added := missingFrom(old, new)
		return fmt.Sprintf("%s: %s %s", path, strings.Join(added, ", "), what), len(added) > 0
	})
}

func shrinks(path, what string, at func(*Config) *[]string) gate {
	return field(at, func(old, new []string) (string, bool) {
		lost := missingFrom(new, old)
		return fmt.Sprintf("%s: %s %s", path, strings.Join(lost, ", "), what), len(lost) > 0
	})
}

// missingFrom lists what of names is not in list.
func missingFrom(list, names []string) []string {
	var missing []string
	for _, name := range names {
		if !slices.Contains(list, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// ruleGate holds added or widened allow rules, and deny rules that went away.
// The rest of a changed list stays as written.
func ruleGate() gate {
	at := func(c *Config) *[]Rule { return &c.Approvals.Rules }
	return field(at, func(old, new []Rule) (string, bool) {
		for _, rule := range new {
			if rule.Action != "deny" && !holdsRule(old, rule) {
				return fmt.Sprintf("approvals.rules: an allow rule for %s would be added", ruleTarget(rule)), true
			}
		}
		for _, rule := range old {
			if rule.Action == "deny" && !holdsRule(new, rule) {
				return fmt.Sprintf("approvals.rules: the deny rule for %s would go", ruleTarget(rule)), true
			}
		}
		return "", false
	})
}

func ruleTarget(rule Rule) string {
	if rule.Server == "" {
		return rule.Tool
	}
	return rule.Server + " " + rule.Tool
}

func holdsRule(rules []Rule, rule Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool {
		return r.ID == rule.ID && sameRule(r, rule)
	})
}

func sameRule(a, b Rule) bool {
	sameTimes := a.Until.Equal(b.Until) && a.Created.Equal(b.Created)
	a.Until, a.Created = b.Until, b.Created
	return sameTimes && a == b
}

// serverListGate holds servers that would be switched on again.
func serverListGate() gate {
	return shrinks("disabledMcpServers", "would be started", func(c *Config) *[]string { return &c.DisabledMCPServers })
}

func sandboxGate() gate {
	return field(func(c *Config) *Sandbox { return &c.Sandbox }, func(old, new Sandbox) (string, bool) {
		return "sandbox would confine servers less", looserSandbox(old, new)
	})
}

// looserSandbox reports whether new confines less than old.
func looserSandbox(old, new Sandbox) bool {
	if !old.Enabled {
		return false
	}
	return !new.Enabled || new.Network.AllowOutbound && !old.Network.AllowOutbound ||
		len(missingFrom(old.Filesystem.AllowWrite, new.Filesystem.AllowWrite)) > 0 ||
		len(missingFrom(new.Filesystem.DenyRead, old.Filesystem.DenyRead)) > 0
}

// serverGate holds one server back when it is new, when it would be another
// program or address, or when it would be trusted or offered more.
func serverGate(name string) gate {
	return gate{
		value: func(c *Config) any { return c.MCPServers[name] },
		loosened: func(old, new *Config) (string, bool) {
			after, ok := new.MCPServers[name]
			if !ok {
				return "", false
			}
			before, known := old.MCPServers[name]
			if !known {
				return fmt.Sprintf("mcpServers: server %q would be added", name), true
			}
			what := looserServer(before, after, old.Sandbox, new.Sandbox)
			return fmt.Sprintf("mcpServers: server %q would %s", name, what), what != ""
		},
		keep: func(old, into *Config) {
			if before, ok := old.Clone().MCPServers[name]; ok {
				into.MCPServers[name] = before
				return
			}
			delete(into.MCPServers, name)
		},
	}
}

// looserServer says what a changed server would do that it did not, or "".
func looserServer(old, new MCPServer, oldDefault, newDefault Sandbox) string {
	switch {
	case old.Command != new.Command || !slices.Equal(old.Args, new.Args):
		return "run another command"
	case old.URL != new.URL:
		return "be at another address"
	case old.Cwd != new.Cwd || old.WorkingDirectory != new.WorkingDirectory:
		return "run in another folder"
	case !reflect.DeepEqual(old.Env, new.Env) && len(old.Env)+len(new.Env) > 0:
		return "run with another environment"
	case new.TrustAnnotations && !old.TrustAnnotations:
		return "be trusted in what it says of its tools"
	case old.Disabled && !new.Disabled:
		return "be started"
	case moreTools(old.Tools, new.Tools):
		return "offer more tools"
	case looserSandbox(effectiveSandbox(old, oldDefault), effectiveSandbox(new, newDefault)) && !reflect.DeepEqual(old.Sandbox, new.Sandbox):
		return "be confined less"
	}
	return ""
}

func effectiveSandbox(server MCPServer, otherwise Sandbox) Sandbox {
	if server.Sandbox != nil {
		return *server.Sandbox
	}
	return otherwise
}

// moreTools compares two `tools` lists, of which nil and "*" mean all.
func moreTools(old, new []string) bool {
	allOld := old == nil || slices.Contains(old, "*")
	allNew := new == nil || slices.Contains(new, "*")
	return !allOld && (allNew || len(missingFrom(old, new)) > 0)
}
