package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pointsman/approvals"
)

// RuleSpan is a part of a rule's sentence.
type RuleSpan struct {
	Text string
	Code bool // a name or a path as it is written
	Name bool // what a server is called
}

// RuleLine is a remembered decision as a person reads it.
type RuleLine struct {
	Rule     approvals.Rule
	Sentence []RuleSpan
	Facts    string // when it was made, when it was last used, how often
	// Voided says why the rule does not hold any more; "" when it does.
	Voided string
}

// Text is the line's sentence without its looks.
func (l RuleLine) Text() string {
	var text strings.Builder
	for _, span := range l.Sentence {
		text.WriteString(span.Text)
	}
	return text.String()
}

// RuleGroup is rules that last equally long.
type RuleGroup struct {
	Title string
	Lines []RuleLine
}

// RuleGroups are the remembered decisions as the screen shows them: those that
// are kept, those of now alone, those that are void; newest first in each.
func RuleGroups(rules []approvals.Rule, now time.Time) []RuleGroup {
	groups := []RuleGroup{{Title: "Remembered"}, {Title: "For now"}, {Title: "Not in use any more"}}
	sorted := slices.SortedStableFunc(slices.Values(rules), func(a, b approvals.Rule) int { return b.Created.Compare(a.Created) })
	for _, rule := range sorted {
		line := RuleLine{Rule: rule, Sentence: ruleSentence(rule, now), Facts: ruleFacts(rule, now)}
		at := 0
		switch {
		case rule.Voided:
			at, line.Voided = 2, "The tool's definition has changed since. Its next call asks again."
		case rule.Lifetime == approvals.ForRun || rule.Lifetime == approvals.ForSession:
			at = 1
		}
		groups[at].Lines = append(groups[at].Lines, line)
	}
	return slices.DeleteFunc(groups, func(g RuleGroup) bool { return len(g.Lines) == 0 })
}

// ruleSentence is "Always allow `write_file` of filesystem under /home/me/src".
func ruleSentence(r approvals.Rule, now time.Time) []RuleSpan {
	spans := []RuleSpan{{Text: ruleBeginning(r, now) + " "}, {Text: approvals.Visible(r.Tool), Code: true}}
	if r.Server != "" {
		spans = append(spans, RuleSpan{Text: " of "}, RuleSpan{Text: approvals.Visible(r.Server), Name: true})
	}
	if r.PathPrefix != "" {
		spans = append(spans, RuleSpan{Text: " under "}, RuleSpan{Text: approvals.Visible(r.PathPrefix), Code: true})
	}
	if len(r.CommandPrefix) > 0 {
		spans = append(spans, RuleSpan{Text: " for commands that begin with "}, RuleSpan{Text: commandText(r.CommandPrefix), Code: true},
			RuleSpan{Text: " in "}, RuleSpan{Text: approvals.Visible(r.Folder), Code: true})
	}
	switch {
	case r.Concealed():
		spans = append(spans, RuleSpan{Text: " with the same arguments (kept as a hash, for a secret is among them)"})
	case r.Arguments != "":
		spans = append(spans, RuleSpan{Text: " with exactly "}, RuleSpan{Text: ruleArguments(r.Arguments), Code: true})
	}
	return spans
}

func ruleBeginning(r approvals.Rule, now time.Time) string {
	verb := "allow"
	if r.Action != approvals.Allow { // what is not clear is no permission
		verb = "deny"
	}
	switch lifetime := r.Lifetime; {
	case lifetime == approvals.ForRun:
		return "For one run, " + verb
	case lifetime == approvals.ForSession:
		return "Until Pointsman stops, " + verb
	case lifetime == approvals.UntilTime || lifetime == "" && !r.Until.IsZero():
		return "Until " + moment(r.Until, now) + ", " + verb
	}
	return "Always " + verb
}

// longestArguments is how many characters of a rule's arguments its sentence has.
const longestArguments = 400

func ruleArguments(arguments string) string {
	runes := []rune(approvals.Visible(arguments))
	if len(runes) > longestArguments {
		return fmt.Sprintf("%s… (%d characters)", string(runes[:longestArguments]), len(runes))
	}
	return string(runes)
}

// ruleFacts is "Made today at 14:03 · last used today at 14:10 · used twice since
// Pointsman started".
func ruleFacts(r approvals.Rule, now time.Time) string {
	made := ""
	if !r.Created.IsZero() {
		made = "Made " + moment(r.Created, now)
	}
	if r.Used == 0 {
		return join(made, "not used since Pointsman started")
	}
	last := ""
	if !r.LastUsed.IsZero() {
		last = "last used " + moment(r.LastUsed, now)
	}
	return join(made, last, "used "+times(r.Used)+" since Pointsman started")
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// moment is a time as it is said in a sentence: "today at 14:03".
func moment(at, now time.Time) string {
	at = at.In(now.Location())
	clock := at.Format("15:04")
	switch days := daysApart(at, now); {
	case days == 0:
		return "today at " + clock
	case days == 1:
		return "yesterday at " + clock
	case days == -1:
		return "tomorrow at " + clock
	case at.Year() == now.Year():
		return at.Format("2 January") + " at " + clock
	}
	return at.Format("2 January 2006")
}

// WaitingLine is a call that waits for a person, in a line.
func WaitingLine(req approvals.Request) []RuleSpan {
	spans := []RuleSpan{{Text: approvals.Visible(req.Tool), Code: true}}
	if req.Server != "" {
		spans = append(spans, RuleSpan{Text: " of "}, RuleSpan{Text: approvals.Visible(req.Server), Name: true})
	}
	if req.Client != "" {
		spans = append(spans, RuleSpan{Text: ", for " + OneLine(req.Client)})
	}
	return spans
}

// WaitingTitle says how many calls wait.
func WaitingTitle(n int) string {
	if n == 1 {
		return "1 call waits for you"
	}
	return fmt.Sprintf("%d calls wait for you", n)
}
