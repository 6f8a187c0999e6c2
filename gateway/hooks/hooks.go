// Package hooks puts what Copilot wants to do with its own tools before the same
// desk as every other call. Copilot starts `pointsman hook copilot` before and
// after each of its tools; that process hands what it was told to the resident's
// Keeper, and prints the Verdict.
//
// What is unclear is denied, and a call that Copilot runs although it was not
// allowed here raises an alarm. Before a tool runs, a permission leaves a ticket
// (session, tool, hash of the arguments), with which Copilot's own question for
// permission is answered once, and against which what ran is held.
//
// A Keeper starts no goroutine; Handle blocks until there is an answer.
package hooks

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"pointsman/gateway/cut"
)

// Server is the name that Copilot's own tools go by in the record and in rules.
const Server = "copilot"

// NotRunning is why a hook without a resident denies what is no read.
const NotRunning = "Pointsman is not running"

// The events of Copilot that are handled; their names are Copilot's own.
const (
	PreToolUse         = "preToolUse"
	PermissionRequest  = "permissionRequest"
	PostToolUse        = "postToolUse"
	PostToolUseFailure = "postToolUseFailure"
	SessionEnd         = "sessionEnd"
)

// MaxPayload is the longest payload, in bytes, that is read.
const MaxPayload = 64 << 20

// Event is what Copilot told a hook, as the hook's process hands it on.
type Event struct {
	Name    string          `json:"name"`    // one of the events; "": what the payload looks like
	Client  string          `json:"client"`  // Copilot's name and version
	Home    string          `json:"home"`    // COPILOT_HOME, or its default
	Payload json.RawMessage `json:"payload"` // as it came
}

// Call is an event read: one tool call, before or after it.
type Call struct {
	Event     string
	Session   string // of Copilot, or of one of its sub-agents
	Parent    string // of a sub-agent: the session that started it
	Agent     string // the sub-agent's kind
	CWD       string
	Tool      string
	Home      string          // where Copilot has its own files; "" when that is not told
	Arguments json.RawMessage // canonical: an object, or a string
	Result    string          // after the call: what the model is told
	Failed    bool            // after the call: it did not succeed
}

// payload is what Copilot CLI 1.0 and SDK 1.0 write.
type payload struct {
	HookName         string          `json:"hookName"`
	HookEventName    string          `json:"hook_event_name"` // of another dialect
	SessionID        string          `json:"sessionId"`
	ParentAgentID    string          `json:"parentAgentId"`
	AgentType        string          `json:"agentType"`
	CWD              string          `json:"cwd"`
	WorkingDirectory string          `json:"workingDirectory"` // the SDK's name of it
	ToolName         string          `json:"toolName"`
	ToolArgs         json.RawMessage `json:"toolArgs"`
	ToolInput        json.RawMessage `json:"toolInput"`
	ToolResult       *struct {
		ResultType string `json:"resultType"`
		Text       string `json:"textResultForLlm"`
	} `json:"toolResult"`
	Error  json.RawMessage `json:"error"`
	Reason string          `json:"reason"`
}

// Read reads an event. What it does not understand is an error.
func Read(e Event) (Call, error) {
	if len(e.Payload) > MaxPayload {
		return Call{}, fmt.Errorf("reading Copilot's event: it is longer than %d MiB", MaxPayload>>20)
	}
	var p payload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return Call{}, fmt.Errorf("reading Copilot's event: %w", err)
	}
	if p.HookEventName != "" {
		return Call{}, fmt.Errorf("reading Copilot's event: it is in another program's dialect (%s); name Copilot's events in camelCase in its hooks file", short(p.HookEventName))
	}
	call := Call{
		Event: p.event(), Session: p.SessionID, Parent: p.ParentAgentID, Agent: p.AgentType,
		CWD: cmp.Or(p.CWD, p.WorkingDirectory), Home: e.Home, Tool: p.ToolName,
	}
	if e.Name != "" && e.Name != call.Event {
		return Call{}, fmt.Errorf("reading Copilot's event: the hook is for %s, and this is %s", short(e.Name), cmp.Or(call.Event, "none that is known"))
	}
	if call.Event == SessionEnd {
		return call, nil
	}
	return call, call.complete(&p)
}

