package schema

import (
	"maps"
	"regexp"
	"slices"
)

// fillObject reads what a schema says of objects.
func (p *passage) fillObject(s *shape) error {
	s.props, s.required = map[string]*node{}, map[string]bool{}
	p.readRequired(s)
	properties, _ := p.schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		n, err := p.inner(properties[name], p.place("properties", name))
		if err != nil {
			return err
		}
		s.props[name] = n
		if len(n.shapes) == 0 {
			p.narrowed++ // see settle
		}
		if inner, ok := properties[name].(map[string]any); ok && inner["required"] == true { // draft 3
			s.required[name] = true
		}
	}
	if others := p.schema["additionalProperties"]; others != nil {
		var err error
		if s.rest, err = p.inner(others, p.place("additionalProperties", nil)); err != nil {
			return err
		}
	}
	if err := p.patterns(s); err != nil {
		return err
	}
	return p.propertyNames(s)
}

func (p *passage) readRequired(s *shape) {
	list, ok := p.schema["required"].([]any)
	if !ok && p.schema["required"] != nil && !isBool(p.schema["required"]) {
		p.loosen(p.at, "required is no list, and is left out")
	}
	for _, name := range list {
		if name, ok := name.(string); ok {
			s.required[name] = true
		}
	}
}

// unevaluated closes the objects that nothing else of the schema says more of.
func (p *passage) unevaluated() error {
	others := p.schema["unevaluatedProperties"]
	if others == nil || others == true {
		return nil
	}
	if p.narrowed != p.before {
		p.lose("unevaluatedProperties", "which other properties it may have is told in words")
	}
	p.narrowed++
	rest, err := p.inner(others, p.place("unevaluatedProperties", nil))
	if err != nil {
		return err
	}
	out := *p.node
	out.shapes = nil
	for _, s := range p.node.shapes {
		switch {
		case s.kind != object:
		case s.rest != nil && len(s.rest.shapes) > 0:
			p.lose("unevaluatedProperties", "which other properties it may have is told in words")
		case s.rest == nil:
			closed := *s
			closed.props, closed.rest = maps.Clone(s.props), rest
			s = closed.settle()
		}
		if s != nil {
			out.shapes = append(out.shapes, s)
		}
	}
	p.node = &out
	return nil
}

// patterns reads patternProperties: the values of properties that match become
// those of any other property.
func (p *passage) patterns(s *shape) error {
	patterns, _ := p.schema["patternProperties"].(map[string]any)
	if len(patterns) == 0 {
		return nil
	}
	var values []*node
	exact := len(patterns) == 1
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		n, err := p.inner(patterns[pattern], p.place("patternProperties", pattern))
		if err != nil {
			return err
		}
		values = append(values, n)
		exact = exact && matchesAll(pattern)
		p.matching(s, pattern, n)
	}
	p.others(s, values, exact)
	return nil
}

// matching narrows the properties whose names match a pattern.
func (p *passage) matching(s *shape, pattern string, n *node) {
	matcher, err := regexp.Compile(pattern)
	if err != nil {
		p.loosen(p.at, "a pattern of its properties is not one that every program can match")
		return
	}
	for name, prop := range s.props {
		if matcher.MatchString(name) {
			s.props[name] = p.intersect(prop, n, p.at)
		}
	}
}

// matchesAll reports whether a pattern is one of the usual ones for any name.
func matchesAll(pattern string) bool {
	return slices.Contains([]string{"", ".*", "^.*$", "^.*", ".*$", "^", "(.*)", "^(.*)$"}, pattern)
}

// others makes the values of the properties with no schema of their own: what
// fits every pattern fits where only some match. If they contradict each other,
// or names that match none are refused, what is written allows more.
func (p *passage) others(s *shape, values []*node, exact bool) {
	closed := s.rest != nil && len(s.rest.shapes) == 0
	common := anything()
	if s.rest != nil && !closed && !exact {
		common = s.rest
	}
	for _, n := range values {
		common = p.intersect(common, n, p.at)
	}
	switch {
	case exact:
		s.rest = common
	case !closed && len(common.shapes) > 0:
		p.narrowed++
		s.rest = common
	case s.rest == nil:
		s.rest = anything()
		p.lose("patternProperties", "what its properties must be by their names is told in words")
	default:
		s.rest = union(append(values, s.rest)...)
		p.lose("patternProperties", "what its properties must be by their names is told in words")
	}
}

// propertyNames reads which names properties may have. A list of them becomes
// properties.
func (p *passage) propertyNames(s *shape) error {
	if p.schema["propertyNames"] == nil {
		return nil
	}
	names, err := p.reader.read(p.schema["propertyNames"], p.place("propertyNames", nil), context{kinds: []kind{text}})
	if err != nil {
		return err
	}
	names = names.only(text)
	switch {
	case len(names.shapes) == 0: // no name is good
		s.props, s.rest = map[string]*node{}, &node{}
	case !slices.ContainsFunc(names.shapes, func(n *shape) bool { return !n.onlyLists() }):
		p.listNames(s, names)
	case !slices.ContainsFunc(names.shapes, (*shape).isAnyName):
		p.lose("propertyNames", "which names its properties may have is told in words")
	}
	return nil
}

// isAnyName reports whether s allows every name.
func (s *shape) isAnyName() bool {
	plain := *s
	plain.about = ""
	return plain.isPlain()
}

func (p *passage) listNames(s *shape, names *node) {
	if s.rest == nil {
		p.narrowed++ // the names are listed, but nothing says that such properties are known
	}
	props := map[string]*node{}
	for _, n := range names.shapes {
		for _, name := range n.enum {
			if name, ok := name.(string); ok {
				props[name] = s.prop(name)
			}
		}
	}
	s.props, s.rest = props, &node{}
}
