package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/journal"
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
	if g.clocks.slept(time.Now(), time.Since(g.started)) {
		g.Woke()
	}
	if req.Run == "" {
		req.Run = journal.NewID("run_")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer g.rules.EndRun(req.Run)
	defer g.stops.add(req.Run, cancel)()
	defer context.AfterFunc(g.stopping, func() { cancel(approvals.ErrShuttingDown) })()
	result, err := g.loop.Run(ctx, req)
	if result != nil {
		g.plans.note(req.Session, req.Client, result.Plan)
	}
	switch {
	case errors.Is(err, approvals.ErrShuttingDown):
		return nil, errStopping
	case err != nil && errors.Is(context.Cause(ctx), approvals.ErrStopped):
		return nil, errStopped
	}
	return result, err
}

// errStopped is what a request gets that a person stopped. Its status is one that
// clients do not try again by themselves, as they do after a 5xx.
var errStopped = &models.Error{
	Code: models.InvalidRequest, Status: http.StatusBadRequest, Err: approvals.ErrStopped,
	Message: "the run was stopped by the person in Pointsman; do not try it again without being asked",
}

// stops cancel the active runs. The zero value is ready.
type stops struct {
	mu   sync.Mutex // guards the field below
	runs map[string]context.CancelCauseFunc
}

// add notes how a run is cancelled, and returns what forgets it.
func (s *stops) add(run string, cancel context.CancelCauseFunc) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs == nil {
		s.runs = map[string]context.CancelCauseFunc{}
	}
	s.runs[run] = cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.runs, run)
	}
}

// stop cancels a run and reports whether it was active.
func (s *stops) stop(run string) bool {
	s.mu.Lock()
	cancel := s.runs[run]
	s.mu.Unlock()
	if cancel == nil {
		return false
	}
	cancel(approvals.ErrStopped)
	return true
}

// ActiveRuns lists the runs that have not ended.
func (m manager) ActiveRuns(context.Context) ([]loop.Active, error) { return m.g.loop.Active(), nil }

// StopRun cancels a run as its client's going away would.
func (m manager) StopRun(_ context.Context, id string) (bool, error) { return m.g.stops.stop(id), nil }

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
