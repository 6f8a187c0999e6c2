package control

import (
	"context"
	"net/http"
)

// launchRoute lets who holds the secret repair launch at login.
func (s *Server) launchRoute() {
	s.mux.HandleFunc("POST /launch/repair", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.holdsSecret(r):
			fail(w, http.StatusForbidden, "launch at login is repaired in the window of Pointsman")
		case s.opts.RepairLaunch == nil:
			fail(w, http.StatusNotFound, "this Pointsman has no desktop that could launch it")
		default:
			if err := s.opts.RepairLaunch(); err != nil {
				failWith(w, err)
				return
			}
			write(w, http.StatusOK, done{Done: true})
		}
	})
}

// RepairLaunch has the desktop start the resident's program at login, in the
// place of another one. It needs the secret.
func (c *Client) RepairLaunch(ctx context.Context) error {
	return c.send(ctx, http.MethodPost, "/launch/repair", struct{}{}, &done{})
}
