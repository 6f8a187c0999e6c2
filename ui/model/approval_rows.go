package model

import "unicode"

// TextRow is a part of a TextLine that fits the width of a window.
type TextRow struct {
	Kind      TextKind
	Label     string
	Text      string
	Indent    int  // columns before Text, which Label may fill
	Continues bool // the line began in a row above
}

// labelIndent is how far a value stands from the left when its name stands alone.
const labelIndent = 2

// leastColumns is the narrowest that text is broken into.
const leastColumns = 16

// Rows breaks lines into rows of at most so many columns. Nothing is left out. A
// name that takes more than half of the width stands above its value.
func Rows(lines []TextLine, columns int) []TextRow {
	columns = max(columns, leastColumns)
	rows := make([]TextRow, 0, len(lines))
	for _, line := range lines {
		rows = appendRows(rows, line, columns)
	}
	return rows
}

func appendRows(rows []TextRow, line TextLine, columns int) []TextRow {
	indent := 0
	if line.Under {
		indent = labelIndent
	}
	if label := showable(line.Label); label != "" {
		if width(label)+labelIndent > columns/2 || line.Text == "" {
			for _, part := range pieces(label, columns) {
				rows = append(rows, TextRow{Kind: line.Kind, Label: part})
			}
			line.Label = ""
			if line.Text == "" {
				return rows
			}
			indent = labelIndent
		} else {
			line.Label, indent = label, width(label)+labelIndent
		}
	}
	for i, part := range pieces(line.Text, columns-indent) {
		row := TextRow{Kind: line.Kind, Text: part, Indent: indent, Continues: i > 0}
		if i == 0 {
			row.Label = line.Label
		}
		rows = append(rows, row)
	}
	return rows
}

// pieces cuts text into parts of at most so many columns.
func pieces(text string, columns int) []string {
	var parts []string
	start, used := 0, 0
	for i, r := range text {
		w := runeWidth(r)
		if used+w > columns && i > start {
			parts = append(parts, text[start:i])
			start, used = i, 0
		}
		used += w
	}
	return append(parts, text[start:])
}

func width(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// wideFrom is where scripts begin whose characters may be wider than a column.
const wideFrom = 0x0700

// firstMark is the first character that takes no room of its own.
const firstMark = 0x0300

// runeWidth is how many columns a character takes at most in the fonts we use.
func runeWidth(r rune) int {
	switch {
	case r < firstMark:
		return 1
	case unicode.Is(unicode.Mn, r):
		return 0
	case r < wideFrom || r >= 0x2010 && r <= 0x2027 || r >= 0x2500 && r < 0x2580:
		return 1
	default:
		return 2
	}
}
