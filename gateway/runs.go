package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
)

// Run runs one request; it is what the doors call. When the gateway closes, the
// request ends.
func (g *Gateway) Run(ctx context.Context, req loop.Request) (*loop.Result, error) {
	if !g.enter() {
		return nil, errStopping
	}
	defer g.ended()
	defer g.runs.Done()
	defer g.rules.EndRun(req.Run)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.stopping, func() { cancel(approvals.ErrShuttingDown) })()
	result, err := g.loop.Run(ctx, req)
	if errors.Is(err, approvals.ErrShuttingDown) {
		return nil, errStopping
	}
	return result, err
}

// errStopping is what a request gets that our end cuts short.
var errStopping = &models.Error{
	Code: models.NoDeployment, Status: http.StatusServiceUnavailable, Err: approvals.ErrShuttingDown,
	Message: "Pointsman is shutting down; ask again when it runs", RetryAfter: 5 * time.Second,
}

// enter counts a run in, unless the gateway closes.
func (g *Gateway) enter() bool {
	g.entering.Lock()
	defer g.entering.Unlock()
	if g.stopping.Err() != nil {
		return false
	}
	g.runs.Add(1)
	g.active.Add(1)
	g.notices.notify()
	return true
}

// awaitRuns lets the runs end their rows in the journal. One whose caller does
// not read does not keep us for long.
func (g *Gateway) awaitRuns() {
	ended := make(chan struct{})
	go func() { g.runs.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(shutdownPatience):
		g.log.Warn("not all runs have ended", "runs", g.active.Load())
	}
}

func (g *Gateway) loopSettings() loop.Settings {
	t := g.live.Load().cfg.Tools
	s := loop.Settings{MaxRounds: t.MaxRounds, Parallel: t.Parallel, PlanMode: t.PlanMode}
	if t.LoopDetection.Enabled {
		s.LoopSoft, s.LoopHard = t.LoopDetection.Soft, t.LoopDetection.Hard
	}
	return s
}
