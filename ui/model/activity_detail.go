package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/journal"
)

// Decision says in a sentence what was decided about a call, and by whom.
func Decision(c journal.Call) string {
	said := decided(c)
	if c.Edited {
		said += ", with other arguments than the model gave"
	}
	if c.Reason != "" && c.Reason != c.Error {
		said += ": " + c.Reason
	}
	return said
}

func decided(c journal.Call) string {
	switch {
	case c.Outcome == journal.NotAnswered:
		return "Asked for, and nobody answered in time"
	case c.Outcome == journal.Withdrawn:
		return "Asked for, and withdrawn before there was an answer"
	case c.Outcome == "" && c.Risky && c.Approved == nil:
		return "Not decided yet"
	case c.Approved == nil && c.Outcome == journal.Invalid:
		return "Not asked for: it could not have run"
	case c.Approved == nil && c.Outcome == journal.Denied:
		return "Denied without asking"
	case c.Approved == nil:
		return "Ran without asking"
	case *c.Approved:
		return "Allowed " + by(c.Approver, c.Rule)
	default:
		return "Denied " + by(c.Approver, c.Rule)
	}
}

// by says who decided.
func by(approver, rule string) string {
	switch approver {
	case approvals.ByDesk:
		return "by you"
	case approvals.ByTerminal:
		return "by you, at the terminal"
	case approvals.ByElicitation:
		return "by you, in the client"
	case approvals.ByRule:
		return strings.TrimSpace("by a remembered rule " + rule)
	case approvals.ByStatic:
		return "by the list in the configuration"
	case approvals.ByAllowAll, approvals.ByDenyAll:
		return "by the configuration, which decides for all"
	case approvals.ByNone:
		return "because there was nobody to ask"
	default:
		return "because asking failed"
	}
}

// Facts says in one line what a call was: where, how risky, how long, how much.
func Facts(c journal.Call) string {
	parts := []string{c.Server, c.Time.Local().Format("15:04:05"), string(c.Class)}
	if c.DurationMS > 0 {
		parts = append(parts, Elapsed(time.Duration(c.DurationMS)*time.Millisecond))
	}
	if c.ResultBytes > 0 {
		parts = append(parts, Bytes(c.ResultBytes))
	}
	return join(parts...)
}

// Bytes says an amount of data to a person.
func Bytes(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

// ResultText is a kept result to be read: the text that it holds when that is
// all there is in it, otherwise indented JSON. What cannot be seen is made visible.
func ResultText(kept string) string {
	if text, whole := textOf(kept); whole {
		return approvals.VisibleText(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	return approvals.VisibleJSON(json.RawMessage(kept))
}

// textOf returns the text of a tool's result, and whether it is all of it.
func textOf(kept string) (string, bool) {
	if !gjson.Valid(kept) {
		return kept, true // it was cut
	}
	content := gjson.Get(kept, "content")
	if !content.IsArray() || gjson.Get(kept, "structuredContent").Exists() {
		return "", false
	}
	var parts []string
	for _, part := range content.Array() {
		if part.Get("type").String() != "text" {
			return "", false
		}
		parts = append(parts, part.Get("text").String())
	}
	return strings.Join(parts, "\n"), true
}