// EventOf tells which event e is, as far as it can be told: "" when it cannot.
func EventOf(e Event) string {
	var p payload
	if json.Unmarshal(e.Payload, &p) != nil {
		return e.Name
	}
	return cmp.Or(p.event(), e.Name)
}

// event tells what a payload is about; "" when that is not known.
func (p *payload) event() string {
	switch {
	case p.HookName == PermissionRequest, p.HookName == "" && p.ToolInput != nil:
		return PermissionRequest
	case p.HookName != "":
		return ""
	case p.ToolResult != nil:
		return PostToolUse
	case p.Error != nil && p.ToolName != "":
		return PostToolUseFailure
	case p.ToolName != "":
		return PreToolUse
	case p.Reason != "" && p.SessionID != "":
		return SessionEnd
	default:
		return ""
	}
}

// complete reads what is about the tool.
func (c *Call) complete(p *payload) error {
	switch {
	case c.Event == "":
		return errors.New("reading Copilot's event: it is none that is known")
	case c.Session == "":
		return errors.New("reading Copilot's event: it names no session")
	case c.Tool == "":
		return errors.New("reading Copilot's event: it names no tool")
	}
	raw := p.ToolArgs
	if c.Event == PermissionRequest {
		raw = p.ToolInput
	}
	var err error
	if c.Arguments, err = canonical(raw); err != nil {
		return fmt.Errorf("reading Copilot's event: the arguments of %s: %w", short(c.Tool), err)
	}
	if p.ToolResult != nil {
		c.Result, c.Failed = p.ToolResult.Text, p.ToolResult.ResultType != "success"
	}
	if c.Event == PostToolUseFailure {
		c.Failed = true
		if json.Unmarshal(p.Error, &c.Result) != nil {
			c.Result = string(p.Error)
		}
	}
	return nil
}

// canonical writes arguments so that equal ones are equal texts. Older versions
// of Copilot write an object as a string of JSON.
func canonical(raw json.RawMessage) (json.RawMessage, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok {
		var inner map[string]any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if dec.Decode(&inner) == nil && inner != nil && !dec.More() {
			v = inner
		}
	}
	switch v.(type) {
	case string, map[string]any:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		return bytes.TrimSpace(b.Bytes()), err
	default:
		return nil, errors.New("they are no object")
	}
}

// digest is what a ticket knows arguments by.
func digest(arguments json.RawMessage) [sha256.Size]byte { return sha256.Sum256(arguments) }

// absolute is a path as seen from the call's working folder; "" when there is no
// telling.
func (c *Call) absolute(path string) string {
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case path == "" || !filepath.IsAbs(c.CWD):
		return ""
	default:
		return filepath.Join(c.CWD, path)
	}
}

// short is a name for a message.
func short(text string) string { return cut.To(text, 64) }

// HostTimeout is how long Copilot lets a hook wait, as File sets it. When it is
// over Copilot runs the tool, so a hook's own deadline is far below.
const HostTimeout = 24 * time.Hour

// File is the content of the hooks file (~/.copilot/hooks/pointsman.json) that
// has Copilot ask this program, whose path is given, before each of its tools.
func File(program string) ([]byte, error) {
	type entry struct {
		Type       string   `json:"type"`
		Exec       string   `json:"exec"`
		Args       []string `json:"args"`
		TimeoutSec int      `json:"timeoutSec"`
	}
	hooks := map[string][]entry{}
	for _, event := range []string{PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, SessionEnd} {
		hooks[event] = []entry{{Type: "command", Exec: program, Args: []string{"hook", "copilot", event}, TimeoutSec: int(HostTimeout / time.Second)}}
	}
	content, err := json.MarshalIndent(map[string]any{"version": 1, "hooks": hooks}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing Copilot's hooks file: %w", err)
	}
	return append(content, '\n'), nil
}
