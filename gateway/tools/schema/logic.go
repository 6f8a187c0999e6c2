package schema

import (
	"maps"
	"slices"
	"strings"
)

// condition is an if with its then and else, and where they stand.
type condition struct {
	schema map[string]any
	at     string
}

// noteCondition keeps the condition of a schema for later, and reports whether
// it has one.
func (p *passage) noteCondition(schema map[string]any, at string) bool {
	if schema["if"] == nil || schema["then"] == nil && schema["else"] == nil {
		return false
	}
	p.ifs = append(p.ifs, condition{schema, at})
	return true
}

// conditions splits the node by each if: into what fits it and its then, and
// what does not and fits its else.
func (p *passage) conditions() error {
	for _, c := range p.ifs {
		p.narrowed++ // see settle
		var branches [2]*node
		for i, keyword := range [...]string{"then", "else"} {
			branches[i] = anything()
			if c.schema[keyword] == nil {
				continue
			}
			var err error
			if branches[i], err = p.same(c.schema[keyword], c.at+"/"+keyword); err != nil {
				return err
			}
		}
		if !p.split(c, branches[0], branches[1]) {
			for _, keyword := range [...]string{"if", "then", "else"} {
				if c.schema[keyword] != nil {
					p.lose(keyword, "what holds under a condition is told in words")
					p.rules[keyword] = c.schema[keyword]
				}
			}
		}
	}
	return nil
}

// split reports whether it could split the node: the condition is the value of
// one property, and the values of that property are known.
func (p *passage) split(c condition, then, otherwise *node) bool {
	name, values, required, ok := discriminator(c.schema["if"])
	if !ok {
		return false
	}
	out := &node{about: p.node.about, preset: p.node.preset}
	for _, s := range p.node.shapes {
		if s.kind != object {
			return false
		}
		fits, others, finite := divide(s, name, values, required)
		if !finite {
			return false
		}
		for i, half := range []*shape{fits, others} {
			if half == nil {
				continue
			}
			narrowed := p.intersect(&node{shapes: []*shape{half}}, []*node{then, otherwise}[i], c.at)
			out.shapes = append(out.shapes, narrowed.shapes...)
		}
	}
	if len(out.shapes) > maxShapes {
		return false
	}
	p.node = out
	return true
}

// discriminator reads a condition on the value of one property.
func discriminator(condition any) (name string, values []any, required, ok bool) {
	schema, _ := condition.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for keyword := range schema {
		if keyword != "properties" && keyword != "required" && keyword != "type" && keyword != "description" {
			return "", nil, false, false
		}
	}
	if len(properties) != 1 || schema["type"] != nil && schema["type"] != "object" {
		return "", nil, false, false
	}
	for key, value := range properties {
		name = key
		values, ok = listed(value)
	}
	if list, given := schema["required"].([]any); given {
		required = len(list) > 0
		ok = ok && !slices.ContainsFunc(list, func(v any) bool { return v != name })
	}
	return name, values, required, ok
}

// listed returns the values of a schema that lists them and says nothing else.
func listed(v any) ([]any, bool) {
	schema, _ := v.(map[string]any)
	for keyword := range schema {
		if keyword != "const" && keyword != "enum" && keyword != "description" {
			return nil, false
		}
	}
	values, isEnum := schema["enum"].([]any)
	c, isConst := schema["const"]
	if isConst {
		values = []any{c}
	}
	return values, isEnum != isConst
}

// divide divides an object into what a condition on the value of one property
// holds for, and what it does not; nil for nothing. A condition that does not
// require the property holds without it.
func divide(s *shape, name string, values []any, required bool) (fits, others *shape, finite bool) {
	in, out, set := &node{}, &node{}, setOf(values)
	prop := s.prop(name)
	for _, v := range prop.shapes {
		all := v.allValues()
		if all == nil {
			return nil, nil, false
		}
		inside, outside := *v, *v
		inside.enum, outside.enum = set.filter(all, true), set.filter(all, false)
		in.add(&inside)
		out.add(&outside)
	}
	in.about, out.about = prop.about, prop.about
	return s.with(name, in, required), s.with(name, out, !required), true
}

// allValues returns every value of a shape, or nil when they are not few.
func (s *shape) allValues() []any {
	switch {
	case s.enum != nil:
		return s.enum
	case s.kind == boolean:
		return []any{false, true}
	case s.kind == null:
		return []any{nil}
	}
	return nil
}

// add adds a shape that lists its values, if there are any.
func (n *node) add(s *shape) {
	if len(s.enum) > 0 {
		n.shapes = append(n.shapes, s.tidy())
	}
}

// with returns the object with another schema of a property; nil when none is
// left.
func (s *shape) with(name string, n *node, required bool) *shape {
	out := *s
	out.props, out.required = maps.Clone(s.props), maps.Clone(s.required)
	out.props[name] = n
	if required {
		out.required[name] = true
	}
	return out.settle()
}

