package control

import (
	"context"
	"net/http"

	"pointsman/gateway/config"
)

// Settings are the configuration as a form shows it.
type Settings struct {
	Path     string // of the file, which may not exist yet
	Revision string // of the file's text; an Edit names the one it was made from
	// Config is what is in force. A literal secret in it is masked; one that
	// comes back masked in an Edit stays what it was.
	Config *config.Config
	// Set names the settings that the file does not decide ("gateway.listen"),
	// with what does, in words: an Edit of one has no effect while that lasts.
	Set      map[string]string
	Problems []config.Problem // warnings of the last load
	Held     []string         // what of the file waits for a yes, in sentences
	Restart  []string         // what takes effect at the next start: paths
	Fault    []string         // why what the file holds now is not in force; empty when it is
	Log      string           // path of the log file; "" when there is none
}

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
	var settings Settings
	return settings, c.exchange(ctx, http.MethodGet, "/settings", nil, &settings)
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
	var settings Settings
	return settings, c.send(ctx, http.MethodPost, path, e, &settings)
}
