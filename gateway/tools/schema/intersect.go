package schema

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// intersect returns the values that fit both nodes. Annotations of a come before
// those of b. What would have too many shapes stays a.
func (r *reader) intersect(a, b *node, at string) *node {
	r.left--
	out := &node{about: cmp.Or(a.about, b.about), preset: a.preset}
	if out.preset == nil {
		out.preset = b.preset
	}
	switch {
	case a == b || b.isAnything():
		out.shapes = a.shapes
		return out
	case a.isAnything():
		out.shapes = b.shapes
		return out
	case r.left < 0: // the reading ends with an error
		return out
	}
	r.left -= len(a.shapes) * len(b.shapes) / 4
	for _, x := range a.shapes {
		for _, y := range b.shapes {
			if s := r.intersectShapes(x, y, at); s != nil {
				out.shapes = append(out.shapes, s)
			}
		}
	}
	if len(out.shapes) > maxShapes {
		r.loosen(at, "it has too many forms to tell them all")
		out.shapes = a.shapes
	}
	return out
}

// intersectShapes returns the values that fit both shapes, or nil for none.
func (r *reader) intersectShapes(a, b *shape, at string) *shape {
	if a.kind != b.kind && (min(a.kind, b.kind) != integer || max(a.kind, b.kind) != number) {
		return nil
	}
	s := &shape{
		kind: min(a.kind, b.kind), about: cmp.Or(a.about, b.about), enum: a.enum, bounds: intersectBounds(a.bounds, b.bounds),
		pattern: cmp.Or(a.pattern, b.pattern), format: cmp.Or(a.format, b.format), unique: a.unique || b.unique,
	}
	if a.pattern != "" && b.pattern != "" && a.pattern != b.pattern {
		r.loosen(at, "of two patterns one is told")
	}
	if m, n := a.bounds["multipleOf"], b.bounds["multipleOf"]; m != "" && n != "" && !equal(m, n) {
		r.loosen(at, "of two multipleOf one is told")
	}
	if !s.intersectEnum(b.enum) {
		return nil
	}
	switch s.kind {
	case array:
		r.intersectItems(s, a, b, at)
	case object:
		return r.intersectObjects(s, a, b, at)
	}
	return s
}

// intersectEnum leaves of the values those that are in enum, too, and that are
// of the shape's kind. It reports whether any are left.
func (s *shape) intersectEnum(enum []any) bool {
	switch {
	case s.enum == nil:
		s.enum = enum
	case enum != nil:
		s.enum = setOf(enum).filter(s.enum, true)
	}
	if s.kind == integer && s.enum != nil {
		s.enum = slices.DeleteFunc(slices.Clone(s.enum), func(v any) bool { return kindOf(v) != integer })
	}
	return s.enum == nil || len(s.enum) > 0
}

// intersectBounds returns the tighter of each bound.
func intersectBounds(a, b map[string]json.Number) map[string]json.Number {
	out := maps.Clone(a)
	for keyword, bound := range b {
		old, both := out[keyword]
		if !both {
			if out == nil {
				out = map[string]json.Number{}
			}
			out[keyword] = bound
			continue
		}
		x, _ := old.Float64() // both were numbers when they were read
		y, _ := bound.Float64()
		if strings.HasPrefix(keyword, "max") || keyword == "exclusiveMaximum" {
			x, y = y, x
		}
		if y > x && keyword != "multipleOf" {
			out[keyword] = bound
		}
	}
	return out
}

func (r *reader) intersectItems(s, a, b *shape, at string) {
	switch {
	case a.items == nil:
		s.items = b.items
	case b.items == nil:
		s.items = a.items
	default:
		s.items = r.intersect(a.items, b.items, at+"/items")
		if len(s.items.shapes) == 0 {
			s.items = nil
			s.atMost("maxItems", 0)
		}
	}
}

func (r *reader) intersectObjects(s, a, b *shape, at string) *shape {
	s.props, s.required = map[string]*node{}, map[string]bool{}
	maps.Copy(s.required, a.required)
	maps.Copy(s.required, b.required)
	for name := range a.props {
		s.props[name] = r.intersect(a.props[name], b.prop(name), at+"/properties/"+Escape(name))
	}
	for name := range b.props {
		if a.props[name] == nil {
			s.props[name] = r.intersect(a.prop(name), b.props[name], at+"/properties/"+Escape(name))
		}
	}
	switch {
	case a.rest == nil:
		s.rest = b.rest
	case b.rest == nil:
		s.rest = a.rest
	default:
		s.rest = r.intersect(a.rest, b.rest, at+"/additionalProperties")
	}
	return s.settle()
}
