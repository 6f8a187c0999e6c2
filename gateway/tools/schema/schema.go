// Package schema fits the input schemas of tools to what providers take for
// function calling, and maps the calls that come of them back.
//
// Servers write JSON Schema of every draft; providers refuse a whole request for
// one schema they do not like. Fit reads a schema as the set of values it allows
// (alternatives, each of one type), with every reference followed, and writes
// that set down in the few keywords that all providers know: an object at the
// root, single types, enum, anyOf, properties, items, bounds.
//
// What those keywords cannot say is told in words in the description, and listed
// in Fitted.Looser. Where Looser is empty, a call that fits the fitted schema is
// mapped by Restore to one that fits the original (a renamed property that is
// given by its original name is taken for what it says). In either case the mapped
// call is to be checked against the original before it runs.
//
// The package starts no goroutine and fetches nothing.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

const (
	// MaxSize is how large a fitted schema may be, in bytes.
	MaxSize = 256 << 10

	// comfortable is how large one may be, in bytes, that repeats itself for
	// the sake of its recursion or of its alternatives.
	comfortable = 16 << 10

	// MaxDescription is how many characters of a description providers accept.
	MaxDescription = 1024
)

// Fitted is an input schema as it is offered to models. It never changes and may
// be used from many goroutines at once. The zero Fitted maps no call.
type Fitted struct {
	Schema json.RawMessage // with sorted keys, so that equal schemas are equal bytes
	Looser []string        // what it allows that the original does not, a sentence each; sorted

	names   map[string]string // of properties that were renamed: fitted name to original
	wrapper string            // the only property at the root, which holds the arguments; "" when there is none
}

// errTooLarge ends the reading of a schema that grows beyond measure.
var errTooLarge = fmt.Errorf("its input schema is larger than %d KiB, or as complicated, with its references followed", MaxSize>>10)

// errTooDeep ends the reading of a schema that no call could fill.
var errTooDeep = fmt.Errorf("its input schema nests deeper than %d levels", maxDepth)

// Fit fits an input schema; none (nil or null) allows any object. It fails,
// saying why, when raw is no JSON Schema, when it allows no object, when a
// reference leads nowhere or outside of it, and when the result would be larger
// than MaxSize.
func Fit(raw json.RawMessage) (*Fitted, error) {
	root, err := decode(raw)
	if err != nil {
		return nil, err
	}
	plan := planner{doc: newDocument(root), enough: max(2*comfortable, 2*len(raw))}
	return plan.best()
}

// planner chooses how far references are followed.
type planner struct {
	doc    *document
	enough int // bytes beyond which nothing is told twice
}

// best follows references as far as the result stays in proportion: all of them,
// and what is recursive a level more, or else each to what was not told yet.
func (p planner) best() (*Fitted, error) {
	all := attempt{doc: p.doc}
	f, err := all.fit()
	switch {
	case err != nil && !errors.Is(err, errTooLarge):
		return nil, err
	case err != nil || len(f.Schema) > p.enough && all.refers:
		once := attempt{doc: p.doc, once: true}
		if less, lessErr := once.fit(); lessErr == nil && (err != nil || len(less.Schema) < len(f.Schema)) {
			return less, nil
		}
	case all.recursive:
		deeper := attempt{doc: p.doc, unroll: 1}
		if more, moreErr := deeper.fit(); moreErr == nil && len(more.Schema) <= comfortable {
			return more, nil
		}
	}
	return f, err
}

// decode reads a schema with its numbers as they were written.
func decode(raw json.RawMessage) (any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return nil, fmt.Errorf("its input schema is not JSON: %w", err)
	}
	switch root.(type) {
	case map[string]any, bool:
		return root, nil
	}
	return nil, errors.New("its input schema is not a JSON object")
}

// attempt is one way of fitting a schema.
type attempt struct {
	doc       *document
	unroll    int  // how often more than once a schema may stand inside itself
	once      bool // tell what references lead to once
	recursive bool // set when a schema stands inside itself
	refers    bool // set when there are references
}

func (a *attempt) fit() (*Fitted, error) {
	r := newReader(a.doc, a.unroll, a.once)
	n, err := r.read(a.doc.root, "", context{kinds: []kind{object}})
	a.recursive, a.refers = r.recursive, r.refers
	switch {
	case err != nil:
		return nil, err
	case r.left < 0:
		return nil, errTooLarge
	}
	objects := n.only(object)
	if len(objects.shapes) == 0 {
		return nil, errors.New("its input schema allows no object, and arguments are one")
	}
	if len(objects.shapes) > 1 || objects.shapes[0].enum != nil {
		if f, err := writeWrapped(r, objects); err == nil && len(f.Schema) <= comfortable {
			return f, nil
		}
		objects = r.flatten(objects)
	}
	return writeRoot(r, objects)
}

// writeRoot writes a schema whose root is one object.
func writeRoot(r *reader, n *node) (*Fitted, error) {
	w := newWriter()
	root := w.node(n)
	if root["properties"] == nil {
		root["properties"] = map[string]any{}
	}
	return finish(r, w, root, "")
}

// writeWrapped writes alternatives as the one property of the root, because
// providers take none at the root itself.
func writeWrapped(r *reader, n *node) (*Fitted, error) {
	wrapper := "input"
	for i := 2; slices.ContainsFunc(n.shapes, func(s *shape) bool { return s.props[wrapper] != nil }); i++ {
		wrapper = fmt.Sprintf("input_%d", i)
	}
	w := newWriter()
	inner := w.node(n)
	root := map[string]any{
		"type": "object", "properties": map[string]any{wrapper: inner}, "required": []string{wrapper}, "additionalProperties": false,
	}
	return finish(r, w, root, wrapper)
}

func finish(r *reader, w *writer, root map[string]any, wrapper string) (*Fitted, error) {
	if w.left < 0 {
		return nil, errTooLarge
	}
	if err := w.checkNames(); err != nil {
		return nil, err
	}
	out := encode(root)
	if len(out) > MaxSize {
		return nil, errTooLarge
	}
	return &Fitted{Schema: out, Looser: r.looser(), names: w.names, wrapper: wrapper}, nil
}

// encode writes v with sorted keys and no whitespace.
func encode(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // made of decoded JSON alone
		panic(err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
