package model

import (
	"fmt"
	"strings"

	"pointsman/approvals"
)

// mostNamed is how many calls a notification names.
const mostNamed = 3

// WaitingNotice words a notification of what waits for a person. It shows no
// arguments: a notification can be read on a locked screen.
func WaitingNotice(waiting []approvals.Request) (title, body string) {
	title = "1 tool call waits for you"
	if len(waiting) != 1 {
		title = fmt.Sprintf("%d tool calls wait for you", len(waiting))
	}
	var lines []string
	for i, req := range waiting {
		if i == mostNamed {
			lines = append(lines, fmt.Sprintf("and %d more", len(waiting)-i))
			break
		}
		line := fmt.Sprintf("%s of %s (%s)", approvals.Visible(req.Tool), approvals.Visible(req.Server), req.Class)
		if req.Client != "" {
			line += ", for " + approvals.Visible(req.Client)
		}
		lines = append(lines, line)
	}
	return title, strings.Join(lines, "\n")
}
