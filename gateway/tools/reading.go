package tools

import "pointsman/approvals"

// judgeReading judges a name whose first clear verb, at lead, only reads. It
// may still change something: get_or_create, search_replace, get_wipe_disk.
func (v *vocabulary) judgeReading(words []string, lead int) finding {
	for i, word := range words {
		if i < lead && v.joints[word] {
			if w, found := v.firstOf(either, words[:i]); found >= 0 {
				return risksBeside(w.class, words[found])
			}
		}
		if v.changesBeside(words, lead, i) {
			return risksBeside(v.words[word].class, word)
		}
	}
	return found(approvals.Read, strong, "name reads:", words[lead])
}

// changesBeside reports whether the word at i orders a change although the
// verb at lead reads.
func (v *vocabulary) changesBeside(words []string, lead, i int) bool {
	word, last := words[i], i == len(words)-1
	if !last && v.orders[word][words[i+1]] {
		return true
	}
	if i == lead+2 && v.joints[words[i-1]] && v.words[word].role == either {
		return true // two verbs: fetch_and_store
	}
	if i <= lead || v.words[word].role != risks && !v.imperatives[word] {
		return false
	}
	switch {
	case v.joints[words[i-1]]:
		return true
	case !last && v.nominals[words[i+1]], v.asks[words[lead]]:
		return false
	case v.imperatives[word]:
		return true
	}
	return v.nounVerbs[words[lead]] && (i == lead+1 || last)
}

func risksBeside(class approvals.Class, word string) finding {
	return found(class, strong, "name also contains", word)
}

// minGlued is how long what a verb is glued to must be, lest it be an ending.
const minGlued = 4

// judgeGlued finds verbs in a name that is not split: deletefile, getdelete.
func (v *vocabulary) judgeGlued(words []string) finding {
	for _, word := range words {
		if v.words[word].role != unknown || v.whole[word] {
			continue
		}
		if verb := v.gluedVerb(word); verb != "" {
			return found(v.words[verb].class, weak, "name may contain", verb)
		}
	}
	return finding{}
}

// gluedVerb returns the imperative that word begins with, or that follows a
// reading verb it begins with, or "".
func (v *vocabulary) gluedVerb(word string) string {
	if verb := v.leadingImperative(word); verb != "" {
		return verb
	}
	for end := len(word) - minGlued; end > 1; end-- {
		if v.words[word[:end]].role != reads {
			continue
		}
		if rest := word[end:]; v.imperatives[rest] {
			return rest
		}
		if verb := v.leadingImperative(word[end:]); verb != "" {
			return verb
		}
	}
	return ""
}

// leadingImperative returns the longest imperative that something is glued to
// at the beginning of word, or "".
func (v *vocabulary) leadingImperative(word string) string {
	for end := len(word) - minGlued; end > 2; end-- {
		if v.imperatives[word[:end]] {
			return word[:end]
		}
	}
	return ""
}
