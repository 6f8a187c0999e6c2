package control

import (
	"context"
	"net/http"
	"net/url"

	"pointsman/gateway/loop"
)

func (s *Server) runRoutes() {
	s.managed("GET /runs", func(m Manager, r *http.Request) (any, error) { return m.ActiveRuns(r.Context()) })
	s.managed("POST /runs/{id}/stop", func(m Manager, r *http.Request) (any, error) {
		stopped, err := m.StopRun(r.Context(), r.PathValue("id"))
		return done{Done: stopped}, err
	})
}

// Runs returns the active runs, oldest first, as their events would have told
// somebody who listened from the start. Who wants both opens Events first.
func (c *Client) Runs(ctx context.Context) ([]loop.Active, error) {
	return ask[[]loop.Active](ctx, c, http.MethodGet, "/runs", nil)
}

// StopRun cancels a run: its provider request, its calls and what waits for a
// person. It reports whether the run was active.
func (c *Client) StopRun(ctx context.Context, id string) (bool, error) {
	reply, err := ask[done](ctx, c, http.MethodPost, "/runs/"+url.PathEscape(id)+"/stop", nil)
	return reply.Done, err
}
