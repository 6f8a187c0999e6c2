package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"pointsman/gateway/cut"
)

const (
	maxWritten = 30_000 // shapes written for one schema
	maxName    = 64     // characters of a property's name that providers take
	digestSize = 10     // hex digits that end the name of a renamed property
)

// writer writes nodes as JSON Schema in the keywords that all providers know.
type writer struct {
	left  int               // shapes that may still be written; negative: something is missing
	names map[string]string // renamed properties: fitted name to original
	plain map[string]bool   // the names that stayed
}

func newWriter() *writer {
	return &writer{left: maxWritten, names: map[string]string{}, plain: map[string]bool{}}
}

// node writes a node.
func (w *writer) node(n *node) map[string]any {
	out := map[string]any{}
	about := n.about
	if !n.isAnything() {
		shapes := w.shapes(n.shapes)
		if len(shapes) == 1 {
			out = shapes[0]
			inner, _ := out["description"].(string)
			about = join(about, inner)
		} else {
			out["anyOf"] = shapes
		}
	}
	if about != "" {
		out["description"] = cut.To(about, MaxDescription)
	}
	if n.preset != nil {
		out["default"] = n.preset
	}
	return out
}

// shapes writes each shape once, and those that only list values as one.
func (w *writer) shapes(shapes []*shape) []map[string]any {
	var list []map[string]any
	for _, s := range mergeLists(shapes) {
		if w.left--; w.left < 0 {
			break
		}
		list = append(list, w.shape(s))
	}
	if len(list) == 1 {
		return list
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(written map[string]any) bool {
		key := string(encode(written))
		twice := seen[key]
		seen[key] = true
		return twice
	})
}

// mergeLists makes one shape of those that list values of a kind and say
// nothing else.
func mergeLists(shapes []*shape) []*shape {
	var out []*shape
	first := map[kind]int{}
	for _, s := range shapes {
		i, ok := first[s.kind]
		switch {
		case !s.onlyLists():
			out = append(out, s)
		case !ok:
			first[s.kind] = len(out)
			out = append(out, s)
		default:
			merged := *out[i]
			merged.enum = slices.Concat(merged.enum, setOf(merged.enum).filter(s.enum, false))
			out[i] = &merged
		}
	}
	return out
}

func (s *shape) onlyLists() bool {
	plain := *s
	plain.enum = nil
	return s.enum != nil && plain.isPlain()
}

func (w *writer) shape(s *shape) map[string]any {
	out := map[string]any{"type": kindNames[s.kind]}
	if s.about != "" {
		out["description"] = cut.To(s.about, MaxDescription)
	}
	if s.enum != nil {
		out["enum"] = s.enum
	}
	for keyword, bound := range s.bounds {
		out[keyword] = bound
	}
	if s.pattern != "" {
		out["pattern"] = s.pattern
	}
	if s.format != "" {
		out["format"] = s.format
	}
	switch s.kind {
	case array:
		w.array(out, s)
	case object:
		w.object(out, s)
	}
	return out
}

func (w *writer) array(out map[string]any, s *shape) {
	out["items"] = map[string]any{} // providers refuse an array without
	if s.items != nil {
		out["items"] = w.node(s.items)
	}
	if s.unique {
		out["uniqueItems"] = true
	}
}

func (w *writer) object(out map[string]any, s *shape) {
	properties := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.props)) {
		properties[w.name(name)] = w.node(s.props[name])
	}
	var required []string
	for _, name := range slices.Sorted(maps.Keys(s.required)) {
		required = append(required, w.name(name))
		if s.props[name] == nil { // some providers refuse one that is not described
			properties[w.name(name)] = w.node(s.prop(name))
		}
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = required
	}
	switch {
	case s.rest == nil:
	case len(s.rest.shapes) == 0:
		out["additionalProperties"] = false
	default:
		out["additionalProperties"] = w.node(s.rest)
	}
}

// goodName matches the names of properties that all providers take.
var goodName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

var refusedInName = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

// name returns a property's name as providers take it. One that they refuse is
// cleaned, and ends in a digest of the original.
func (w *writer) name(original string) string {
	if goodName.MatchString(original) {
		w.plain[original] = true
		return original
	}
	sum := sha256.Sum256([]byte(original))
	digest := "_" + hex.EncodeToString(sum[:])[:digestSize]
	clean := refusedInName.ReplaceAllString(original, "_")
	name := clean[:min(len(clean), maxName-len(digest))] + digest
	w.names[name] = original
	return name
}

// checkNames fails when a renamed property took the name of another.
func (w *writer) checkNames() error {
	for name, original := range w.names {
		if w.plain[name] {
			return fmt.Errorf("its property %q has a name that providers refuse, and the name that would stand for it, %q, is another's", original, name)
		}
	}
	return nil
}
