package tools

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
)

// parameters is what a tool's input schema says that bears on its risk.
type parameters struct {
	names     []string   // folded, in the schema's order
	selectors []selector // parameters that choose what the tool does
	handed    []string   // those of names that hold anything to execute
}

// selector is a parameter such as action or mode.
type selector struct {
	name   string   // as the schema spells it
	values []string // what the schema allows; nil when it does not say
	shell  bool     // may hold anything unless values are listed
}

// fold makes spellings of one parameter equal: output_path and outputPath.
func fold(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r >= 'A' && r <= 'Z' || r > 127 }) {
		return name
	}
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(plainSpelling(name), "_", ""), "-", ""))
}

func (v *vocabulary) readParameters(schema json.RawMessage) parameters {
	var p parameters
	gjson.GetBytes(schema, "properties").ForEach(func(key, value gjson.Result) bool {
		name := fold(key.String())
		p.names = append(p.names, name)
		if v.selectors[name] || v.shells[name] {
			p.selectors = append(p.selectors, selector{key.String(), allowedValues(value), v.shells[name]})
		}
		if v.takesOrders(name, value) {
			p.handed = append(p.handed, name)
		}
		return true
	})
	return p
}

// allowedValues returns the strings a schema allows: its enum or const, or
// those of its anyOf or oneOf.
func allowedValues(schema gjson.Result) []string {
	var values []string
	for _, value := range schema.Get("enum").Array() {
		values = append(values, value.String())
	}
	if c := schema.Get("const"); c.Exists() {
		values = append(values, c.String())
	}
	for _, key := range [...]string{"anyOf", "oneOf"} {
		for _, branch := range schema.Get(key).Array() {
			values = append(values, allowedValues(branch)...)
		}
	}
	return values
}

// risks reports what of the values it allows changes something, or none.
func (s selector) risks(v *vocabulary) finding {
	for _, value := range s.values {
		if f := v.judgeMode(s.name, value); f.risky() {
			return f
		}
	}
	return finding{}
}

// judgeMode says what one value of a selector makes the tool do; nothing when
// its words are unknown.
func (v *vocabulary) judgeMode(name, value string) finding {
	words := splitWords(value)
	if len(words) == 0 || !isASCII(value) {
		return finding{}
	}
	f := v.judgeName(words)
	if !f.risky() && (v.modesRead[words[0]] || f.strength == strong) {
		return finding{approvals.Read, strong, name + " “" + value + "” only reads"}
	}
	// A mode is how, an action what: "tag" as a mode is a noun.
	if f.risky() && (f.strength == strong || fold(name) != "mode") {
		return finding{f.class, strong, name + " can be “" + value + "”"}
	}
	return finding{}
}

// judgeModes judges a tool by what its selectors allow: one change makes it
// risky, and it only reads when every value of one does.
func (v *vocabulary) judgeModes(p parameters) finding {
	reads := finding{}
	for _, s := range p.selectors {
		if f := s.risks(v); f.strength > none {
			return f
		}
		if v.onlyReads(s) {
			reads = finding{approvals.Read, strong, "each " + s.name + " only reads"}
		}
	}
	return reads
}

func (v *vocabulary) onlyReads(s selector) bool {
	for _, value := range s.values {
		if !v.judgeMode(s.name, value).reads() {
			return false
		}
	}
	return len(s.values) > 0
}

// judgeParameters judges a tool by what it is handed to execute.
func (v *vocabulary) judgeParameters(p parameters) finding {
	if i := v.indexIn(v.executeParams, p.names); i >= 0 {
		return found(approvals.Execute, weak, "it takes a parameter", p.names[i])
	}
	return finding{}
}

// takesOrders reports whether a parameter may hold anything to execute: it is
// named so, and its schema is not that of a key.
func (v *vocabulary) takesOrders(name string, schema gjson.Result) bool {
	if !v.handed.text[name] && !v.handed.shell[name] {
		return false
	}
	if kind := schema.Get("type").String(); kind == "integer" || kind == "number" || kind == "boolean" {
		return false
	}
	if len(allowedValues(schema)) > 0 || schema.Get("pattern").Exists() {
		return false
	}
	about := schema.Get("description").String()
	return !v.handed.doubtful[name] || about == "" || v.indexIn(v.executed, descriptionWords(about)) >= 0
}

// judgeHanded finds reading names that are handed something to execute, and
// not to examine it. A statement counts for nothing where the description
// promises a read-only database: such tools are as common as their promise.
func (v *vocabulary) judgeHanded(words []string, p parameters, description string) finding {
	for _, name := range p.handed {
		examines := v.examines.text
		if v.handed.shell[name] {
			examines = v.examines.shell
		}
		if strings.HasPrefix(name, "sql") && promisesReadOnly(description) {
			continue
		}
		if v.indexIn(examines, words) < 0 {
			return found(approvals.Execute, strong, "it reads by executing its parameter", name)
		}
	}
	return finding{}
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

// judgeFiles finds tools that write what they read to a file of this machine.
func (v *vocabulary) judgeFiles(words []string, p parameters) finding {
	verb := v.indexIn(v.fileVerbs, words)
	if verb < 0 {
		return finding{}
	}
	if last := words[len(words)-1]; verb < len(words)-1 && (last == "file" || last == "disk") {
		return found(approvals.Write, strong, "name writes a", last)
	}
	if i := v.indexIn(v.fileParams, p.names); i >= 0 {
		return found(approvals.Write, strong, "it writes the file named by", p.names[i])
	}
	return finding{}
}
