package cli

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"pointsman/approvals"
)

// ellipsis stands for what was cut.
const ellipsis = "…"

// columns is how many columns of a terminal a text takes.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// runeColumns is how many columns a character takes.
func runeColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// fit cuts a text to a number of columns, between characters.
func fit(text string, room int) string {
	if columns(text) <= room {
		return text
	}
	n := 0
	for i, r := range text {
		if n += runeColumns(r); n > room-1 {
			return text[:i] + ellipsis
		}
	}
	return text
}

// pad fills a text up to a number of columns.
func pad(text string, room int) string {
	return text + strings.Repeat(" ", max(0, room-columns(text)))
}

// oneLine is a text in one line of at most room columns, with nothing hidden.
func oneLine(text string, room int) string {
	return fit(approvals.Visible(strings.Join(strings.Fields(text), " ")), room)
}
