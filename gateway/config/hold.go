package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// gate is one setting that guards what may run, who may reach us, or where a
// secret goes.
type gate struct {
	path     []string                              // of the setting, in the file's own keys
	value    func(*Config) any                     // what the setting says, to be compared
	loosened func(old, new *Config) (string, bool) // says in a sentence how new is looser
	keep     func(old, into *Config)               // puts old's setting into the other
}

// holding says what is held.
type holding struct {
	trusted  func(gate) bool   // gates that may be loosened; nil: none
	borrowed map[string]Secret // parts whose key the environment gives, with how a reference to it is written
}

// heldGate is a gate whose change is held.
type heldGate struct {
	gate
	sentence string
}

// Hold returns new with each setting that loosens a gate kept as it is in old,
// and a sentence for each that says what waits for a person's yes. It changes
// neither argument.
func Hold(old, new *Config) (*Config, []string) {
	kept, held := holding{}.apply(old, new)
	return kept, sentences(held)
}

func sentences(held []heldGate) []string {
	var all []string
	for _, h := range held {
		all = append(all, h.sentence)
	}
	return all
}

// apply is Hold. What is put back can make the rest of the change mean something
// else, so it is looked at again until nothing is loosened.
func (h holding) apply(old, new *Config) (*Config, []heldGate) {
	kept := new.Clone()
	var held []heldGate
	for found := true; found; {
		found = false
		for _, g := range gatesOf(old, kept, h.borrowed) {
			if sentence, loosened := g.loosened(old, kept); loosened && (h.trusted == nil || !h.trusted(g)) {
				g.keep(old, kept)
				held, found = append(held, heldGate{g, sentence}), true
			}
		}
	}
	return kept, held
}

// gatesOf lists the gates: the fixed ones, those of secrets, then one for each
// server.
func gatesOf(old, new *Config, borrowed map[string]Secret) []gate {
	gates := append(fixedGates(), listGates()...)
	gates = append(gates, ruleGate(), serverListGate(), sandboxGate())
	gates = append(gates, flowGates(old, new, borrowed)...)
	names := maps.Clone(old.MCPServers)
	if names == nil {
		names = map[string]MCPServer{}
	}
	maps.Copy(names, new.MCPServers)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		gates = append(gates, serverGate(name))
	}
	return gates
}

// field makes the gate of a single setting.
func field[T any](path string, at func(*Config) *T, looser func(old, new T) (string, bool)) gate {
	return gate{
		path:     strings.Split(path, "."),
		value:    func(c *Config) any { return *at(c) },
		loosened: func(old, new *Config) (string, bool) { return looser(*at(old), *at(new)) },
		keep:     func(old, into *Config) { *at(into) = *at(old.Clone()) },
	}
}

// becomes is for a switch that is looser in one position.
func becomes(path string, at func(*Config) *bool, looser bool, what string) gate {
	return field(path, at, func(old, new bool) (string, bool) { return path + ": " + what, old != new && new == looser })
}

func fixedGates() []gate {
	return []gate{
		becomes("approvals.require", func(c *Config) *bool { return &c.Approvals.Require }, false, "off would let risky tools run without asking"),
		becomes("approvals.control", func(c *Config) *bool { return &c.Approvals.Control }, true, "on would let programs answer approvals"),
		becomes("gateway.allow_remote", func(c *Config) *bool { return &c.Gateway.AllowRemote }, true, "on would let other machines reach the gateway"),
		becomes("ollama.enabled", func(c *Config) *bool { return &c.Ollama.Enabled }, true, "on would open a door that takes no key"),
		field("approvals.approver", func(c *Config) *string { return &c.Approvals.Approver }, looserApprover),
		field("gateway.auth", func(c *Config) *string { return &c.Gateway.Auth }, func(old, new string) (string, bool) {
			return "gateway.auth: none would let any local program use the gateway", new != old && new == "none"
		}),
		field("gateway.api_key", func(c *Config) *Secret { return &c.Gateway.APIKey }, func(old, new Secret) (string, bool) {
			return "gateway.api_key: another key would open the gateway", new != old
		}),
		field("gateway.listen", func(c *Config) *string { return &c.Gateway.Listen }, func(old, new string) (string, bool) {
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
		field("tools.allowed", func(c *Config) *[]string { return &c.Tools.Allowed }, func(old, new []string) (string, bool) {
			if len(new) == 0 { // an empty list allows all
				return "tools.allowed would be empty, which allows every tool", len(old) > 0
			}
			added := missingFrom(old, new)
			return fmt.Sprintf("tools.allowed: %s would be allowed", strings.Join(added, ", ")), len(old) > 0 && len(added) > 0
		}),
	}
}

func grows(path, what string, at func(*Config) *[]string) gate {
	return field(path, at, func(old, new []string) (string, bool) {
		added := missingFrom(old, new)
		return fmt.Sprintf("%s: %s %s", path, strings.Join(added, ", "), what), len(added) > 0
	})
}

func shrinks(path, what string, at func(*Config) *[]string) gate {
	return field(path, at, func(old, new []string) (string, bool) {
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
	return field("approvals.rules", at, func(old, new []Rule) (string, bool) {
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
	sameWords := slices.Equal(a.CommandPrefix, b.CommandPrefix)
	a.CommandPrefix, b.CommandPrefix = nil, nil
	return sameTimes && sameWords && reflect.DeepEqual(a, b)
}

// serverListGate holds servers that would be switched on again.
func serverListGate() gate {
	return shrinks("disabledMcpServers", "would be started", func(c *Config) *[]string { return &c.DisabledMCPServers })
}

func sandboxGate() gate {
	return field("sandbox", func(c *Config) *Sandbox { return &c.Sandbox }, func(old, new Sandbox) (string, bool) {
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
		path:  []string{"mcpServers", name},
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
	case len(missingFrom(carriedIn(old.OAuthClientSecret, old.Headers), carriedIn(new.OAuthClientSecret, new.Headers))) > 0:
		return "be sent another secret"
	case !reflect.DeepEqual(old.Prefix, new.Prefix):
		return "offer its tools by other names, which lists of names go by"
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