// negation takes what "not" names out of the node.
func (p *passage) negation() error {
	unwanted, ok := p.schema["not"]
	if !ok {
		return nil
	}
	schema, isObject := unwanted.(map[string]any)
	p.narrowed++ // see settle
	switch {
	case unwanted == false:
	case unwanted == true || isObject && len(schema) == 0:
		p.node = &node{about: p.node.about}
	case !p.without(schema):
		p.lose("not", "what it must not be is told in words")
	}
	return nil
}

// without reports whether it could take the values that fit a schema out of the
// node.
func (p *passage) without(schema map[string]any) bool {
	out := &node{about: p.node.about, preset: p.node.preset}
	values, isList := listed(schema)
	kinds := declaredKinds(schema)
	_, typed := schema["type"].(string)
	names, _ := schema["required"].([]any)
	for _, s := range p.node.shapes {
		switch {
		case isList:
			rest := *s
			if rest.enum = s.allValues(); rest.enum == nil {
				if slices.ContainsFunc(values, func(v any) bool { return kindOf(v) == s.kind || s.kind == number && kindOf(v) == integer }) {
					return false
				}
				out.shapes = append(out.shapes, s)
				continue
			}
			rest.enum = setOf(values).filter(rest.enum, false)
			out.add(&rest)
		case len(schema) == 1 && typed && len(kinds) == 1 && !(kinds[0] == integer && s.kind == number):
			if s.kind != kinds[0] && !(kinds[0] == number && s.kind == integer) {
				out.shapes = append(out.shapes, s)
			}
		case len(schema) == 1 && len(names) == 1 && s.kind == object:
			name, _ := names[0].(string)
			if rest := s.with(name, &node{}, false); rest != nil {
				out.shapes = append(out.shapes, rest)
			}
		case len(schema) == 1 && len(names) == 1: // it requires nothing of other kinds: they fit
		default:
			return false
		}
	}
	p.node = out
	return true
}

// dependents tells what properties need besides themselves.
func (p *passage) dependents() error {
	for _, keyword := range [...]string{"dependentRequired", "dependentSchemas", "dependencies"} {
		if list, _ := p.schema[keyword].(map[string]any); len(list) > 0 {
			p.lose(keyword, "which properties need others is told in words")
		}
	}
	return nil
}

// allDisjoint reports whether no value is known to fit two of the nodes.
func allDisjoint(nodes []*node) bool {
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			if !disjoint(a, b) {
				return false
			}
		}
	}
	return true
}

// disjoint reports whether certainly no value fits both nodes.
func disjoint(a, b *node) bool {
	for _, x := range a.shapes {
		for _, y := range b.shapes {
			if !disjointShapes(x, y) {
				return false
			}
		}
	}
	return true
}

func disjointShapes(a, b *shape) bool {
	if a.kind != b.kind {
		return min(a.kind, b.kind) != integer || max(a.kind, b.kind) != number
	}
	if a.enum != nil && b.enum != nil {
		return len(setOf(a.enum).filter(b.enum, true)) == 0
	}
	for name := range a.required {
		if b.required[name] && disjoint(a.prop(name), b.prop(name)) || len(b.prop(name).shapes) == 0 {
			return true
		}
	}
	for name := range b.required {
		if len(a.prop(name).shapes) == 0 {
			return true
		}
	}
	return false
}

// flatten makes one object of several, which allows what any of them does, and
// more.
func (r *reader) flatten(n *node) *node {
	r.loosen("", "which properties go together is told in words")
	flat := &shape{kind: object, props: map[string]*node{}, required: maps.Clone(n.shapes[0].required), rest: n.shapes[0].rest}
	var sets []string
	for _, s := range n.shapes {
		for _, name := range slices.Sorted(maps.Keys(s.props)) {
			flat.props[name] = either(flat.props[name], s.props[name])
		}
		maps.DeleteFunc(flat.required, func(name string, _ bool) bool { return !s.required[name] })
		if s.rest == nil || len(s.rest.shapes) > 0 {
			flat.rest = nil
		}
		set := strings.Join(slices.Sorted(maps.Keys(s.required)), ", ")
		if set != "" && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	out := &node{about: n.about, preset: n.preset, shapes: []*shape{flat}}
	if len(sets) > 1 {
		out.about = strings.TrimSpace(out.about + " Give one of these sets of properties: " + strings.Join(sets, "; ") + ".")
	}
	return out
}

// either returns the values of either node, which may be nil.
func either(a, b *node) *node {
	switch {
	case a == nil || a == b || a.written() == b.written():
		return b
	case len(a.shapes)+len(b.shapes) > maxShapes:
		return anything()
	}
	return union(a, b)
}
