package servers

import (
	"encoding/json"
	"fmt"
	"time"
)

// doing says what was being done when a request failed.
func doing(server, tool, method string) string {
	if method == "" || method == "tools/call" {
		return fmt.Sprintf("calling tool %q of server %q", tool, server)
	}
	return fmt.Sprintf("asking server %q for %s", server, method)
}

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
	Tool   string        // "" of a request that calls none
	Method string        // tools/call, or the other request's
	After  time.Duration // the server's time-out: the longest wait without an answer or progress
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s: no answer within %s; it was told to cancel, its outcome is unknown (raise the server's `timeout` if it needs longer)", doing(e.Server, e.Tool, e.Method), e.After)
}

// A LostError says that the connection went away during a call. Whether the
// call ran is unknown, and it is never sent again.
type LostError struct {
	Server string
	Tool   string // "" of a request that calls none
	Method string // tools/call, or the other request's
	Reason string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: the connection was lost, the outcome is unknown: %s", doing(e.Server, e.Tool, e.Method), e.Reason)
}

// A ProtocolError is the JSON-RPC error a server answered a call with.
type ProtocolError struct {
	Server  string
	Tool    string // "" of a request that calls none
	Method  string // tools/call, or the other request's
	Code    int64
	Message string
	Data    json.RawMessage // nil when the server sent none
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("%s: %s (code %d)", doing(e.Server, e.Tool, e.Method), e.Message, e.Code)
}

// A LackingError says that a server has nothing of a kind: it does not announce
// it, or announces it and does not know the method.
type LackingError struct {
	Server string
	What   string // prompts, resources, resource templates, resource subscriptions, completions
}

func (e *LackingError) Error() string { return fmt.Sprintf("server %q has no %s", e.Server, e.What) }
