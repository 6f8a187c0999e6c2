package tools

import (
	"pointsman/approvals"
)

// strength says how much a finding bears.
type strength int

const (
	none   strength = iota // nothing was found
	weak                   // a word that could mean something else
	strong                 // a clear word
)

// finding is what one kind of evidence says about a tool.
type finding struct {
	class    approvals.Class
	strength strength
	evidence string // one short sentence
}

func (f finding) risky() bool { return f.strength > none && f.class != approvals.Read }

func (f finding) reads() bool { return f.strength > none && f.class == approvals.Read }

// gravity orders what a tool can do by how much harm that is, from 0 for none.
func gravity(c approvals.Class) int {
	switch c {
	case approvals.Read:
		return 0
	case approvals.Destructive:
		return 2
	case approvals.Execute:
		return 3
	}
	return 1 // it changes something here or elsewhere
}

// graver returns b if it found something worse than a did, and a otherwise.
func graver(a, b finding) finding {
	if b.risky() && (!a.risky() || gravity(b.class) > gravity(a.class)) {
		return b
	}
	return a
}

func found(class approvals.Class, s strength, what, word string) finding {
	return finding{class, s, what + " “" + word + "”"}
}

// judgeSpelling finds names that may not say what they seem to.
func judgeSpelling(name string) finding {
	if hasUnusual(name) {
		return finding{approvals.Write, strong, "the name holds unusual characters"}
	}
	return finding{}
}

// judgeName judges a tool by the words of its name.
func (v *vocabulary) judgeName(words []string) finding {
	for i, word := range words {
		w := v.words[word]
		switch w.role {
		case risks:
			return v.judgeChange(words, i)
		case reads:
			return v.judgeReading(words, i)
		}
	}
	return v.judgeVerbless(words)
}

// judgeChange judges a name whose first clear verb, at lead, changes something.
// Another may do worse: create_and_run, write_exec.
func (v *vocabulary) judgeChange(words []string, lead int) finding {
	f := found(v.words[words[lead]].class, strong, "name contains", words[lead])
	for i := lead + 1; i < len(words); i++ {
		w, last := v.words[words[i]], i == len(words)-1
		joined := v.joints[words[i-1]] && (w.role == risks || w.role == either)
		orders := v.imperatives[words[i]] && (last || !v.nominals[words[i+1]]) || !last && v.orders[words[i]][words[i+1]]
		if joined || orders {
			f = graver(f, risksBeside(w.class, words[i]))
		}
	}
	return f
}

// judgeVerbless judges a name that has no clear verb.
func (v *vocabulary) judgeVerbless(words []string) finding {
	if i := v.indexIn(v.compute, words); i >= 0 {
		return v.judgeCompute(words, i)
	}
	w, maybe := v.firstOf(either, words)
	_, looks := v.firstOf(readWeak, words)
	switch {
	case looks >= 0 && v.indexIn(v.databases, words) >= 0:
		return found(approvals.Execute, weak, "name asks a database, which may write:", words[looks])
	case looks >= 0 && (maybe < 0 || looks < maybe):
		return found(approvals.Read, strong, "name reads:", words[looks])
	}
	if f := v.judgeGlued(words); f.strength > none {
		return f
	}
	switch {
	case maybe >= 0 && maybe < len(words)-1 && v.words[words[len(words)-1]].role == readNoun:
		return found(approvals.Read, weak, "name ends in", words[len(words)-1])
	case maybe >= 0:
		return found(w.class, weak, "name contains", words[maybe])
	}
	return v.judgeNouns(words)
}

// judgeCompute judges a name that makes something out of its arguments.
func (v *vocabulary) judgeCompute(words []string, verb int) finding {
	if i := v.indexIn(v.grants, words); i >= 0 {
		return found(approvals.Write, strong, "name makes a", words[i])
	}
	return found(approvals.Read, weak, "name only computes:", words[verb])
}

// judgeNouns judges a name without any verb by its last word.
func (v *vocabulary) judgeNouns(words []string) finding {
	for len(words) > 0 && v.filler[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return finding{}
	}
	last := words[len(words)-1]
	switch v.words[last].role {
	case readNoun:
		return found(approvals.Read, strong, "name ends in", last)
	case object:
		return found(approvals.Read, weak, "name ends in", last)
	}
	return finding{}
}

// firstOf returns the first of words that has the role, and its index or -1.
func (v *vocabulary) firstOf(r role, words []string) (word, int) {
	for i, name := range words {
		if w := v.words[name]; w.role == r {
			return w, i
		}
	}
	return word{}, -1
}

// indexIn returns the index of the first of words that is in set, or -1.
func (v *vocabulary) indexIn(set map[string]bool, words []string) int {
	for i, name := range words {
		if set[name] {
			return i
		}
	}
	return -1
}
