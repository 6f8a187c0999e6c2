package model

import (
	"fmt"
	"strings"
	"time"

	"pointsman/approvals"
)

// The most that is shown, in columns, of a name that is not ours where it shares
// a line. What is cut stands whole among the details.
const (
	longestTool   = 48
	longestServer = 28
	longestRun    = 14
	longestPart   = 32
	longestReason = 64
	longestWhy    = 110
)

// ApprovalView is what a person is shown of a call, beside its text. Nothing in
// it hides: every word that is not ours went through approvals.Visible.
type ApprovalView struct {
	Heading  string // what wants to run
	For      string // for whom
	Why      string // what it can do is said by Class; this is the evidence, and why it is asked now
	PlanStep string // or ""
	Class    ClassWords
	Held     bool // approving takes a held press
}

// ViewOf is the view of a request.
func ViewOf(req approvals.Request) ApprovalView {
	return ApprovalView{
		Heading:  fmt.Sprintf("%s of %s wants to run", named(req.Tool, longestTool), named(req.Server, longestServer)),
		For:      forWhom(req),
		Why:      why(req),
		PlanStep: shown(req.PlanStep, longestReason),
		Class:    WordsOf(req.Class),
		Held:     Held(req.Class),
	}
}

// Held reports whether approving a call of this class takes a held press. What
// is not known is taken for the worst.
func Held(class approvals.Class) bool {
	switch class {
	case approvals.Read, approvals.Write, approvals.OpenWorld:
		return false
	default:
		return true
	}
}

// ClassWords name a risk class for a person.
type ClassWords struct {
	Word    string
	Meaning string // what calls of the class can do
}

// WordsOf names a risk class.
func WordsOf(class approvals.Class) ClassWords {
	switch class {
	case approvals.Read:
		return ClassWords{"Read", "looks at data and changes nothing"}
	case approvals.Write:
		return ClassWords{"Write", "creates or changes data"}
	case approvals.Destructive:
		return ClassWords{"Destructive", "can delete or overwrite for good"}
	case approvals.Execute:
		return ClassWords{"Execute", "runs commands or code on this computer"}
	case approvals.OpenWorld:
		return ClassWords{"Open world", "reaches other systems or people"}
	default:
		return ClassWords{"Unknown", "nothing is known of what it can do"}
	}
}

// doors are the ways in, in words.
var doors = map[string]string{
	"http": "over HTTP", "mcp": "over MCP", "hook": "from a hook", "chat": "in the terminal", "demo": "in the demo", "go": "from Go",
}

func forWhom(req approvals.Request) string {
	client := "For an unnamed client"
	if req.Client != "" {
		client = "For " + named(req.Client, longestPart)
	}
	door, known := doors[req.Door]
	if !known {
		door = part("through", req.Door)
	}
	return join(strings.TrimSpace(client+" "+door), part("model", req.Model), part("run", Shorten(req.Run, longestRun)), part("in", req.CWD))
}

// part is one part of a line, or "" when there is nothing to tell.
func part(word, value string) string {
	if value == "" {
		return ""
	}
	return word + " " + shown(value, longestPart)
}

func why(req approvals.Request) string {
	return join(shown(strings.Join(req.Evidence, "; "), longestWhy), shown(req.Reason, longestReason))
}

// named is a name for a line, never empty.
func named(name string, most int) string {
	if name == "" {
		return "(no name)"
	}
	return shown(name, most)
}

// shown is a text that is not ours, in at most so many columns, with nothing
// hidden in it.
func shown(text string, most int) string { return Shorten(approvals.Visible(text), most) }

// Shorten cuts the middle out of a text of more than most columns: what differs
// often stands at its end.
func Shorten(text string, most int) string {
	if width(text) <= most {
		return text
	}
	runes := []rune(text)
	tail := len(runes)
	for room := most / 3; room >= runeWidth(runes[tail-1]); tail-- {
		room -= runeWidth(runes[tail-1])
	}
	head := 0
	for room := most - most/3 - 1; room >= runeWidth(runes[head]); head++ {
		room -= runeWidth(runes[head])
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}

// TimeLeft words how long an answer still counts, and reports whether it is
// nearly over. A deadline that is not set words nothing.
func TimeLeft(deadline, now time.Time) (words string, soon bool) {
	if deadline.IsZero() {
		return "", false
	}
	left := max(0, deadline.Sub(now)).Round(time.Second)
	minutes := int(left / time.Minute)
	seconds := int(left % time.Minute / time.Second)
	return fmt.Sprintf("%d:%02d left", minutes, seconds), left <= 30*time.Second
}

// ApprovalTitle is the window's title with n calls waiting.
func ApprovalTitle(n int) string {
	if n == 1 {
		return "Pointsman approval: 1 call waits"
	}
	return fmt.Sprintf("Pointsman approval: %d calls wait", n)
}

// GoneLine says that a call that was being shown does not wait any more, and why
// ("" when that is not known).
func GoneLine(req approvals.Request, reason string) string {
	if reason == "" {
		reason = "it does not wait any more"
	}
	return fmt.Sprintf("%s did not run: %s.", named(req.Tool, longestTool), strings.TrimSuffix(approvals.Visible(reason), "."))
}

// UncountedLine says that an answer came too late.
func UncountedLine(req approvals.Request) string {
	return fmt.Sprintf("Your answer to %s did not count: it was not waiting any more.", named(req.Tool, longestTool))
}

// UnansweredLine says that an answer did not come to be, and why.
func UnansweredLine(req approvals.Request, err error) string {
	return fmt.Sprintf("Your answer to %s was not taken: %s.", named(req.Tool, longestTool), approvals.Visible(err.Error()))
}
