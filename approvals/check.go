package approvals

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

var (
	outcomes = []Outcome{Allowed, Denied, NotAnswered, Withdrawn}
	// allowers are those who can say yes; deniers can only be why it is no.
	allowers = []string{ByDesk, ByStatic, ByAllowAll, ByRule, ByElicitation, ByTerminal}
	deniers  = []string{ByDenyAll, ByNone, ByError, ByInvalid}
)

// check says what is wrong with an approver's answer to req, or nil. Whatever
// it does not understand is wrong.
func check(d Decision, req Request) error {
	if !slices.Contains(outcomes, d.Outcome) {
		return fmt.Errorf("unknown outcome %q", d.Outcome)
	}
	if d.ID != "" && d.ID != req.ID {
		return fmt.Errorf("it is for another request, %q", d.ID)
	}
	mayAllow := slices.Contains(allowers, d.Approver)
	if !mayAllow && (d.Outcome == Allowed || !slices.Contains(deniers, d.Approver)) {
		return fmt.Errorf("%q is nobody who can give it", d.Approver)
	}
	if d.Arguments != nil {
		if err := checkEdited(d.Arguments); err != nil {
			return err
		}
	}
	if d.Scope == nil {
		return nil
	}
	if d.Outcome != Allowed && d.Outcome != Denied {
		return fmt.Errorf("%s is nothing to remember", d.Outcome)
	}
	return checkScope(*d.Scope, d, req)
}

func checkEdited(args []byte) error {
	if len(args) == 0 {
		return errors.New("edited arguments are empty")
	}
	if _, err := parseObject(args); err != nil {
		return fmt.Errorf("edited arguments: %w", err)
	}
	return nil
}

func checkScope(s Scope, d Decision, req Request) error {
	if err := checkLifetime(s, req); err != nil {
		return err
	}
	if req.Tool == "" {
		return errors.New("there is no tool to remember it for")
	}
	if s.ExactArguments && s.PathPrefix != "" {
		return errors.New("scope has both exact arguments and a path prefix")
	}
	if len(s.CommandPrefix) > 0 || s.Folder != "" {
		return checkCommandPrefix(s, d, req)
	}
	if req.Shell && d.Outcome == Allowed && !s.ExactArguments {
		return errors.New("a permission for every command line is not given by one answer")
	}
	if s.ExactArguments {
		if _, err := canonical(decided(d, req)); err != nil {
			return fmt.Errorf("arguments to remember: %w", err)
		}
	}
	if s.PathPrefix == "" {
		return nil
	}
	if !filepath.IsAbs(s.PathPrefix) {
		return fmt.Errorf("path prefix %q is not absolute", s.PathPrefix)
	}
	if req.Class == Execute {
		return errors.New("a path prefix does not bound what a command does")
	}
	if p, err := newPrefix(s.PathPrefix); err != nil || !p.covers(decided(d, req)) {
		return fmt.Errorf("path prefix %q does not cover this call", s.PathPrefix)
	}
	return nil
}

func checkCommandPrefix(s Scope, d Decision, req Request) error {
	switch {
	case s.ExactArguments || s.PathPrefix != "":
		return errors.New("scope has a command prefix beside exact arguments or a path prefix")
	case len(s.CommandPrefix) < 2:
		return errors.New("a command prefix has at least two words")
	case d.Arguments != nil:
		return errors.New("a command prefix is about the command as it came, and it was edited")
	case !req.Shell || !beginsWith(req.Command, s.CommandPrefix):
		return errors.New("the call is no plain command with these first words")
	case d.Outcome == Allowed && len(req.Warnings) > 0:
		return errors.New("a destructive command is not permitted by its first words")
	}
	if p, err := newPrefix(s.Folder); err != nil || !p.at(req.CWD) {
		return fmt.Errorf("the command does not run in the folder %q", s.Folder)
	}
	return nil
}

func checkLifetime(s Scope, req Request) error {
	switch s.Lifetime {
	case ForSession, Always:
		return nil
	case ForRun:
		if req.Run == "" {
			return errors.New("the call belongs to no run to remember it for")
		}
		return nil
	case UntilTime:
		if !s.Until.After(time.Now()) {
			return errors.New("the time to remember it until has passed")
		}
		return nil
	default:
		return fmt.Errorf("unknown lifetime %q", s.Lifetime)
	}
}

// decided returns the arguments d is about: the edited ones, if any.
func decided(d Decision, req Request) []byte {
	if d.Arguments != nil {
		return d.Arguments
	}
	return req.Arguments
}
