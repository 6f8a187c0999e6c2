// Package approvals decides whether a call may run. It holds the requests that
// wait for a person (Desk), the decisions they get, and the rules that are
// remembered. It fails closed: whatever is unclear is a denial, and the zero
// Decision denies.
//
// It knows nothing of models, servers or windows; callers describe what wants
// to run in a Request and ask a Gate. Gate.Ask runs its approver in a goroutine
// that ends with the call; Terminal.Run owns the one that reads the input.
package approvals

import (
	"context"
	"encoding/json"
	"time"
)

// Class is what a tool can do to the world.
type Class string

// The risk classes. Everything but Read is risky.
const (
	Read        Class = "read"
	Write       Class = "write"
	Destructive Class = "destructive"
	Execute     Class = "execute"
	OpenWorld   Class = "open_world"
)

// Request describes one call that wants to run. It is what a person is shown.
type Request struct {
	ID        string          `json:"id"`
	Door      string          `json:"door"`    // http, mcp, hook, chat, demo, go
	Client    string          `json:"client"`  // who asks: name and version, or ""
	Session   string          `json:"session"` // what correlates the client's calls, or ""
	CWD       string          `json:"cwd"`
	Model     string          `json:"model"`
	Run       string          `json:"run"`
	Round     int             `json:"round"`
	Call      int             `json:"call"` // its place among the calls of the round, from 1; 0: not known
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`    // the server's own name of it
	Offered   string          `json:"offered"` // the name the model sees
	Title     string          `json:"title"`
	Arguments json.RawMessage `json:"arguments"`
	// Shell says that the arguments are a shell's command line: then no one
	// permission covers every call of the tool. Command is that line's words when
	// it is one plain command, and nil otherwise.
	Shell            bool     `json:"shell,omitempty"`
	Command          []string `json:"command,omitempty"`
	Warnings         []string `json:"warnings,omitempty"` // what is destructive in this very call, each in a sentence
	Class            Class    `json:"class"`
	Risky            bool     `json:"risky"`
	Evidence         []string `json:"evidence"` // why it is held risky, strongest first
	Reason           string   `json:"reason"`   // why it is asked now, in a sentence
	PlanStep         string   `json:"plan_step"`
	Definition       string   `json:"definition"`        // hash of the tool's definition
	DefinitionChange string   `json:"definition_change"` // unified diff against what was last seen, or ""
	// AlwaysAsk puts the request to a person whatever the settings and the
	// remembered permissions say; a remembered denial still holds. It is for
	// calls that could switch the gates off.
	AlwaysAsk bool      `json:"always_ask"`
	Created   time.Time `json:"created"`
	Deadline  time.Time `json:"deadline"`
}

// Outcome is how a request ended.
type Outcome string

// The outcomes. Only Allowed lets a call run.
const (
	Allowed     Outcome = "allowed"
	Denied      Outcome = "denied"
	NotAnswered Outcome = "not_answered" // nobody answered in time
	Withdrawn   Outcome = "withdrawn"    // the caller went away, or we are shutting down
)

// Who decided, as recorded in Decision.Approver.
const (
	ByDesk        = "desk"
	ByStatic      = "static"
	ByAllowAll    = "allow_all"
	ByDenyAll     = "deny_all"
	ByRule        = "rule"
	ByElicitation = "elicitation"
	ByTerminal    = "terminal"
	ByNone        = "none"    // there was nobody to ask
	ByError       = "error"   // the approver failed or panicked
	ByInvalid     = "invalid" // the approver answered nonsense
)

// Decision is the answer to a Request. The zero Decision denies.
type Decision struct {
	ID        string          `json:"id,omitempty"` // the request it answers; an approver may leave it empty
	Outcome   Outcome         `json:"outcome"`
	Reason    string          `json:"reason"`              // the person's, or ours; reaches the model
	Approver  string          `json:"approver"`            // one of the By constants
	Rule      string          `json:"rule,omitempty"`      // id of the rule that decided
	Scope     *Scope          `json:"scope,omitempty"`     // what to remember; nil: this call only
	Arguments json.RawMessage `json:"arguments,omitempty"` // set when the person edited them
}

// Allows reports whether the call may run.
func (d Decision) Allows() bool { return d.Outcome == Allowed }

// ByPerson reports whether a person has just decided, rather than a setting or a
// remembered rule.
func (d Decision) ByPerson() bool {
	return d.Approver == ByDesk || d.Approver == ByTerminal || d.Approver == ByElicitation
}

// An Approver answers requests. Ask blocks until there is an answer or ctx
// ends, and must return soon after ctx ends; the Gate bounds it, checks what it
// says and catches its panics.
type Approver interface {
	Ask(ctx context.Context, req Request) (Decision, error)
}
