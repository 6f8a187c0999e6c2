package tools

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isASCII reports whether text holds nothing but ASCII, as nearly all does.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// plainSpelling writes text in the characters it looks like: without those that
// show nothing, compatibility forms as what they stand for (a full-width d as
// d), and letters without their accents. Look-alikes of other scripts stay.
func plainSpelling(text string) string {
	if isASCII(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || isInvisible(r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
}

// isInvisible reports whether r shows nothing by itself: joiners, marks of
// direction, selectors of variants, tags, fillers.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isDeceptive reports whether r serves to show a text as other than it is: it
// turns the direction of writing, or spells ASCII invisibly.
func isDeceptive(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r >= '\U000e0020' && r <= '\U000e007e'
}

// isUsual reports whether r may stand in a tool's name without raising doubts
// about what the name says.
func isUsual(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./: ", r)
}

// hasUnusual reports whether name holds a character that a word may hide behind.
func hasUnusual(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return !isUsual(r) })
}
