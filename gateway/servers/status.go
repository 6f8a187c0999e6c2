package servers

import (
	"encoding/json"
	"time"
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
	Tools         int    `json:"tools"`
	ConfigChanged bool   `json:"configChanged"` // Live is still the connection of the entry as it was before
	Junk          int64  `json:"junk"`          // lines on stdout that were no JSON-RPC, since the start
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
}
