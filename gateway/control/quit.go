package control

import (
	"context"
	"net/http"
)

// quitRoute lets who holds the secret end the resident.
func (s *Server) quitRoute() {
	s.mux.HandleFunc("POST /quit", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.holdsSecret(r):
			fail(w, http.StatusForbidden, "Pointsman is ended in its window, in its tray, or with a signal")
		case s.opts.Quit == nil:
			fail(w, http.StatusNotFound, "this Pointsman ends with the command it belongs to")
		default:
			write(w, http.StatusOK, done{Done: true})
			s.opts.Quit()
		}
	})
}

// Quit ends the resident. The reply comes before the end.
func (c *Client) Quit(ctx context.Context) error {
	return c.send(ctx, http.MethodPost, "/quit", struct{}{}, &done{})
}
