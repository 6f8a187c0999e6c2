package tools

import (
	"strings"
	"unicode"
)

// splitWords splits a name at separators, at camelCase and at digits, and
// returns its words in lower case: "VPS_deletePTRRecordV1" gives vps, delete,
// ptr, record. A single letter keeps the digits after it (d1, s3, k8), unless
// they are a version's; other digits are left out. Characters count as what they
// look like, as far as plainSpelling knows.
func splitWords(name string) []string {
	runes := []rune(plainSpelling(name))
	words := make([]string, 0, 8)
	for i := 0; i < len(runes); {
		end := wordEnd(runes, i)
		if end == i {
			i++
			continue
		}
		if end == i+1 {
			end = digitsEnd(runes, end)
		}
		if word := strings.ToLower(string(runes[i:end])); word[0] != 'v' || unicode.IsLetter(runes[end-1]) {
			words = append(words, word)
		}
		i = end
	}
	return words
}

// wordEnd returns where the word that starts at i ends, i itself for none.
func wordEnd(runes []rune, i int) int {
	end := i
	for end < len(runes) && unicode.IsLetter(runes[end]) && (end == i || !startsWord(runes, end)) {
		end++
	}
	return end
}

func digitsEnd(runes []rune, i int) int {
	for i < len(runes) && unicode.IsDigit(runes[i]) {
		i++
	}
	return i
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
