package approvals

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Lifetime says how long a remembered decision holds.
type Lifetime string

// The lifetimes, shortest first.
const (
	ForRun     Lifetime = "run"     // until the run ends
	ForSession Lifetime = "session" // until the resident stops
	UntilTime  Lifetime = "until"   // until Scope.Until
	Always     Lifetime = "always"
)

// Scope is what a person wants remembered along with an answer.
type Scope struct {
	Lifetime       Lifetime  `json:"lifetime"`
	Until          time.Time `json:"until,omitzero"`
	ExactArguments bool      `json:"exact_arguments"`
	PathPrefix     string    `json:"path_prefix,omitempty"`
	CommandPrefix  []string  `json:"command_prefix,omitempty"` // the first words of a command, for Request.Command; at least two
	Folder         string    `json:"folder,omitempty"`         // with CommandPrefix: where the command runs, there or below
}

// Action is what a remembered rule does with the calls it matches.
type Action string

// The actions.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
)

// Rule is one remembered decision. It matches calls of one tool of one server,
// with one definition of that tool: all of them, or those with exactly
// Arguments, or those whose every path lies below PathPrefix, or those that are
// one plain command with CommandPrefix as its first words, in Folder or below; a
// command with a warning is never permitted by its first words. Tool may be the
// server's own name or the offered one; Server may be empty beside an offered
// name.
type Rule struct {
	ID            string    `json:"id"`
	Action        Action    `json:"action"`
	Server        string    `json:"server"`
	Tool          string    `json:"tool"`
	Definition    string    `json:"definition"`               // hash of the tool's definition when it was decided
	Arguments     string    `json:"arguments,omitempty"`      // exact arguments as JSON, or "sha256:" and their hash in hex; "": any
	PathPrefix    string    `json:"path_prefix,omitempty"`    // "": anywhere
	CommandPrefix []string  `json:"command_prefix,omitempty"` // nil: any
	Folder        string    `json:"folder,omitempty"`         // set with CommandPrefix
	Lifetime      Lifetime  `json:"lifetime"`                 // empty in Load: UntilTime when Until is set, else Always
	Run           string    `json:"run,omitempty"`            // for ForRun: which
	Until         time.Time `json:"until,omitzero"`           // for UntilTime
	Created       time.Time `json:"created"`
	LastUsed      time.Time `json:"last_used,omitzero"` // since the program started
	Used          int       `json:"used"`               // times, since the program started
	Voided        bool      `json:"voided"`             // the tool's definition changed: never matches again
}

// saved reports whether r outlives the program.
func (r Rule) saved() bool {
	return (r.Lifetime == Always || r.Lifetime == UntilTime) && !r.Voided
}

// decision is the answer r gives to a request it matches.
func (r Rule) decision() Decision {
	if r.Action == Allow {
		return Decision{Outcome: Allowed, Approver: ByRule, Rule: r.ID}
	}
	return Decision{Outcome: Denied, Approver: ByRule, Rule: r.ID, Reason: "a remembered rule denies it"}
}

// remembered is a Rule made ready for matching.
type remembered struct {
	Rule
	prefix prefix // where PathPrefix, or Folder, really was when the rule came into force
}

// remember checks r and makes it ready for matching.
func remember(r Rule) (remembered, error) {
	if r.Lifetime == "" {
		r.Lifetime = Always
		if !r.Until.IsZero() {
			r.Lifetime = UntilTime
		}
	}
	switch {
	case r.Action != Allow && r.Action != Deny:
		return remembered{}, fmt.Errorf("action %q is neither allow nor deny", r.Action)
	case r.Tool == "":
		return remembered{}, errors.New("it names no tool")
	case r.Arguments != "" && r.PathPrefix != "":
		return remembered{}, errors.New("it has both exact arguments and a path prefix")
	case (len(r.CommandPrefix) > 0) != (r.Folder != ""):
		return remembered{}, errors.New("a command prefix needs a folder, and a folder a command prefix")
	case len(r.CommandPrefix) > 0 && (r.Arguments != "" || r.PathPrefix != ""):
		return remembered{}, errors.New("it has a command prefix beside exact arguments or a path prefix")
	case len(r.CommandPrefix) == 1:
		return remembered{}, errors.New("its command prefix is one word, which bounds too little; give at least two")
	case r.Lifetime == UntilTime && r.Until.IsZero():
		return remembered{}, errors.New("it has no date it ends at")
	case r.Lifetime == ForRun && r.Run == "":
		return remembered{}, errors.New("it names no run")
	}
	m := remembered{Rule: r}
	var err error
	if r.Arguments != "" && !r.Concealed() {
		if m.Arguments, err = canonical([]byte(r.Arguments)); err != nil {
			return remembered{}, fmt.Errorf("arguments: %w", err)
		}
	}
	if r.PathPrefix != "" {
		if m.prefix, err = newPrefix(r.PathPrefix); err != nil {
			return remembered{}, fmt.Errorf("path prefix: %w", err)
		}
		m.PathPrefix = m.prefix.written
	}
	if r.Folder != "" {
		if m.prefix, err = newPrefix(r.Folder); err != nil {
			return remembered{}, fmt.Errorf("folder: %w", err)
		}
		m.Folder = m.prefix.written
	}
	if m.ID == "" {
		m.ID = m.contentID()
	}
	return m, nil
}

// contentID names a rule that came without an id, the same each time it is loaded.
func (r Rule) contentID() string {
	h := sha256.New()
	for _, s := range []string{string(r.Action), r.Server, r.Tool, r.Definition, r.Arguments, r.PathPrefix, r.Until.UTC().String()} {
		fmt.Fprintf(h, "%q,", s)
	}
	if len(r.CommandPrefix) > 0 {
		fmt.Fprintf(h, "%q,%q", r.CommandPrefix, r.Folder)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// matches reports whether m decides req at the time now.
func (m *remembered) matches(req Request, now time.Time) bool {
	if m.Voided || m.Definition != req.Definition || !m.names(req) || !m.alive(req, now) {
		return false
	}
	if m.Arguments != "" {
		args, err := canonical(req.Arguments)
		return err == nil && (args == m.Arguments || m.Concealed() && digest(args) == m.Arguments)
	}
	if m.PathPrefix != "" {
		return req.Class != Execute && m.prefix.covers(req.Arguments)
	}
	if len(m.CommandPrefix) > 0 {
		return m.begins(req)
	}
	return true
}

// begins reports whether req is a command with m's first words, in m's folder. A
// permission was given for what was seen then, not for what is destructive now.
func (m *remembered) begins(req Request) bool {
	return req.Shell && beginsWith(req.Command, m.CommandPrefix) && m.prefix.at(req.CWD) && (m.Action == Deny || len(req.Warnings) == 0)
}

// beginsWith reports whether words begin with first.
func beginsWith(words, first []string) bool {
	return len(words) >= len(first) && slices.Equal(words[:len(first)], first)
}

// names reports whether m is about the tool req wants to run.
func (m *remembered) names(req Request) bool {
	if m.Server == req.Server && m.Tool == req.Tool {
		return true
	}
	return req.Offered != "" && m.Tool == req.Offered && (m.Server == "" || m.Server == req.Server)
}

func (m *remembered) alive(req Request, now time.Time) bool {
	switch m.Lifetime {
	case ForRun:
		return m.Run == req.Run
	case UntilTime:
		return now.Before(m.Until)
	case ForSession, Always:
		return true
	default:
		return false
	}
}
