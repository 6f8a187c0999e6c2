package servers

import (
	"context"
	"encoding/json"
	"time"

	"pointsman/gateway/servers/signin"
)

// State is where a server is in its life.
type State string

// The states.
const (
	NotConfigured State = "not_configured" // the entry has neither command nor url
	Disabled      State = "disabled"       // the configuration says so
	Stopped       State = "stopped"        // Run is not running, or the user stopped the server
	Pending       State = "pending"        // connecting
	Connected     State = "connected"
	NeedsAuth     State = "needs-auth" // the server answered 401 or 403
	Failed        State = "failed"     // the last attempt failed; it is tried again, unless it has crashed too often
)

// Status is one server as shown to a person or a script.
type Status struct {
	Name          string `json:"name"`
	Enabled       bool   `json:"enabled"`
	Transport     string `json:"transport"` // stdio, http, sse, builtin, or "" when not configured
	Live          Live   `json:"live"`
	Confined      bool   `json:"confined"` // its process may only run in a sandbox
	Tools         int    `json:"tools"`
	ConfigChanged bool   `json:"configChanged"` // Live is still the connection of the entry as it was before
	Junk          int64  `json:"junk"`          // lines on stdout that were no JSON-RPC, since the start
	// SignIn is how it stands with the sign-in to a remote server; "" when there is
	// none to speak of.
	SignIn signin.State `json:"signIn"`
}

// Live is the part of a Status that changes by itself.
type Live struct {
	Status       State           `json:"status"`
	Error        string          `json:"error"` // why it is not connected, or ""
	Since        time.Time       `json:"since"` // when Status began
	PID          int             `json:"pid"`   // 0 for a remote or built-in server
	Protocol     string          `json:"protocol"`
	ServerInfo   json.RawMessage `json:"serverInfo"`   // as the server sent it, less credentials, or null
	ConnectionID string          `json:"connectionId"` // new for each connection
}

// Tool is one tool a server advertises.
type Tool struct {
	Server  string
	Name    string
	Raw     json.RawMessage // the definition, exactly as the server sent it
	Trusted bool            // the user trusts this server's annotations, or the server is ours
	Fault   string          // why it cannot be called as it is defined; "" when it can
}

// status returns the server's state: as long as the one before it has not ended,
// that one's connection, which is the one that there is.
func (s *server) status() Status {
	s.mu.Lock()
	status := Status{
		Name:      s.name,
		Enabled:   !s.entry.Disabled,
		Transport: s.kind,
		Confined:  s.kind == "stdio" && s.confined(),
		Live:      s.live,
		Tools:     len(s.tools),
		Junk:      s.junk.Load(),
	}
	prev := s.prev
	s.mu.Unlock()
	if account := s.sign.Load(); account != nil {
		status.SignIn = account.State()
	}
	if prev != nil && !prev.hasEnded() {
		status.Live, status.ConfigChanged = prev.status().Live, !sameConnection(prev.entry, s.entry)
	}
	return status
}

func (s *server) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// isUp reports whether the server is connected, or is being connected.
func (s *server) isUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session != nil && !s.session.isLost() || s.isComingLocked()
}

// isComing reports whether the server is being connected, or will be.
func (s *server) isComing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isComingLocked()
}

func (s *server) isComingLocked() bool {
	return s.attempt != nil && (s.live.Status == Pending || s.live.Status == Stopped)
}

// settle waits for the outcome of the attempt that runs or is next.
func (s *server) settle(ctx context.Context) error {
	s.mu.Lock()
	attempt := s.attempt
	s.mu.Unlock()
	if attempt == nil {
		return nil
	}
	select {
	case <-attempt:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
