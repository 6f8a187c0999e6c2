package tools

import (
	"strings"
	"unicode"

	"pointsman/approvals"
)

// leadingWords is how far into a description its first verb is looked for.
const leadingWords = 4

// judgeDescription judges a tool by its first sentence, strongly by the verb that
// it begins with. Of all evidence it is the weakest: a description says many
// things, and whoever wrote it may mean harm.
func (v *vocabulary) judgeDescription(text string) finding {
	words := descriptionWords(plainSpelling(firstSentence(text)))
	if !isWordList(words) {
		for _, w := range words[:min(len(words), leadingWords)] {
			if v.describeRisk[w] || v.stem(w).role == risks {
				return found(v.classOf(w), strong, "description begins with", w)
			}
			if v.describeRead[w] {
				return found(approvals.Read, strong, "description begins with", w)
			}
		}
	}
	for _, w := range words {
		if v.describeRisk[w] {
			return found(v.classOf(w), weak, "description says", w)
		}
	}
	for _, w := range words {
		if v.describeRead[w] {
			return found(approvals.Read, weak, "description says", w)
		}
	}
	return finding{}
}

// classOf returns the class of a describing verb: deletes is as delete.
func (v *vocabulary) classOf(verb string) approvals.Class {
	if w := v.stem(verb); w.role == risks || w.role == either {
		return w.class
	}
	return approvals.Write
}

// stem looks a verb up in its third person.
func (v *vocabulary) stem(verb string) word {
	for _, suffix := range [...]string{"", "s", "es"} {
		if stem, ok := strings.CutSuffix(verb, suffix); ok && v.words[stem].role != unknown {
			return v.words[stem]
		}
	}
	return word{}
}

func firstSentence(text string) string {
	text = strings.TrimSpace(text)
	for _, end := range [...]string{"\n", ". ", "; "} {
		if i := strings.Index(text, end); i > 0 {
			text = text[:i]
		}
	}
	return text
}

func descriptionWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), notLetter)
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }

// isWordList reports whether words stand in alphabetical order, as no sentence
// does: then the first one is not the verb.
func isWordList(words []string) bool {
	if len(words) < leadingWords {
		return false
	}
	for i := 1; i < len(words); i++ {
		if words[i-1] > words[i] {
			return false
		}
	}
	return true
}
