package control

import (
	"context"
	"net/http"
)

// programRoutes let who holds the secret end the resident, and repair its launch
// at login.
func (s *Server) programRoutes() {
	s.guarded(guard{
		pattern: "POST /quit", open: s.opts.Quit != nil,
		forbidden: "Pointsman is ended in its window, in its tray, or with a signal",
		absent:    "this Pointsman ends with the command it belongs to",
	}, func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, done{Done: true})
		s.opts.Quit()
	})
	s.guarded(guard{
		pattern: "POST /launch/repair", open: s.opts.RepairLaunch != nil,
		forbidden: "launch at login is repaired in the window of Pointsman",
		absent:    "this Pointsman has no desktop that could launch it",
	}, func(w http.ResponseWriter, _ *http.Request) {
		if err := s.opts.RepairLaunch(); err != nil {
			failWith(w, err)
			return
		}
		write(w, http.StatusOK, done{Done: true})
	})
}

// Quit ends the resident. The reply comes before the end. It needs the secret.
func (c *Client) Quit(ctx context.Context) error {
	return c.send(ctx, http.MethodPost, "/quit", struct{}{}, &done{})
}

// RepairLaunch has the desktop start the resident's program at login, in the
// place of another one. It needs the secret.
func (c *Client) RepairLaunch(ctx context.Context) error {
	return c.send(ctx, http.MethodPost, "/launch/repair", struct{}{}, &done{})
}
