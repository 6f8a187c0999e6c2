package approvals

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// AllowAll answers every request with yes.
type AllowAll struct{}

// Ask allows.
func (AllowAll) Ask(context.Context, Request) (Decision, error) {
	return Decision{Outcome: Allowed, Approver: ByAllowAll}, nil
}

// DenyAll answers every request with no.
type DenyAll struct{}

// Ask denies.
func (DenyAll) Ask(context.Context, Request) (Decision, error) {
	return denial(ByDenyAll, "the settings deny every call that needs approval"), nil
}

// Static answers from two lists of names: what Deny names is denied, what Allow
// names is allowed, and everything else is denied. A name is an offered name, a
// server's own tool name, or a pattern of either in which * stands for any text. To
// allow, a server's own name that reads like an offered one counts for nothing: the
// server has chosen it.
type Static struct {
	Allow []string
	Deny  []string
}

// Ask answers at once.
func (s Static) Ask(_ context.Context, req Request) (Decision, error) {
	named := func(pattern string) bool {
		return glob(pattern, req.Offered) || glob(pattern, req.Tool)
	}
	if slices.ContainsFunc(s.Deny, named) {
		return denial(ByStatic, "the settings deny this tool"), nil
	}
	allowed := func(pattern string) bool {
		return glob(pattern, req.Offered) || !strings.Contains(req.Tool, "__") && glob(pattern, req.Tool)
	}
	if slices.ContainsFunc(s.Allow, allowed) {
		return Decision{Outcome: Allowed, Approver: ByStatic}, nil
	}
	return denial(ByStatic, "the settings do not allow this tool"), nil
}

// glob reports whether name is pattern, where * stands for any text. Nothing
// matches an empty name.
func glob(pattern, name string) bool {
	if name == "" {
		return false
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	rest := name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			return false
		}
		rest = after
	}
	return true
}

// ForMode returns the approver that a mode of approvals.approver stands for:
// ask (the given one, nil when there is nobody), allow, deny or static. An
// unknown mode is an error, and denies everything.
func ForMode(mode string, ask Approver, allow, deny []string) (Approver, error) {
	switch mode {
	case "ask":
		return ask, nil
	case "allow":
		return AllowAll{}, nil
	case "deny":
		return DenyAll{}, nil
	case "static":
		return Static{Allow: allow, Deny: deny}, nil
	default:
		return DenyAll{}, fmt.Errorf("unknown approver %q: use ask, deny, allow or static", mode)
	}
}
