package tools

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
)

// order is a parameter that may hold something to execute, by its name.
type order struct {
	name      string // as the schema or the call spells it
	executes  bool   // its name says so; all else is false without this
	shell     bool   // a program runs it, not an interpreter
	doubtful  bool   // it may be something else: a country's code
	statement bool   // it may be a database's
	holds     bool   // its schema lets it hold any text, and none says that it is something else
}

// orderWords are the words of parameters that hold something to execute; see
// "handed" in assets/risk.yaml.
type orderWords struct {
	kinds
	doubtful, statements, qualifiers, tails map[string]bool
}

func newOrderWords(l orderLists) orderWords {
	return orderWords{newKinds(l.kindLists), wordSet(l.Doubtful), wordSet(l.Statements), wordSet(l.Qualifiers), wordSet(l.Tails)}
}

// check refuses words that would have no effect.
func (o orderWords) check() error {
	for _, word := range slices.Concat(slices.Collect(maps.Keys(o.doubtful)), slices.Collect(maps.Keys(o.statements))) {
		if !o.executes(word) {
			return fmt.Errorf("handed: %q is in neither text nor shell", word)
		}
	}
	return nil
}

func (o orderWords) executes(word string) bool { return o.text[word] || o.shell[word] }

func (o orderWords) knows(word string) bool {
	return o.executes(word) || o.qualifiers[word] || o.tails[word]
}

// order reads a parameter's name, in any spelling: python_code, pythonCode and
// pythoncode.
func (v *vocabulary) order(name string) order {
	words := v.handed.split(name)
	for len(words) > 1 && v.handed.tails[words[len(words)-1]] && !v.handed.executes(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 || !v.handed.executes(words[len(words)-1]) {
		return order{}
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	o := order{
		name: name, executes: true, shell: v.handed.shell[last], doubtful: v.handed.doubtful[last], statement: v.handed.statements[last],
	}
	for _, word := range before {
		o.shell = o.shell || v.handed.shell[word]
		switch {
		case v.handed.executes(word) && !v.handed.doubtful[word]:
			o.doubtful = false
		case v.handed.doubtful[last] && !v.handed.knows(word):
			return order{} // a country's code, a bank's statement
		}
	}
	return o
}

// maxParts is how many words may be written as one: runpythoncode.
const maxParts = 5

// split splits a parameter's name into words, also where it is written as one.
func (o orderWords) split(name string) []string {
	var words []string
	for _, word := range splitWords(name) {
		if parts := o.unglue(word, maxParts); parts != nil {
			words = append(words, parts...)
		} else {
			words = append(words, word)
		}
	}
	return words
}

// unglue splits a word wholly into at most n known ones, or returns nil.
func (o orderWords) unglue(word string, n int) []string {
	if o.knows(word) {
		return []string{word}
	}
	for end := len(word) - 2; end > 1 && n > 1; end-- {
		if !o.knows(word[:end]) {
			continue
		}
		if rest := o.unglue(word[end:], n-1); rest != nil {
			return append([]string{word[:end]}, rest...)
		}
	}
	return nil
}

// holdsOrder reports whether a parameter of such a name may hold anything to
// execute: its schema is not that of a key.
func (v *vocabulary) holdsOrder(o order, schema gjson.Result) bool {
	if kind := schema.Get("type").String(); kind == "integer" || kind == "number" || kind == "boolean" {
		return false
	}
	if len(allowedValues(schema)) > 0 || schema.Get("pattern").Exists() {
		return false
	}
	about := schema.Get("description").String()
	return !o.doubtful || about == "" || v.indexIn(v.executed, descriptionWords(about)) >= 0
}

// judgeParameters judges a tool by what it is handed to execute.
func judgeParameters(p parameters) finding {
	if i := slices.IndexFunc(p.orders, func(o order) bool { return o.holds }); i >= 0 {
		return found(approvals.Execute, strong, "it takes a parameter", p.orders[i].name)
	}
	if p.tooDeep {
		return unknownDepth()
	}
	if len(p.orders) > 0 {
		return found(approvals.Write, weak, "it takes a parameter that may be executed:", p.orders[0].name)
	}
	return finding{}
}

// takesOrders reports whether a tool takes anything to execute: no other tool's
// good name speaks for one that does.
func (v *vocabulary) takesOrders(def *Definition) bool {
	return judgeParameters(v.readParameters(def.InputSchema)).class == approvals.Execute
}

// judgeHanded finds reading names that are handed something to execute, and
// not to examine it. A statement counts for nothing where the description
// promises a read-only database: such tools are as common as their promise.
func (v *vocabulary) judgeHanded(words []string, p parameters, description string) finding {
	for _, o := range p.orders {
		if !o.holds || o.statement && promisesReadOnly(description) || v.examinesOrder(words, o) {
			continue
		}
		return found(approvals.Execute, strong, "it reads by executing its parameter", o.name)
	}
	if p.tooDeep {
		return unknownDepth()
	}
	return finding{}
}

func unknownDepth() finding {
	return finding{approvals.Execute, strong, "its parameters lie too deep inside one another to be known"}
}

// examinesOrder reports whether a tool's name says that it looks at what it is
// handed without executing it.
func (v *vocabulary) examinesOrder(words []string, o order) bool {
	if o.shell {
		return v.indexIn(v.examines.shell, words) >= 0
	}
	return v.indexIn(v.examines.text, words) >= 0
}

// promisesReadOnly reports whether a description says read-only, and not that
// something is not.
func promisesReadOnly(description string) bool {
	words := descriptionWords(description)
	for i, w := range words {
		if w == "readonly" || w == "read" && i+1 < len(words) && words[i+1] == "only" {
			return i == 0 || words[i-1] != "not" && words[i-1] != "isn't"
		}
	}
	return false
}
