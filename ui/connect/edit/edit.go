// Package edit changes entries in the configuration files of other programs, in
// JSON with comments or in TOML, and leaves every other byte of them as it is.
//
// A file that cannot be read with certainty is refused, and what an edit has made
// of a file is read once more: it must say the same as before but for the entry.
// Nothing here touches a disk.
package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Format is how a file is written: JSON or TOML.
type Format interface {
	// Set returns the text with the fields of the entry as it has them. What the
	// entry has beyond them in the text stays, but for Entry.Drop. A text that says
	// so already is returned as it is.
	Set(text []byte, e Entry) ([]byte, error)
	// Remove returns the text without the entry. One that has none is returned as
	// it is.
	Remove(text []byte, e Entry) ([]byte, error)
	// Get returns what the text has in the entry's place; false when that is
	// nothing.
	Get(text []byte, e Entry) (map[string]any, bool, error)
	// Texts returns the text with each value that is a text replaced, for a person to
	// read. path is the keys that lead to the value; lists are no steps.
	Texts(text []byte, replace func(path []string, value string) string) ([]byte, error)
}

// Entry is an object in a file.
type Entry struct {
	Path  []Step   // from the root; the last step is the entry
	Value Object   // what it is to say
	Drop  []string // fields that must not stand beside these
}

// Step leads from an object to the value of a key, or from a list to the element
// that has certain texts.
type Step struct {
	Key   string
	Where map[string]string // of an element of a list; nil: Key counts
}

// Keys are the steps into objects.
func Keys(keys ...string) []Step {
	var steps []Step
	for _, key := range keys {
		steps = append(steps, Step{Key: key})
	}
	return steps
}

// Object is an object whose fields have an order.
type Object []Field

// Field is a field of an Object.
type Field struct {
	Key   string
	Value any
}

// MarshalJSON writes the fields in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, plainJSON(f.Key)...), ':')
		value, err := marshal(f.Value)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.Key, err)
		}
		b = append(b, value...)
	}
	return append(b, '}'), nil
}

// plain is the value as a file that was read has it.
func (o Object) plain() (map[string]any, error) {
	text, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var m map[string]any
	return m, json.Unmarshal(text, &m)
}

// marshal writes JSON with <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func plainJSON(text string) []byte {
	b, _ := marshal(text) // a text cannot fail
	return b
}

// merged is what an entry says when its fields are set over what is there.
func (e Entry) merged(there map[string]any) (map[string]any, error) {
	all, err := e.Value.plain()
	if err != nil {
		return nil, err
	}
	for key, value := range there {
		if _, ours := all[key]; !ours && !slices.Contains(e.Drop, key) {
			all[key] = value
		}
	}
	return all, nil
}

// document is what a text says, as plain values.
type document func(text []byte) (any, error)

// check compares what two texts say: the entry must be what it is to be (nil: not
// there) and everything else the same.
func (e Entry) check(read document, before, after []byte, want map[string]any) error {
	old, err := read(before)
	if err != nil {
		return err
	}
	now, err := read(after)
	if err != nil {
		return fmt.Errorf("the edited file could not be read any more: %w", err)
	}
	old, _ = without(old, e.Path)
	now, found := without(now, e.Path)
	switch {
	case !reflect.DeepEqual(old, now):
		return errors.New("the edit would have changed more than the entry")
	case want == nil && found != nil, want != nil && !sameValue(found, want):
		return errors.New("the edit did not do what it was to")
	}
	return nil
}

// sameValue compares values however their numbers are held.
func sameValue(a, b any) bool {
	one, err := marshal(a)
	other, errOther := marshal(b)
	return err == nil && errOther == nil && bytes.Equal(one, other)
}

// without takes an entry out of plain values, with the objects and lists on its
// way that have nothing else, and returns what it was.
func without(v any, path []Step) (rest, taken any) {
	if len(path) == 0 {
		return nil, v
	}
	switch at := v.(type) {
	case map[string]any:
		inner, there := at[path[0].Key]
		if path[0].Where != nil || !there {
			break
		}
		rest, taken = without(inner, path[1:])
		delete(at, path[0].Key)
		if !hollow(rest) {
			at[path[0].Key] = rest
		}
	case []any:
		for i, inner := range at {
			if !path[0].matches(inner) {
				continue
			}
			rest, taken = without(inner, path[1:])
			at = append(at[:i:i], at[i+1:]...)
			if !hollow(rest) {
				at = append(at, rest)
			}
			v = at
			break
		}
	}
	if hollow(v) {
		v = nil
	}
	return v, taken
}

// hollow reports whether a value says nothing.
func hollow(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// matches reports whether an element of a list is the one that is meant.
func (s Step) matches(element any) bool {
	o, ok := element.(map[string]any)
	if !ok || s.Where == nil {
		return false
	}
	for key, value := range s.Where {
		if text, ok := o[key].(string); !ok || text != value {
			return false
		}
	}
	return true
}
