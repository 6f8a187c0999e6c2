package servers

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"

	"pointsman/gateway/config"
)

// Trial is how a server did that was only tried out.
type Trial struct {
	State      State
	Error      string // why it is not connected; "" when it is
	Tools      []Tool
	Stderr     []string        // its last lines there, at most 200
	ServerInfo json.RawMessage // as the server sent it, less credentials, or null
	Protocol   string
}

// Try connects to a server as Run would, lists its tools, and ends it. The
// server is none of the host's: it may have the name of one. resolve replaces
// the references in its entry; nil means the host's own. It takes the entry's
// start time-out at most.
func (h *Host) Try(ctx context.Context, name string, entry config.MCPServer, resolve func(ctx context.Context, ref string) (string, error)) Trial {
	opts := h.opts
	if resolve != nil {
		opts.Resolve = resolve
	}
	opts.Client = nil // it is only tried out: nobody has called it
	s := newServer(&Host{opts: opts, guard: h.guard, paths: h.paths, dirs: h.roots(), signs: h.signs}, name, entry, false)
	s.onTrial = !h.has(name, entry)
	if s.kind == "" {
		return Trial{State: NotConfigured, Error: "the entry has neither command nor url"}
	}
	sess, tools, err := s.connect(ctx, rand.Text())
	if err != nil {
		return Trial{State: stateOf(err), Error: s.secret.clean(err.Error()), Stderr: s.stderr.lines()}
	}
	defer sess.close()
	live := sess.live()
	return Trial{
		State: live.Status, Tools: tools, Stderr: s.stderr.lines(), ServerInfo: s.secret.cleanJSON(live.ServerInfo), Protocol: live.Protocol,
	}
}

// has reports whether the host has a server that is signed in to in the same way:
// only then does a trial have its tokens.
func (h *Host) has(name string, entry config.MCPServer) bool {
	s := h.find(name)
	return s != nil && s.entry.URL == entry.URL && s.entry.OAuthClientID == entry.OAuthClientID && s.entry.OAuthClientSecret == entry.OAuthClientSecret &&
		s.entry.OAuthGrantType == entry.OAuthGrantType && s.entry.OAuthCallbackPort == entry.OAuthCallbackPort && slices.Equal(s.entry.OAuthScopes, entry.OAuthScopes)
}
