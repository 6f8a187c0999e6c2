package schema

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// keywordKinds tells which keywords speak of which kind of value.
var keywordKinds = map[string]kind{
	"properties": object, "required": object, "additionalProperties": object, "patternProperties": object, "propertyNames": object,
	"minProperties": object, "maxProperties": object, "dependentRequired": object, "dependentSchemas": object, "dependencies": object,
	"unevaluatedProperties": object,
	"items":                 array, "prefixItems": array, "additionalItems": array, "minItems": array, "maxItems": array, "uniqueItems": array,
	"contains": array, "minContains": array, "maxContains": array, "unevaluatedItems": array,
	"minLength": text, "maxLength": text, "pattern": text, "format": text, "contentEncoding": text, "contentMediaType": text,
	"minimum": number, "maximum": number, "exclusiveMinimum": number, "exclusiveMaximum": number, "multipleOf": number, "divisibleBy": number,
}

// boundsOf are the keywords that bound values of a kind, written as they are.
var boundsOf = map[kind][]string{
	integer: {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	number:  {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	text:    {"minLength", "maxLength"},
	array:   {"minItems", "maxItems"},
	object:  {"minProperties", "maxProperties"},
}

// own makes the node of what the schema says itself, references and
// combinations apart.
func (p *passage) own() error {
	p.node = &node{}
	values, limited := p.values()
	for _, k := range p.kindsOf(values) {
		s := &shape{kind: k, enum: ofKind(values, k, limited)}
		if limited && s.enum == nil {
			continue
		}
		if err := p.fill(s); err != nil {
			return err
		}
		if s = s.settle(); s != nil {
			p.node.shapes = append(p.node.shapes, s.tidy())
		}
	}
	return nil
}

// values returns what enum and const allow.
func (p *passage) values() (values []any, limited bool) {
	list, ok := p.schema["enum"].([]any)
	if ok && len(list) == 0 {
		p.loosen(p.at, "its enum is empty, and left out")
		ok = false
	}
	c, fixed := p.schema["const"]
	switch {
	case ok && fixed:
		return slices.DeleteFunc(slices.Clone(list), func(v any) bool { return !equal(v, c) }), true
	case fixed:
		return []any{c}, true
	}
	return list, ok
}

// kindsOf returns the kinds of values the schema allows. Where it names no type,
// that is what its keywords speak of: a schema with properties means an object.
func (p *passage) kindsOf(values []any) []kind {
	if declared := declaredKinds(p.schema); len(declared) > 0 {
		return declared
	}
	found := map[kind]bool{}
	for _, v := range values {
		found[kindOf(v)] = true
	}
	if found[number] {
		delete(found, integer)
	}
	if len(found) > 0 {
		return inOrder(found)
	}
	for keyword := range p.schema {
		if k, ok := keywordKinds[keyword]; ok && !(keyword == "required" && isBool(p.schema[keyword])) {
			found[k] = true
		}
	}
	return p.meant(found)
}

// meant returns the kinds of values that keywords mean which speak of some.
func (p *passage) meant(spoken map[kind]bool) []kind {
	possible := p.kinds
	if possible == nil {
		possible = everyKind
	}
	meant := map[kind]bool{}
	for _, k := range possible {
		if spoken[k] || k == integer && spoken[number] {
			meant[k] = true
		}
	}
	if len(meant) == 0 { // they say nothing of such values
		return possible
	}
	if len(meant) < len(possible) {
		p.narrowed++
	}
	return inOrder(meant)
}

func inOrder(kinds map[kind]bool) []kind {
	var list []kind
	for k := range kindNames {
		if kinds[kind(k)] {
			list = append(list, kind(k))
		}
	}
	return list
}

func isBool(v any) bool {
	_, ok := v.(bool)
	return ok
}

// declaredKinds returns the kinds that "type" names; none when it names none
// that is known, or any.
func declaredKinds(schema map[string]any) []kind {
	names, ok := schema["type"].([]any)
	if !ok {
		names = []any{schema["type"]}
	}
	var kinds []kind
	for k, name := range kindNames {
		if slices.Contains(names, any(name)) && !(kind(k) == integer && slices.Contains(names, any("number"))) {
			kinds = append(kinds, kind(k))
		}
	}
	return kinds
}

// ofKind returns the values of a kind; nil for none.
func ofKind(values []any, k kind, limited bool) []any {
	if !limited {
		return nil
	}
	var list []any
	seen := valueSet{}
	for _, v := range values {
		got, id := kindOf(v), identity(v)
		if (got == k || got == integer && k == number) && !seen[id] {
			seen[id] = true
			list = append(list, v)
		}
	}
	return list
}

func kindOf(v any) kind {
	switch v := v.(type) {
	case bool:
		return boolean
	case json.Number:
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) {
			return integer
		}
		return number
	case string:
		return text
	case []any:
		return array
	case map[string]any:
		return object
	}
	return null
}

// equal reports whether two JSON values are the same.
func equal(a, b any) bool { return identity(a) == identity(b) }

// identity is a text that is the same for the same values: 1.0 is 1.
func identity(v any) string {
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil && math.Abs(f) < maxExact {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	return string(encode(v))
}

// valueSet holds JSON values by their identity.
type valueSet map[string]bool

func setOf(values []any) valueSet {
	set := make(valueSet, len(values))
	for _, v := range values {
		set[identity(v)] = true
	}
	return set
}

// filter returns those of the values that are in the set, or those that are not.
func (set valueSet) filter(values []any, in bool) []any {
	kept := []any{}
	for _, v := range values {
		if set[identity(v)] == in {
			kept = append(kept, v)
		}
	}
	return kept
}

// tidy leaves out an enum that lists every value of its kind.
func (s *shape) tidy() *shape {
	if s.kind == null || s.kind == boolean && len(s.enum) == 2 {
		s.enum = nil
	}
	return s
}

// fill adds to a shape what the schema says of its kind.
func (p *passage) fill(s *shape) error {
	for _, keyword := range boundsOf[s.kind] {
		p.bound(s, keyword)
	}
	switch s.kind {
	case text:
		p.fillText(s)
	case array:
		return p.fillArray(s)
	case object:
		return p.fillObject(s)
	}
	return nil
}

// maxExact is the first integer that is one of two for a float64, less one:
// from here on numbers say "any integer" in the languages that know no others.
const maxExact = 1<<53 - 1

func (p *passage) bound(s *shape, keyword string) {
	n, ok := p.number(keyword)
	switch on := p.schema[keyword].(type) {
	case bool: // draft 4: the bound itself is excluded
		if plain := strings.Replace(keyword, "exclusiveM", "m", 1); on && plain != keyword {
			n, ok = p.number(plain)
		}
	case nil:
		if keyword == "multipleOf" { // draft 3
			n, ok = p.number("divisibleBy")
		}
	}
	if !ok {
		return
	}
	f, err := n.Float64()
	upper := strings.HasSuffix(keyword, "aximum")
	switch {
	case upper && f >= maxExact || strings.HasSuffix(keyword, "inimum") && f <= -maxExact:
		p.loosen(p.at, "its bound is beyond what every program counts exactly, and is left out")
		return
	case err != nil || keyword == "multipleOf" && f <= 0 || s.kind >= text && (f < 0 || f != math.Trunc(f) || f > maxExact):
		p.loosen(p.at, keyword+" is not a number that counts, and is left out")
		return
	case s.kind >= text: // 2.0 counts as 2, but not for every reader
		n = json.Number(strconv.FormatInt(int64(f), 10))
	}
	if s.bounds == nil {
		s.bounds = map[string]json.Number{}
	}
	s.bounds[keyword] = n
}

func (p *passage) fillText(s *shape) {
	s.format, _ = p.schema["format"].(string)
	if pattern, ok := p.schema["pattern"].(string); ok {
		if _, err := regexp.Compile(pattern); err != nil {
			p.lose("pattern", "its pattern is not one that every program can match")
		} else {
			s.pattern = pattern
		}
	}
	if encoding, ok := p.schema["contentEncoding"].(string); ok {
		p.words = append(p.words, "Encoded as "+encoding+".")
	}
}
