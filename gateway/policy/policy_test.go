package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/policy"
)

func read(t *testing.T, text string) *policy.Policy {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return policy.Read(file)
}

func TestServer(t *testing.T) {
	local := config.MCPServer{Command: "npx", Args: []string{"-y", "memory"}}
	remote := config.MCPServer{URL: "https://h/mcp"}
	confined, opened := local, local
	confined.Sandbox, opened.Sandbox = &config.Sandbox{Enabled: true}, &config.Sandbox{}
	tests := []struct {
		name, policy string
		entry        config.MCPServer
		want         string // is in the conflict; "" for none
	}{
		{"empty", "", local, ""},
		{"nothing settled", "sandbox: {required: false}\nservers: {}\n", local, ""},
		{"required, by default", "sandbox: {required: true}", local, ""},
		{"required, and there", "sandbox: {required: true}", confined, ""},
		{"required, and switched off", "sandbox: {required: true}", opened, "mcpServers.me.sandbox"},
		{"required, of a remote one", "sandbox: {required: true}", remote, ""},
		{"named", "servers: {allowed: [you, me]}", local, ""},
		{"a pattern", "servers: {allowed: ['m*']}", local, ""},
		{"not named", "servers: {allowed: [you]}", local, "may be started"},
		{"none", "servers: {allowed: []}", local, "may be started"},
		{"the command", "servers: {allowed: [{command: [npx, -y, memory]}]}", local, ""},
		{"another argument", "servers: {allowed: [{command: [npx, -y]}]}", local, "may be started"},
		{"the name of another command", "servers: {allowed: [{name: me, command: [uvx, memory]}]}", local, "may be started"},
		{"the address", "servers: {allowed: [{url: 'https://h/mcp'}]}", remote, ""},
		{"another address", "servers: {allowed: [{name: me, url: 'https://other/mcp'}]}", remote, "may be started"},
		{"a command instead of the address", "servers: {allowed: [{name: me, url: 'https://h/mcp'}]}", local, "may be started"},
		{"a key that is not known", "sandbox: {requird: true}", local, "requird"},
		{"a key of an allowed one", "servers: {allowed: [{nme: me}]}", local, "nme"},
		{"an allowed one that says nothing", "servers: {allowed: [{}]}", local, "allowed[0]"},
		{"a pattern that is none", "servers: {allowed: ['[']}", local, "pattern"},
		{"no policy", "[", local, "cannot be followed"},
		{"another document", "sandbox: {}\n---\nsandbox: {required: true}\n", local, "document"},
		{"too large", "# " + strings.Repeat("x", 1<<20), local, "larger"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := read(t, test.policy)
			cfg := config.Default()
			cfg.MCPServers = map[string]config.MCPServer{"me": test.entry}
			err := p.Server("me", p.Confined(cfg)["me"])
			var conflict *policy.Conflict
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (!errors.As(err, &conflict) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), policy.Code) || !strings.Contains(err.Error(), p.Path)):
				t.Errorf("the conflict is %v, want %s", err, test.want)
			}
			if got := p.Conflicts(cfg); (len(got) > 0) != (test.want != "") {
				t.Errorf("conflicts: %v", got)
			}
			cfg.DisabledMCPServers = []string{"me"}
			if got := p.Conflicts(cfg); len(got) > 0 {
				t.Errorf("of a disabled server: %v", got)
			}
		})
	}
}

func TestConfined(t *testing.T) {
	cfg := config.Default()
	cfg.Sandbox.Network.AllowOutbound = true
	cfg.MCPServers = map[string]config.MCPServer{"own": {Command: "x", Sandbox: &config.Sandbox{}}, "none": {Command: "x"}, "remote": {URL: "https://h/mcp"}}
	if got := (&policy.Policy{}).Confined(cfg)["none"].Sandbox; got != nil {
		t.Errorf("without a policy it has %+v", got)
	}
	got := read(t, "sandbox: {required: true}").Confined(cfg)
	if box := got["none"].Sandbox; box == nil || !box.Enabled || !box.Network.AllowOutbound {
		t.Errorf("the one for all is %+v", box)
	}
	if got["remote"].Sandbox != nil {
		t.Error("a remote server is confined")
	}
	if got["own"].Sandbox.Enabled || cfg.Sandbox.Enabled || cfg.MCPServers["none"].Sandbox != nil {
		t.Error("the configuration was changed")
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name, policy string
		edit         func(*config.Config)
		want         string // path of the problem; "" for none
	}{
		{"as it is", "approvals: {require: true}", func(*config.Config) {}, ""},
		{"off", "approvals: {require: true}", func(c *config.Config) { c.Approvals.Require = false }, "approvals.require"},
		{"off, without a policy", "", func(c *config.Config) { c.Approvals.Require = false }, ""},
		{"allowed", "approvals: {require: true}", func(c *config.Config) { c.Approvals.Approver = "allow" }, "approvals.approver"},
		{"static", "approvals: {require: true}", func(c *config.Config) { c.Approvals.Approver = "static" }, "approvals.approver"},
		{"denied", "approvals: {require: true}", func(c *config.Config) { c.Approvals.Approver = "deny" }, ""},
		{"answered by programs", "approvals: {require: true}", func(c *config.Config) { c.Approvals.Control = true }, "approvals.control"},
		{"all are safe", "approvals: {require: true}", func(c *config.Config) { c.Tools.Safe = []string{"a", "*"} }, "tools.safe[1]"},
		{"all of all servers are safe", "approvals: {require: true}", func(c *config.Config) { c.Tools.Safe = []string{"*__*"} }, "tools.safe[0]"},
		{"some are safe", "approvals: {require: true}", func(c *config.Config) { c.Tools.Safe = []string{"files__read_*"} }, ""},
		{"a broken policy", "approvals: {", func(c *config.Config) { c.Approvals.Require = false }, "approvals.require"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := config.Default()
			test.edit(cfg)
			problems := read(t, test.policy).Check(cfg)
			got := ""
			if len(problems) > 0 {
				got = problems[0].Path
			}
			if got != test.want || got != "" && (problems[0].Warning || !strings.Contains(problems[0].Error(), policy.Code)) {
				t.Errorf("%v, want %s", problems, test.want)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		if p := policy.Read(path); p.Fault == "" || p.Server("me", config.MCPServer{}) == nil {
			t.Errorf("%s is a policy: %+v", path, p)
		}
	}
}
