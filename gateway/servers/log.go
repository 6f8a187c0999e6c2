package servers

import (
	"encoding/json"

	"pointsman/gateway/servers/diagnostics"
)

// LogMessage is one notifications/message of a server.
type LogMessage struct {
	Level  string          `json:"level"` // as in RFC 5424: debug, info, notice, warning, error, critical, alert, emergency
	Logger string          `json:"logger,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// onLog hands a message of a server's to the diagnostics and to the call that it is
// about, if it is certain whose call that is. Of several calls of one party, the
// oldest gets it, so that the party gets it once.
func (s *server) onLog(sess *session, id int64, params json.RawMessage) {
	var m LogMessage
	if json.Unmarshal(params, &m) != nil {
		return
	}
	from := m.Logger
	if from != "" {
		from += ": "
	}
	s.note(levelOfLog(m.Level), diagnostics.Protocol, sess.id, "its log: %s%s", from, m.Data)
	calls := callsOf(sess.inFlight(id))
	if sameParty(calls) && calls[0].OnLog != nil {
		calls[0].OnLog(m)
	}
}

// levelOfLog is the level of our records that comes nearest.
func levelOfLog(level string) diagnostics.Level {
	switch level {
	case "debug":
		return diagnostics.Debug
	case "warning":
		return diagnostics.Warning
	case "error", "critical", "alert", "emergency":
		return diagnostics.Error
	default:
		return diagnostics.Info
	}
}

// logLevel is the least grave level of messages that servers are asked for: what
// is of use to a person, unless whoever looks for a fault wants more.
func (s *server) logLevel() string {
	switch s.host.notes.Level() {
	case diagnostics.Debug, diagnostics.Trace:
		return "debug"
	default:
		return "info"
	}
}
