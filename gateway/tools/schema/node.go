package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// kind is a type of JSON Schema.
type kind int

const (
	boolean kind = iota
	integer
	number
	text
	array
	object
	null // last, as models take the first alternative for the usual one
)

// kindNames are the types as schemas write them, by kind.
var kindNames = [...]string{"boolean", "integer", "number", "string", "array", "object", "null"}

// everyKind are the kinds that together are every value.
var everyKind = []kind{boolean, number, text, array, object, null}

// node is a schema as the values it allows: those of any of its shapes, and none
// without shapes. Nodes and shapes are shared, and do not change once they are
// made.
type node struct {
	about  string // its description
	preset any    // its default; nil for none
	shapes []*shape
}

// shape is values of one kind.
type shape struct {
	kind  kind
	about string // its own description, beside the node's
	enum  []any  // the values; nil for all that the rest allows

	bounds  map[string]json.Number // by keyword: minimum, maxLength …
	pattern string
	format  string

	items  *node // of an array; nil for anything
	unique bool

	props    map[string]*node // of an object
	required map[string]bool
	rest     *node // the values of other properties; nil for anything
}

// anything is the node of every value.
func anything() *node {
	n := &node{}
	for _, k := range everyKind {
		n.shapes = append(n.shapes, &shape{kind: k})
	}
	return n
}

// isAnything reports whether n allows every value.
func (n *node) isAnything() bool {
	for _, k := range everyKind {
		if !slices.ContainsFunc(n.shapes, func(s *shape) bool { return s.kind == k && s.isPlain() }) {
			return false
		}
	}
	return true
}

// isPlain reports whether s allows every value of its kind.
func (s *shape) isPlain() bool {
	return s.about == "" && s.enum == nil && len(s.bounds) == 0 && s.pattern == "" && s.format == "" &&
		s.items == nil && !s.unique && len(s.props) == 0 && len(s.required) == 0 && s.rest == nil
}

// only is what of n is of one kind.
func (n *node) only(k kind) *node {
	out := *n
	out.shapes = slices.DeleteFunc(slices.Clone(n.shapes), func(s *shape) bool { return s.kind != k })
	return &out
}

// prop is what a property may be.
func (s *shape) prop(name string) *node {
	switch {
	case s.props[name] != nil:
		return s.props[name]
	case s.rest != nil:
		return s.rest
	}
	return anything()
}

// settle makes a property that can have no value none. It returns nil when that
// leaves no object. Only who has made the shape may call it.
func (s *shape) settle() *shape {
	if s.kind != object {
		return s
	}
	for name, n := range s.props {
		if len(n.shapes) == 0 {
			delete(s.props, name)
			s.rest = &node{} // or the name would be one of the others
		}
	}
	for name := range s.required {
		if len(s.prop(name).shapes) == 0 {
			return nil
		}
	}
	if s.rest != nil && s.rest.about == "" && s.rest.isAnything() {
		s.rest = nil
	}
	return s
}

// union is the values of any of the nodes. The description of each stays with
// its shapes.
func union(nodes ...*node) *node {
	out := &node{}
	for _, n := range nodes {
		for _, s := range n.shapes {
			if n.about != "" {
				described := *s
				described.about = join(n.about, s.about)
				s = &described
			}
			out.shapes = append(out.shapes, s)
		}
	}
	return out
}

// join joins two descriptions, unless one says it all.
func join(a, b string) string {
	switch {
	case strings.Contains(a, b):
		return a
	case strings.Contains(b, a):
		return b
	}
	return a + " " + b
}
