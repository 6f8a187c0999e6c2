package schema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// document is a schema with the names that references in it may use. Places in
// it are told by JSON pointers.
type document struct {
	root  any
	bases map[string]*url.URL // by pointer: the schemas with an id of their own, and the root
	named map[string]string   // pointers by resolved id, or id#anchor
	draft string              // "$schema" of the root
}

func newDocument(root any) *document {
	d := &document{root: root, bases: map[string]*url.URL{"": {}}, named: map[string]string{}}
	if schema, ok := root.(map[string]any); ok {
		d.draft, _ = schema["$schema"].(string)
	}
	d.index(root, "", d.bases[""])
	return d
}

// index notes the ids and anchors in v.
func (d *document) index(v any, pointer string, base *url.URL) {
	switch v := v.(type) {
	case map[string]any:
		base = d.indexOne(v, pointer, base)
		for key, inner := range v {
			if key != "enum" && key != "const" && key != "default" && key != "examples" {
				d.index(inner, pointer+"/"+Escape(key), base)
			}
		}
	case []any:
		for i, inner := range v {
			d.index(inner, pointer+"/"+strconv.Itoa(i), base)
		}
	}
}

func (d *document) indexOne(schema map[string]any, pointer string, base *url.URL) *url.URL {
	if id, ok := schema[d.idKeyword()].(string); ok {
		own, err := base.Parse(id)
		switch {
		case err != nil: // no reference can mean it
		case strings.HasPrefix(id, "#"):
			d.named[own.String()] = pointer // an anchor, as older drafts write it
		default:
			own.Fragment = ""
			d.bases[pointer], base = own, own
			d.named[own.String()] = pointer
		}
	}
	for _, keyword := range [...]string{"$anchor", "$dynamicAnchor"} {
		if anchor, ok := schema[keyword].(string); ok {
			d.named[withAnchor(base, anchor)] = pointer
		}
	}
	return base
}

func (d *document) idKeyword() string {
	if strings.Contains(d.draft, "draft-04") || strings.Contains(d.draft, "draft-03") {
		return "id"
	}
	return "$id"
}

func withAnchor(base *url.URL, anchor string) string {
	named := *base
	named.Fragment = anchor
	return named.String()
}

// resolve returns what a reference at a place leads to, and where that is.
func (d *document) resolve(ref, at string) (schema any, pointer string, err error) {
	parsed, err := url.Parse(ref)
	if err != nil {
		return nil, "", fmt.Errorf("its input schema's reference %q cannot be read: %w", ref, err)
	}
	base, resource := d.baseOf(at)
	if !strings.HasPrefix(ref, "#") && ref != "" {
		target := base.ResolveReference(parsed)
		fragment := target.Fragment
		target.Fragment, target.RawFragment = "", ""
		var known bool
		if resource, known = d.named[target.String()]; !known {
			return nil, "", fmt.Errorf("its input schema's reference %q leads elsewhere, and nothing is fetched", ref)
		}
		base, parsed.Fragment = target, fragment
	}
	if parsed.Fragment != "" && !strings.HasPrefix(parsed.Fragment, "/") {
		pointer, known := d.named[withAnchor(base, parsed.Fragment)]
		if !known {
			return nil, "", fmt.Errorf("its input schema's reference %q leads nowhere", ref)
		}
		return d.walk("", pointer, ref)
	}
	return d.walk(resource, parsed.Fragment, ref)
}

// baseOf returns the id in force at a place, and where the schema with it is.
func (d *document) baseOf(at string) (base *url.URL, pointer string) {
	for {
		if base, ok := d.bases[at]; ok {
			return base, at
		}
		at = at[:strings.LastIndexByte(at, '/')]
	}
}

// walk follows a pointer from a place.
func (d *document) walk(from, pointer, ref string) (schema any, to string, err error) {
	schema = d.root
	for _, step := range strings.Split(from+pointer, "/")[1:] {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		next, ok := Child(schema, step)
		if !ok {
			return nil, "", fmt.Errorf("its input schema's reference %q leads nowhere", ref)
		}
		schema = next
		to += "/" + Escape(step)
	}
	return schema, to, nil
}

// Child is the part of a decoded JSON value that one step of a JSON pointer (RFC
// 6901), unescaped, leads to; false when there is none.
func Child(v any, step string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		inner, ok := v[step]
		return inner, ok
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || strconv.Itoa(i) != step || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// Escape writes a step of a JSON pointer.
func Escape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}
