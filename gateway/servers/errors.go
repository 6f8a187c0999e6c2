package servers

import (
	"encoding/json"
	"fmt"
	"time"
)

// An UnavailableError says that a call was not sent, because the server is not
// connected and could not be connected in time.
type UnavailableError struct {
	Server string
	Status State
	Reason string
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("server %q is not available (%s): %s", e.Server, e.Status, e.Reason)
}

// A TimeoutError says that a server did not answer a call in time. The server
// was told to cancel it; whether it ran is unknown.
type TimeoutError struct {
	Server string
	Tool   string
	After  time.Duration // the server's time-out: the longest wait without an answer or progress
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("calling tool %q of server %q: no answer within %s; it was told to cancel, its outcome is unknown (raise the server's `timeout` if it needs longer)", e.Tool, e.Server, e.After)
}

// A LostError says that the connection went away during a call. Whether the
// call ran is unknown, and it is never sent again.
type LostError struct {
	Server string
	Tool   string
	Reason string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("calling tool %q of server %q: the connection was lost, the call's outcome is unknown: %s", e.Tool, e.Server, e.Reason)
}

// A ProtocolError is the JSON-RPC error a server answered a call with.
type ProtocolError struct {
	Server  string
	Tool    string
	Code    int64
	Message string
	Data    json.RawMessage // nil when the server sent none
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("calling tool %q of server %q: %s (code %d)", e.Tool, e.Server, e.Message, e.Code)
}
