package gateway

import (
	"cmp"
	"context"
	"os"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/config"
	"pointsman/gateway/hooks"
)

// Hook answers one event of Copilot's hooks, waiting for a person when it must.
func (g *Gateway) Hook(ctx context.Context, e hooks.Event) hooks.Verdict {
	return g.hooks.Handle(ctx, e)
}

// ApprovalTimeout is how long a person has to answer a request.
func (g *Gateway) ApprovalTimeout() time.Duration {
	return cmp.Or(time.Duration(g.Config().Approvals.Timeout), approvals.DefaultTimeout)
}

// HookAlone answers an event where no resident runs: what only looks may run, and
// nothing else. configFile is where the configuration is.
func HookAlone(e hooks.Event, home config.Home, configFile string) hooks.Verdict {
	own := newOwnFiles(home, configFile)
	return hooks.Alone(e, hooks.Judge{Own: calls.Own{File: own.Named, Folder: own.Held}, Home: userHome()})
}

// hookJudge returns what judges Copilot's calls by the configuration in force.
func (g *Gateway) hookJudge(own calls.Own) func() hooks.Judge {
	home := userHome()
	return func() hooks.Judge {
		return hooks.Judge{Own: own, Home: home, Listed: g.live.Load().classifier.UserSays}
	}
}

// userHome is the user's home folder, or "".
func userHome() string {
	home, err := os.UserHomeDir()
	if err != nil { // then no place in it is known
		return ""
	}
	return home
}

// alarm tells the person of a call that ran although it was not allowed.
func (g *Gateway) alarm(text string) {
	if g.opts.OnAlarm != nil {
		g.background(func() { g.opts.OnAlarm(text) })
	}
}
