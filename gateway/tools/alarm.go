package tools

import (
	"strings"

	"pointsman/approvals"
)

// maxSentences is how many sentences of a description are searched for what
// the tool does besides reading. Those after them explain how to use it.
const maxSentences = 4

// judgeAlarm finds what in a description belies a reading name.
func (v *vocabulary) judgeAlarm(text string) finding {
	if !isASCII(text) {
		if strings.ContainsFunc(text, isDeceptive) {
			return finding{approvals.Write, weak, "description hides text"}
		}
		text = plainSpelling(text)
	}
	for w := range strings.FieldsFuncSeq(text, notLetter) {
		if v.alarms[strings.ToLower(w)] {
			return found(approvals.Destructive, weak, "description says", w)
		}
	}
	for i := range maxSentences {
		sentence, rest := cutSentence(text)
		if f := v.judgeSentence(descriptionWords(sentence), i == 0); f.strength > none {
			return f
		}
		text = rest
	}
	return finding{}
}

// cutSentence splits text after its first sentence.
func cutSentence(text string) (sentence, rest string) {
	for i := range len(text) {
		switch text[i] {
		case '\n', ';':
			return text[:i], text[i+1:]
		case '.', '!', '?', ':':
			if i+1 < len(text) && text[i+1] == ' ' {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// judgeSentence finds a change that a sentence says the tool makes.
func (v *vocabulary) judgeSentence(words []string, first bool) finding {
	if isWordList(words) {
		return finding{}
	}
	opening := true
	for i, w := range words {
		if v.hedges[w] {
			return finding{}
		}
		joined := i > 0 && v.coordinators[words[i-1]]
		base := v.deed(w)
		switch {
		case base == "" || !first && base == w && !tells(words[:i]) || !v.hasObject(words[i+1:]):
		case joined || opening && !v.laterDeeds[base]:
			return found(v.classOf(base), weak, "description says that it also does:", w)
		}
		opening = opening && v.openers[w]
	}
	return finding{}
}

// tells reports whether a verb after these words is no order to the caller, as
// "Add a filter" is and "Also add a row" is not. Sentences after the first
// often say how to use the tool.
func tells(before []string) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	return last != "and" && last != "or" && last != "then"
}

// deed returns the verb whose base or third person word is, or "".
func (v *vocabulary) deed(word string) string {
	if v.isDeed(word) {
		return word
	}
	stem, ok := strings.CutSuffix(word, "s")
	if !ok {
		return ""
	}
	if v.isDeed(stem) {
		return stem
	}
	if y, ok := strings.CutSuffix(stem, "ie"); ok && v.isDeed(y+"y") {
		return y + "y"
	}
	if e, ok := strings.CutSuffix(stem, "e"); ok && v.isDeed(e) {
		return e
	}
	return ""
}

func (v *vocabulary) isDeed(word string) bool { return v.deeds[word] || v.laterDeeds[word] }

// hasObject reports whether the words after a verb begin with an object of
// its own that is no question.
func (v *vocabulary) hasObject(after []string) bool {
	if len(after) == 0 || !v.determiners[after[0]] {
		return false
	}
	return v.indexIn(v.lookups, after[:min(len(after), 4)]) < 0
}
