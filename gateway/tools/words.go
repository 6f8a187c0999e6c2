package tools

import (
	"strings"
	"unicode"
)

// splitWords splits a name at separators, at camelCase and around digits, and
// returns its words in lower case: "VPS_deletePTRRecordV1" gives vps, delete,
// ptr, record, v. Numbers are left out, and so is a version's lone v.
func splitWords(name string) []string {
	runes := []rune(name)
	words := make([]string, 0, 8)
	start := 0
	flush := func(end int) {
		if word := string(runes[start:end]); start < end && word != "v" && word != "V" {
			words = append(words, strings.ToLower(word))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
			start = i + 1
		case i > start && startsWord(runes, i):
			flush(i)
			start = i
		}
	}
	flush(len(runes))
	return words
}

// startsWord reports whether the letter at i begins a new word inside a run of
// letters: the B of aB, and the last capital of an acronym, the R of PTRRecord.
func startsWord(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	if unicode.IsLower(runes[i-1]) {
		return true
	}
	return i+1 < len(runes) && unicode.IsLower(runes[i+1])
}
