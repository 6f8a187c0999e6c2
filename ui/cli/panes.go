package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/windows"
)

// panes are the windows of a resident: a process of their own, which is there
// when it is needed.
type panes struct {
	*windows.Process
	changed chan struct{} // size 1: whether there are windows has changed
	// used: they bring up what waits by themselves. A resident in a terminal has
	// none until somebody wants them.
	used atomic.Bool
}

// newPanes returns the windows that secret gives the right to answer; nil when
// this build has none.
func (a *app) newPanes(secret string, used bool, log *slog.Logger) *panes {
	program, err := os.Executable()
	if a.Windows == nil || err != nil {
		return nil
	}
	p := &panes{changed: make(chan struct{}, 1)}
	p.used.Store(used)
	p.Process = windows.New(windows.Options{
		Command: []string{program, "window"}, Secret: secret, Impossible: noDisplay(a.Getenv), Logger: log,
		Changed: func() {
			select {
			case p.changed <- struct{}{}:
			default: // it is seen with what was said before
			}
		},
	})
	return p
}

// noDisplay says why no window can come up, as far as that is known before one is
// tried.
func noDisplay(getenv func(string) string) string {
	switch runtime.GOOS {
	case "windows", "darwin":
		return ""
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return "no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"
	}
	return ""
}

// attend reports whether the windows would come up for what waits.
func (p *panes) attend() bool { return p != nil && p.used.Load() && p.Fault() == "" }

// open shows the window for an action.
func (p *panes) open(ctx context.Context, action model.Action) error {
	p.used.Store(true)
	if err := p.Show(ctx, action); err != nil {
		return fmt.Errorf("%w; the gateway runs on; started as `pointsman serve` instead, it asks at its terminal", err)
	}
	return nil
}

// raise opens the window for who asks over the control socket.
func (p *panes) raise(ctx context.Context, show string) control.Raised {
	if err := p.open(ctx, model.Action(show)); err != nil {
		return control.Raised{Message: "its window does not come up: " + approvals.VisibleText(err.Error())}
	}
	return control.Raised{Window: true, Message: "its window is up"}
}

// watch tells the process of the windows when it is needed, until ctx ends.
func (p *panes) watch(ctx context.Context, g *gateway.Gateway) {
	waiting, unsubscribe := g.Desk().Subscribe()
	defer unsubscribe()
	asked, unsubscribeAsked := g.Questions().Subscribe()
	defer unsubscribeAsked()
	others, unsubscribeOthers := g.Subscribe()
	defer unsubscribeOthers()
	for runs := int64(0); ; {
		select {
		case <-waiting:
		case <-asked:
		case <-others:
		case <-ctx.Done():
			return
		}
		before := runs
		runs = g.Runs()
		if !p.used.Load() {
			continue
		}
		p.Need(len(g.Desk().Pending()) > 0 || len(g.Questions().Open()) > 0)
		if before == 0 && runs > 0 && mayAsk(g) {
			p.Warm()
		}
	}
}

// mayAsk reports whether a run could bring up something to approve.
func mayAsk(g *gateway.Gateway) bool {
	if cfg := g.Config().Approvals; !cfg.Require || cfg.Approver != "ask" {
		return false
	}
	for _, tool := range g.Tools() {
		if tool.Risky && tool.Missing == nil {
			return true
		}
	}
	return false
}
