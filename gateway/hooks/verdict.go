package hooks

import (
	"encoding/json"
	"fmt"
)

// Verdict is the answer to an event. The zero Verdict denies.
type Verdict struct {
	Allow     bool            `json:"allow"`
	Reason    string          `json:"reason,omitempty"`    // of a denial; the model reads it
	Arguments json.RawMessage `json:"arguments,omitempty"` // set when the person edited them
}

func deny(format string, args ...any) Verdict {
	return Verdict{Reason: fmt.Sprintf(format, args...)}
}

// unexplained is the reason of a denial that has none.
const unexplained = "Pointsman did not allow it"

// Output is the one JSON object that Copilot is to read, for an event of that
// name; one that is not known is taken for PreToolUse.
func (v Verdict) Output(event string) []byte {
	var answer any
	switch event {
	case PostToolUse, PostToolUseFailure, SessionEnd:
		answer = struct{}{}
	case PermissionRequest:
		answer = v.permission()
	default:
		answer = v.decision()
	}
	out, err := json.Marshal(answer)
	if err != nil { // only arguments that are no JSON could fail
		return []byte(`{"permissionDecision":"deny","permissionDecisionReason":"` + unexplained + `"}`)
	}
	return out
}

// decision is the answer to preToolUse.
func (v Verdict) decision() any {
	type decision struct {
		Decision  string          `json:"permissionDecision"`
		Reason    string          `json:"permissionDecisionReason,omitempty"`
		Arguments json.RawMessage `json:"modifiedArgs,omitempty"`
	}
	if v.Allow {
		return decision{Decision: "allow", Arguments: v.Arguments}
	}
	return decision{Decision: "deny", Reason: v.reason()}
}

// permission is the answer to permissionRequest.
func (v Verdict) permission() any {
	type permission struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message,omitempty"`
	}
	if v.Allow {
		return permission{Behavior: "allow"}
	}
	return permission{Behavior: "deny", Message: v.reason()}
}

func (v Verdict) reason() string {
	if v.Reason == "" {
		return unexplained
	}
	return v.Reason
}
