package model

import (
	"fmt"
	"strings"

	"pointsman/approvals"
)

// mostNamed is how many calls, or questions, a notification names.
const mostNamed = 3

// WaitingNotice words a notification of what waits for a person. It shows no
// arguments: a notification can be read on a locked screen.
func WaitingNotice(waiting []approvals.Request) (title, body string) {
	title = "1 tool call waits for you"
	if len(waiting) != 1 {
		title = fmt.Sprintf("%d tool calls wait for you", len(waiting))
	}
	return title, firstLines(waiting, func(req approvals.Request) string {
		line := fmt.Sprintf("%s of %s (%s)", approvals.Visible(req.Tool), approvals.Visible(req.Server), req.Class)
		if req.Client != "" {
			line += ", for " + approvals.Visible(req.Client)
		}
		return line
	})
}

// firstLines is a line for each of the first few, and how many more there are.
func firstLines[T any](list []T, line func(T) string) string {
	var lines []string
	for _, each := range list[:min(len(list), mostNamed)] {
		lines = append(lines, line(each))
	}
	if more := len(list) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
