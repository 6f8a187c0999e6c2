package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// fillArray reads what a schema says of arrays.
func (p *passage) fillArray(s *shape) error {
	s.unique, _ = p.schema["uniqueItems"].(bool)
	for _, keyword := range [...]string{"contains", "unevaluatedItems"} {
		if p.schema[keyword] != nil && p.schema[keyword] != true {
			p.lose(keyword, keyword+" is told in words")
		}
	}
	elements, ok := p.schema["items"].([]any)
	keyword, others := "items", "additionalItems"
	if !ok {
		elements, _ = p.schema["prefixItems"].([]any)
		keyword, others = "prefixItems", "items"
	}
	var rest *node
	if p.schema[others] != nil && (ok || others == "items") {
		var err error
		if rest, err = p.inner(p.schema[others], p.place(others, nil)); err != nil {
			return err
		}
	}
	if len(elements) > 0 {
		return p.tuple(s, elements, keyword, rest)
	}
	s.items = rest
	p.noItems(s)
	return nil
}

// noItems says that an array whose items can have no value is empty.
func (p *passage) noItems(s *shape) {
	if s.items != nil && len(s.items.shapes) == 0 {
		s.items = nil
		s.atMost("maxItems", 0)
	}
}

// atMost lowers an upper bound.
func (s *shape) atMost(keyword string, n int) {
	if old, err := strconv.Atoi(s.bounds[keyword].String()); err == nil && old <= n {
		return
	}
	bounds := map[string]json.Number{keyword: json.Number(strconv.Itoa(n))}
	for key, bound := range s.bounds {
		if key != keyword {
			bounds[key] = bound
		}
	}
	s.bounds = bounds
}

// tuple reads an array whose first elements each have a schema of their own: the
// elements of what is written are any of them. rest is what follows them, nil
// for anything.
func (p *passage) tuple(s *shape, elements []any, keyword string, rest *node) error {
	var nodes []*node
	for i, element := range elements {
		n, err := p.inner(element, p.place(keyword, i))
		if err != nil {
			return err
		}
		if len(n.shapes) == 0 { // nothing can stand there, nor after it
			rest = &node{}
			break
		}
		nodes = append(nodes, n)
	}
	if len(nodes) == 0 {
		s.atMost("maxItems", 0)
		return nil
	}
	if rest == nil || len(rest.shapes) > 0 {
		p.narrowed++
	}
	first := nodes[0].written()
	alike := !slices.ContainsFunc(nodes, func(n *node) bool { return n.written() != first })
	switch {
	case alike && rest == nil || alike && rest.written() == first: // nothing is lost but what may follow at will
	case rest == nil || len(rest.shapes) == 0:
		s.atMost("maxItems", len(nodes))
	case !alike:
		nodes = append(nodes, rest)
	default:
		s.atMost("maxItems", len(nodes))
	}
	if !alike {
		p.loosen(p.at, "the order of its elements is told in words")
		p.words = append(p.words, "Its elements, in this order: "+nameAll(nodes)+".")
		s.items = union(nodes...)
		return nil
	}
	s.items = nodes[0]
	return nil
}

func nameAll(nodes []*node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.name()
	}
	return strings.Join(names, ", ")
}

// name says in a few words what values n has.
func (n *node) name() string {
	if n.isAnything() {
		return "anything"
	}
	var kinds []string
	for _, s := range n.shapes {
		if name := kindNames[s.kind]; !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
	}
	name := strings.Join(kinds, " or ")
	if n.about != "" {
		name += " (" + strings.TrimSuffix(n.about, ".") + ")"
	}
	return name
}

// written is the node as it is written, to compare it with others.
func (n *node) written() string { return string(encode(newWriter().node(n))) }
