package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"pointsman/approvals"
)

// ScopeChoice is one way to remember an answer. The zero ScopeChoice remembers
// nothing: the answer is about this call only.
type ScopeChoice struct {
	Title    string // in a menu
	Verb     string // what an answer is called with it, after "Approve" or "Deny"
	Sentence string // what it means; "" when nothing is remembered
	Wide     bool   // it holds for calls that look quite different
	Scope    *approvals.Scope
}

// ScopeGroup is the choices that last equally long.
type ScopeGroup struct {
	Title   string
	Choices []ScopeChoice
}

// ThisCallOnly is what is chosen before a person chooses.
const ThisCallOnly = "This call only"

// ScopeGroups are the choices there are for an answer to req, narrowest first:
// those that the gate accepts. edited are the arguments as the person left them,
// nil when they are as they came. folders are those that approvals.Folders found
// for them.
func ScopeGroups(req approvals.Request, edited json.RawMessage, folders []string, now time.Time) []ScopeGroup {
	var groups []ScopeGroup
	for _, span := range spans(now) {
		group := ScopeGroup{Title: span.title}
		for _, breadth := range breadths(req, folders) {
			if choice := choiceOf(req, span, breadth); accepted(choice, req, edited) {
				group.Choices = append(group.Choices, choice)
			}
		}
		if len(group.Choices) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// span is how long an answer is remembered.
type span struct {
	title string // in the menu
	verb  string // after "Approve"
	until string // in a sentence
	scope approvals.Scope
}

func spans(now time.Time) []span {
	midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
	hour, week := now.Add(time.Hour), now.AddDate(0, 0, 7)
	return []span{
		{"For this run", "for this run", "until this run ends", approvals.Scope{Lifetime: approvals.ForRun}},
		{"For this session", "for this session", "until Pointsman stops", approvals.Scope{Lifetime: approvals.ForSession}},
		{"For 1 hour", "for 1 hour", "until " + hour.Format("15:04"), approvals.Scope{Lifetime: approvals.UntilTime, Until: hour}},
		{"Until tonight", "until tonight", "until midnight", approvals.Scope{Lifetime: approvals.UntilTime, Until: midnight}},
		{"For 7 days", "for 7 days", "until " + week.Format("Monday 2 January, 15:04"), approvals.Scope{Lifetime: approvals.UntilTime, Until: week}},
		{"Always", "always", "for ever, until you remove the rule", approvals.Scope{Lifetime: approvals.Always}},
	}
}

// breadth is which later calls an answer is remembered for.
type breadth struct {
	title  string
	calls  string // in a sentence, after "every call of TOOL"
	wide   bool
	exact  bool
	folder string
}

func breadths(req approvals.Request, folders []string) []breadth {
	all := []breadth{{title: "These exact arguments", calls: "with exactly these arguments", exact: true}}
	for _, folder := range folders {
		shown := approvals.Visible(folder)
		all = append(all, breadth{title: "Only under " + Shorten(shown, longestTool), calls: "whose paths all lie under " + shown, folder: folder})
	}
	return append(all, breadth{title: "Any arguments", calls: "whatever its arguments", wide: true})
}

func choiceOf(req approvals.Request, s span, b breadth) ScopeChoice {
	scope := s.scope
	scope.ExactArguments, scope.PathPrefix = b.exact, b.folder
	sentence := fmt.Sprintf("Your answer is also given to every call of %s %s, %s.", named(cmp.Or(req.Tool, req.Offered), longestTool), b.calls, s.until)
	if req.AlwaysAsk {
		sentence += " Only a denial can be remembered here: this tool is always asked about."
	}
	return ScopeChoice{Title: b.title, Verb: s.verb, Sentence: sentence, Wide: b.wide, Scope: &scope}
}

// accepted reports whether the gate takes the choice. A folder's was looked at
// when it was found; doing so again would wait for the file system.
func accepted(choice ScopeChoice, req approvals.Request, edited json.RawMessage) bool {
	scope := *choice.Scope
	scope.PathPrefix = ""
	d := approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk, Scope: &scope, Arguments: edited}
	return approvals.Check(d, req) == nil
}

// OnlyDenies reports whether a choice may be remembered for a denial and not for
// a permission: a permission of what is always asked about would never hold.
func OnlyDenies(req approvals.Request, choice ScopeChoice) bool {
	return req.AlwaysAsk && choice.Scope != nil
}

// ApproveLabel names the button that approves.
func ApproveLabel(held bool, choice ScopeChoice) string {
	verb := "Approve"
	if held {
		verb = "Hold to approve"
	}
	if choice.Scope == nil {
		return verb + " once"
	}
	return verb + " " + choice.Verb
}

// DenyLabel names the button that denies.
func DenyLabel(choice ScopeChoice) string {
	if choice.Scope == nil {
		return "Deny"
	}
	return "Deny " + choice.Verb
}
