package control

import (
	"context"
	"net/http"

	"pointsman/gateway/config"
)

// Settings are the configuration as a form shows it. See config.Settings.
type Settings = config.Settings

// Edit changes one setting. See config.Edit.
type Edit = config.Edit

// ConflictError says that the file is not the one that a change was made from.
// Nothing was changed.
type ConflictError struct {
	Current Settings // as they are now
}

func (e *ConflictError) Error() string {
	return "saving the settings: " + e.Current.Path + " was changed meanwhile; look at what it holds now and save again"
}

// InvalidError says that a change would make the configuration invalid. Nothing
// was changed.
type InvalidError struct {
	Problems []config.Problem // each with the path of the setting at fault
	Message  string           // all of it in words
}

func (e *InvalidError) Error() string { return e.Message }

// edition is the body of a change of the settings.
type edition struct {
	Revision string `json:"revision"`
	Edits    []Edit `json:"edits,omitempty"`
}

func (s *Server) settingsRoutes() {
	s.managed("GET /settings", func(m Manager, r *http.Request) (any, error) { return m.Settings(r.Context()) })
	change := func(pattern string, make func(m Manager, ctx context.Context, e edition) (Settings, error)) {
		s.managed(pattern, func(m Manager, r *http.Request) (any, error) {
			e, err := readBody[edition](r)
			if err != nil {
				return nil, err
			}
			return make(m, r.Context(), e)
		})
	}
	change("POST /settings", func(m Manager, ctx context.Context, e edition) (Settings, error) {
		return m.Edit(ctx, e.Revision, e.Edits)
	})
	change("POST /settings/held/accept", func(m Manager, ctx context.Context, e edition) (Settings, error) {
		return m.AcceptHeld(ctx, e.Revision)
	})
	change("POST /settings/held/refuse", func(m Manager, ctx context.Context, e edition) (Settings, error) {
		return m.RefuseHeld(ctx, e.Revision)
	})
}

// Settings returns the configuration as it is now. It needs the secret, as all
// below does that changes or reveals a setting.
func (c *Client) Settings(ctx context.Context) (Settings, error) {
	return ask[Settings](ctx, c, http.MethodGet, "/settings", nil)
}

// Edit makes all of the edits, or none, in the file and in what is in force,
// and returns the settings after it. The file's comments stay, and nothing of
// the edits is held. The error is a *ConflictError when revision is not that of
// the file any more, an *InvalidError when the result would not be valid, or a
// *RefusedError.
func (c *Client) Edit(ctx context.Context, revision string, edits []Edit) (Settings, error) {
	return c.change(ctx, "/settings", edition{revision, edits})
}

// AcceptHeld puts in force what another program wrote into the file and waits
// for a yes. A *ConflictError says that the file holds something else by now.
func (c *Client) AcceptHeld(ctx context.Context, revision string) (Settings, error) {
	return c.change(ctx, "/settings/held/accept", edition{Revision: revision})
}

// RefuseHeld takes out of the file what waits for a yes: what is in force takes
// its place. A *ConflictError says that the file holds something else by now.
func (c *Client) RefuseHeld(ctx context.Context, revision string) (Settings, error) {
	return c.change(ctx, "/settings/held/refuse", edition{Revision: revision})
}

func (c *Client) change(ctx context.Context, path string, e edition) (Settings, error) {
	return ask[Settings](ctx, c, http.MethodPost, path, e)
}
