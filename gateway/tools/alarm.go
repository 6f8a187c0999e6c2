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

// judgeSentence finds a change that a sentence says the tool makes. What comes
// after the first sentence may tell the caller what to do, so there a verb
// counts in its third person only, or after a word such as also.
func (v *vocabulary) judgeSentence(words []string, first bool) finding {
	if isWordList(words) {
		return finding{}
	}
	opening := true
	for i, w := range words {
		if v.hedges[w] {
			return finding{}
		}
		base := v.deed(w)
		told := first || base != w || i > 0 && !v.joinsOnly(words[i-1])
		if base != "" && told && (opening || v.coordinators[words[i-1]]) && v.hasObject(words[i+1:]) {
			return found(v.classOf(base), weak, "description says that it also does:", w)
		}
		opening = opening && v.openers[w]
	}
	return finding{}
}

// joinsOnly reports whether w joins two verbs of one kind, telling or asking.
func (v *vocabulary) joinsOnly(w string) bool { return w == "and" || w == "or" || w == "then" }

// deed returns the verb whose base or third person word is, or "".
func (v *vocabulary) deed(word string) string {
	if v.deeds[word] {
		return word
	}
	stem, ok := strings.CutSuffix(word, "s")
	if !ok {
		return ""
	}
	if v.deeds[stem] {
		return stem
	}
	if y, ok := strings.CutSuffix(stem, "ie"); ok && v.deeds[y+"y"] {
		return y + "y"
	}
	if e, ok := strings.CutSuffix(stem, "e"); ok && v.deeds[e] {
		return e
	}
	return ""
}

// hasObject reports whether the words after a verb begin with an object of
// its own that is no question.
func (v *vocabulary) hasObject(after []string) bool {
	if len(after) == 0 || !v.determiners[after[0]] {
		return false
	}
	return v.indexIn(v.lookups, after[:min(len(after), 4)]) < 0
}
