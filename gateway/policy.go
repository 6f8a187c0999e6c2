package gateway

import (
	"reflect"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/policy"
	"pointsman/gateway/servers"
)

// policyCheck is config.Options.Check for a policy that may change.
func policyCheck(current func() *policy.Policy) func(*config.Config) []config.Problem {
	return func(cfg *config.Config) []config.Problem { return current().Check(cfg) }
}

// demandApprovals has a person asked about risky calls, whatever is configured:
// the policy wants it, and what is in force may not.
func (g *Gateway) demandApprovals() {
	if now := g.live.Load(); now != nil {
		g.gate.Configure(approvals.Settings{Require: true, Approver: g.person(), Person: g.person(), Timeout: time.Duration(now.cfg.Approvals.Timeout)})
	}
}

// applyServers has the servers follow what is now in force. Those that run and
// no longer may are ended.
func (g *Gateway) applyServers(now *live) {
	entries := now.policy.Confined(now.cfg)
	g.host.Apply(entries, now.cfg.DisabledMCPServers)
	for _, s := range g.host.Status() {
		if s.Live.Status == servers.Connected && now.policy.Server(s.Name, entries[s.Name]) != nil {
			g.host.Refresh(s.Name)
		}
	}
}

// admit returns why a server must not be started: the policy forbids it as it is
// now. One that has changed is put in force as a whole.
func (g *Gateway) admit(name string, entry config.MCPServer) error {
	now := g.opts.Policy()
	if applied := g.live.Load(); applied != nil && !reflect.DeepEqual(now, applied.policy) {
		g.background(func() {
			if err := g.applyLatest(); err != nil {
				g.log.Error("the configuration and the administrator's policy, which has changed, are in conflict", "error", err)
			}
		})
	}
	return now.Server(name, entry)
}
