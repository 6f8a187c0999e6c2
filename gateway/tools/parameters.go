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
	orders    []order    // parameters that may hold something to execute, also those inside others
	tooDeep   bool       // what lies deep inside others is not known
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
		return true
	})
	p.tooDeep = !eachParameter(gjson.ParseBytes(schema), maxSchemaDepth, func(name string, value gjson.Result) {
		if o := v.order(name); o.executes {
			o.holds = v.holdsOrder(o, value)
			p.orders = append(p.orders, o)
		}
	})
	return p
}

// maxSchemaDepth is how deep a schema is searched for parameters.
const maxSchemaDepth = 64

// eachParameter visits each property that a schema declares, wherever it does: a
// reference may lead to any part of it.
// It reports whether depth, the levels it may go down, was enough.
func eachParameter(schema gjson.Result, depth int, visit func(name string, schema gjson.Result)) bool {
	if depth == 0 {
		return false
	}
	whole := true
	schema.ForEach(func(key, value gjson.Result) bool {
		switch key.String() {
		case "properties", "patternProperties":
			value.ForEach(func(name, property gjson.Result) bool {
				visit(name.String(), property)
				whole = eachParameter(property, depth-1, visit) && whole
				return true
			})
		default:
			if value.IsObject() || value.IsArray() {
				whole = eachParameter(value, depth-1, visit) && whole
			}
		}
		return true
	})
	return whole
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

// risks reports the gravest of the values it allows that changes something, or
// none.
func (s selector) risks(v *vocabulary) finding {
	var gravest finding
	for _, value := range s.values {
		gravest = graver(gravest, v.judgeMode(s.name, value))
	}
	return gravest
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
	var reads, risky finding
	for _, s := range p.selectors {
		risky = graver(risky, s.risks(v))
		if v.onlyReads(s) {
			reads = finding{approvals.Read, strong, "each " + s.name + " only reads"}
		}
	}
	if risky.risky() {
		return risky
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
