package cli

import (
	"bytes"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"pointsman/approvals"
)

// plainOut is where data goes that others have written: to a terminal, which it
// could control, each line goes as edit has it, elsewhere as it is.
func (a *app) plainOut(edit func(line []byte) []byte) io.Writer {
	if terminalFile(a.Stdout) == nil {
		return a.Stdout
	}
	return &lineWriter{to: a.Stdout, edit: edit}
}

// visibleLine is a line in which nothing is hidden.
func visibleLine(line []byte) []byte { return []byte(approvals.VisibleText(string(line))) }

// lineWriter hands lines on, each edited, when they are whole.
type lineWriter struct {
	to   io.Writer
	edit func(line []byte) []byte
	rest []byte // of a line
}

func (w *lineWriter) Write(data []byte) (int, error) {
	w.rest = append(w.rest, data...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	if _, err := w.to.Write(w.edit(w.rest[:end])); err != nil {
		return 0, err
	}
	w.rest = append(w.rest[:0], w.rest[end:]...)
	return len(data), nil
}

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
