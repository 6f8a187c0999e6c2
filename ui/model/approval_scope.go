package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

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
	words  []string // of a command that the folder is bound to
}

func breadths(req approvals.Request, folders []string) []breadth {
	all := []breadth{{title: "These exact arguments", calls: "with exactly these arguments", exact: true}}
	for _, folder := range folders {
		shown := approvals.Visible(folder)
		all = append(all, breadth{title: "Only under " + Shorten(shown, longestTool), calls: "whose paths all lie under " + shown, folder: folder})
	}
	for _, words := range commandPrefixes(req) {
		text, folder := commandText(words), approvals.Visible(req.CWD)
		all = append(all, breadth{
			title: "Commands that begin with " + Shorten(text, longestTool), calls: "that begins with " + text + ", alone and in " + folder + " or below,", folder: req.CWD, words: words,
		})
	}
	return append(all, breadth{title: "Any arguments", calls: "whatever its arguments", wide: true})
}

func choiceOf(req approvals.Request, s span, b breadth) ScopeChoice {
	scope := s.scope
	scope.ExactArguments, scope.PathPrefix = b.exact, b.folder
	if b.words != nil {
		scope.PathPrefix, scope.CommandPrefix, scope.Folder = "", b.words, b.folder
	}
	sentence := fmt.Sprintf("Your answer is also given to every call of %s %s, %s.", named(cmp.Or(req.Tool, req.Offered), longestTool), b.calls, s.until)
	if req.AlwaysAsk {
		sentence += " Only a denial can be remembered here: this tool is always asked about."
	}
	return ScopeChoice{Title: b.title, Verb: s.verb, Sentence: sentence, Wide: b.wide, Scope: &scope}
}

// commandPrefixes are the first words that a rule about a command could be made
// for, narrowest first: all of them but flags and what follows, and the first two.
func commandPrefixes(req approvals.Request) [][]string {
	if !req.Shell || len(req.Command) < 2 {
		return nil
	}
	most := len(req.Command)
	if flag := slices.IndexFunc(req.Command[1:], func(w string) bool { return strings.HasPrefix(w, "-") }); flag > 0 {
		most = flag + 1
	}
	prefixes := [][]string{req.Command[:max(2, most)]}
	if len(prefixes[0]) > 2 {
		prefixes = append(prefixes, req.Command[:2])
	}
	return prefixes
}

// commandText writes words as a shell's command line that means them.
func commandText(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=,+@%", r)
		}) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return approvals.Visible(strings.Join(quoted, " "))
}

// accepted reports whether the gate takes the choice. A folder's was looked at
// when it was found; doing so again would wait for the file system.
func accepted(choice ScopeChoice, req approvals.Request, edited json.RawMessage) bool {
	scope := *choice.Scope
	scope.PathPrefix = ""
	if scope.CommandPrefix != nil {
		if edited != nil || len(req.Warnings) > 0 {
			return false
		}
		scope.CommandPrefix, scope.Folder, scope.ExactArguments = nil, "", true // what remains to be looked at is how long
	}
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
