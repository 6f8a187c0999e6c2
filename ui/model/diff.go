package model

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// diffHeader is how many lines of a unified diff come before its first hunk.
const diffHeader = 3

// unified compares two texts. It is "" when they are equal.
func unified(before, after string) string {
	out := string(diff.Diff("before", []byte(before), "after", []byte(after)))
	for range diffHeader {
		_, out, _ = strings.Cut(out, "\n")
	}
	return strings.TrimSuffix(out, "\n")
}

// diffLines reads a unified diff for showing.
func diffLines(text string) []TextLine {
	var lines []TextLine
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, TextLine{Kind: diffKind(line), Text: showable(line)})
	}
	return lines
}

func diffKind(line string) TextKind {
	switch {
	case strings.HasPrefix(line, "+"):
		return TextAdded
	case strings.HasPrefix(line, "-"):
		return TextRemoved
	case strings.HasPrefix(line, "@@"):
		return TextHunk
	default:
		return TextPlain
	}
}
