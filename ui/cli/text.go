package cli

import (
	"strings"
	"unicode"

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

// wide are the characters that take two columns: Hangul, CJK, kana, full-width
// forms and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x1100, Hi: 0x115F, Stride: 1}, {Lo: 0x2E80, Hi: 0x303E, Stride: 1}, {Lo: 0x3041, Hi: 0xA4CF, Stride: 1},
		{Lo: 0xAC00, Hi: 0xD7A3, Stride: 1}, {Lo: 0xF900, Hi: 0xFAFF, Stride: 1}, {Lo: 0xFE30, Hi: 0xFE6F, Stride: 1}, {Lo: 0xFF00, Hi: 0xFF60, Stride: 1}, {Lo: 0xFFE0, Hi: 0xFFE6, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x1F300, Hi: 0x1F64F, Stride: 1}, {Lo: 0x1F680, Hi: 0x1F9FF, Stride: 1}, {Lo: 0x20000, Hi: 0x3FFFD, Stride: 1}},
}

func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// fit cuts a text to a number of columns, between characters.
func fit(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	n := 0
	for i, r := range text {
		if n += runeColumns(r); n > width-1 {
			return text[:i] + ellipsis
		}
	}
	return text
}

// pad fills a text up to a number of columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-columns(text)))
}

// oneLine is a text in one line of at most width columns, with nothing hidden.
func oneLine(text string, width int) string {
	return fit(approvals.Visible(strings.Join(strings.Fields(text), " ")), width)
}
