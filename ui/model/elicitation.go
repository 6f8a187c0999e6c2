package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
)

// QuestionTitle is the title of the window that shows what servers ask; n is how
// many questions wait.
func QuestionTitle(n int) string {
	if n > 1 {
		return fmt.Sprintf("%s: %d questions", Name, n)
	}
	return Name + ": a question"
}

// QuestionHead says who asks.
func QuestionHead(q elicit.Question) string {
	return "The MCP server " + Quoted(approvals.Visible(q.Server)) + " asks you"
}

// QuestionCause says for what it asks, and until when it waits.
func QuestionCause(q elicit.Question, zone *time.Location) string {
	why := "of its own accord"
	switch len(q.Tools) {
	case 0:
	case 1:
		why = "while its tool " + approvals.Visible(q.Tools[0]) + " runs"
	default:
		why = fmt.Sprintf("while %d calls of its tools run", len(q.Tools))
	}
	if q.Client != "" {
		why += ", for " + approvals.Visible(q.Client)
	}
	return fmt.Sprintf("It asks %s, and waits until %s.", why, q.Deadline.In(zone).Format(time.TimeOnly))
}

// QuestionWarning is what a person should know before answering.
func QuestionWarning(q elicit.Question) string {
	if q.URL != "" {
		return "The page is not Pointsman's. Go there only if you expect it, and look at the host before you type anything."
	}
	return "What you write goes to this server. Never write passwords, keys or card numbers into a form."
}

// Page is the address of a page in three parts that together are the whole of it.
type Page struct{ Before, Host, After string }

// PageOf takes an address apart so that its host can be told. Nothing in it hides,
// and a host in other letters is written as it is looked up (xn--…): letters of
// other alphabets can look like ours.
func PageOf(address string) (Page, error) {
	u, err := elicit.PageOf(address)
	if err != nil {
		return Page{}, err
	}
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil { // an IPv6 address, or what no resolver takes: as it is
		host = u.Hostname()
	}
	before := u.Scheme + "://"
	_, after, _ := strings.Cut(address, "//")
	if at := strings.IndexAny(after, "/?#"); at >= 0 {
		after = after[at:]
	} else {
		after = ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return Page{before, approvals.Visible(host), approvals.Visible(after)}, nil
}

// longestLabel is how many characters of a field's title its label certainly shows.
const longestLabel = 14

// FieldHint says how a field is to be filled in, or "".
func FieldHint(f elicit.Field) string {
	var parts []string
	if title := approvals.Visible(f.Title); utf8.RuneCountInString(title) > longestLabel {
		parts = append(parts, strings.TrimRight(title, ". ")) // the label has no room for all of it
	}
	if f.Description != "" {
		parts = append(parts, strings.TrimRight(approvals.Visible(f.Description), ". "))
	}
	if limits := fieldLimits(f); limits != "" {
		parts = append(parts, limits)
	}
	if !f.Required && f.Kind != elicit.Switch {
		parts = append(parts, "Can be left empty")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ". ") + "."
}

func fieldLimits(f elicit.Field) string {
	what := map[elicit.Kind]string{elicit.Text: " characters", elicit.Choices: " of them"}[f.Kind]
	switch {
	case f.Min != nil && f.Max != nil:
		return fmt.Sprintf("From %v to %v%s", *f.Min, *f.Max, what)
	case f.Min != nil:
		return fmt.Sprintf("At least %v%s", *f.Min, what)
	case f.Max != nil:
		return fmt.Sprintf("At most %v%s", *f.Max, what)
	}
	return ""
}

// FieldExample is what a field of a format looks like, or "".
func FieldExample(f elicit.Field) string {
	return map[string]string{
		"email": "name@example.com", "uri": "https://example.com", "date": "2026-01-31", "date-time": "2026-01-31T18:00:00Z",
	}[f.Format]
}

// FieldPreset is what a text or a number field holds at first.
func FieldPreset(f elicit.Field) string {
	var text string
	if f.Default == nil {
		return ""
	}
	if json.Unmarshal(f.Default, &text) == nil {
		return text
	}
	return string(f.Default) // a number
}

// QuestionNotice words a notification of what servers ask. It does not show what:
// a notification can be read on a locked screen.
func QuestionNotice(open []elicit.Question) (title, body string) {
	title = "An MCP server asks you something"
	if len(open) != 1 {
		title = fmt.Sprintf("MCP servers ask you %d things", len(open))
	}
	return title, firstLines(open, func(q elicit.Question) string { return approvals.Visible(q.Server) })
}
