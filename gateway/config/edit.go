package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Edit changes one setting. Path is its place, in the file's own keys:
// {"desktop", "theme"}, {"mcpServers", "github"}. Value takes the place of the
// whole of what is there: a value of this package's types, or what the file
// could hold (maps with the file's keys, lists, texts, numbers). What is absent
// in it is empty, not the default. With Remove, a setting goes back to its
// default and an entry goes away. Lists are changed as a whole.
//
// A Secret that is masked (see Secret.MarshalText) stays what it was in that
// place, also in an entry that an Edit has removed and another one brings back.
//
// Its JSON holds secrets as they are: it is for the control socket alone.
type Edit struct {
	Path   []string
	Value  any
	Remove bool
}

// encoded is a value in the file's language, on its way from one process to
// another.
type encoded string

// wireEdit is an Edit as JSON.
type wireEdit struct {
	Path   []string `json:"path"`
	Value  string   `json:"value,omitempty"` // YAML
	Remove bool     `json:"remove,omitempty"`
}

// MarshalJSON writes the edit with its value in the file's own keys.
func (e Edit) MarshalJSON() ([]byte, error) {
	wire := wireEdit{Path: e.Path, Remove: e.Remove}
	if !e.Remove {
		var err error
		if wire.Value, err = e.text(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(wire)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (e *Edit) UnmarshalJSON(data []byte) error {
	var wire wireEdit
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*e = Edit{Path: wire.Path, Remove: wire.Remove}
	if !wire.Remove {
		e.Value = encoded(wire.Value)
	}
	return nil
}

// text is the edit's value in the file's language.
func (e Edit) text() (string, error) {
	if text, ok := e.Value.(encoded); ok {
		return string(text), nil
	}
	text, err := Encode(e.Value)
	if err != nil {
		return "", fmt.Errorf("setting %s: %w", pathTo(e.Path), err)
	}
	return text, nil
}

// Encode writes a value of this package's types, or of plain ones, in the
// file's language and keys, with the secrets as they are.
func Encode(v any) (string, error) {
	if v == nil {
		return "", errors.New("there is no value to write")
	}
	node, err := nodeOf(reflect.ValueOf(v))
	if err != nil {
		return "", err
	}
	return encodeNode(node)
}

// Decode reads into v, a pointer to one of this package's types, what Encode
// has written or the file could hold. Its error joins the Problems.
func Decode(text string, v any) error {
	node, err := parseValue("", text)
	if err != nil {
		return err
	}
	d := &decoder{places: map[string]*yaml.Node{}}
	d.value(node, reflect.ValueOf(v).Elem(), "", ours, 0)
	return Faults(d.problems)
}

func parseValue(path, text string) (*yaml.Node, error) {
	if len(text) > maxFileBytes {
		return nil, Problem{Path: path, Message: "the value is too large"}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
		return nil, Problem{Path: path, Message: "the value cannot be read"}
	}
	return doc.Content[0], nil
}

// pathTo writes a path of keys as Problems do.
func pathTo(keys []string) string {
	path := ""
	for _, key := range keys {
		path = join(path, key)
	}
	return path
}

// apply makes the edit in c. Its error is a Problem, or several joined.
func (e Edit) apply(c *Config) error {
	if len(e.Path) == 0 {
		return Problem{Message: "an edit names no setting"}
	}
	return e.in(reflect.ValueOf(c).Elem(), reflect.ValueOf(Default()).Elem(), e.Path, "")
}

// in makes the edit below v, which is at a path; usual is the default there, or
// not valid where there is none. rest is what of the edit's path leads on.
func (e Edit) in(v, usual reflect.Value, rest []string, at string) error {
	if len(rest) == 0 {
		return e.set(v, usual, at)
	}
	switch v.Kind() {
	case reflect.Struct:
		return e.inStruct(v, usual, rest, at)
	case reflect.Map:
		return e.inMap(v, rest, at)
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			fresh.Elem().Set(deepCopy(v.Elem()))
		}
		if err := e.in(fresh.Elem(), reflect.Value{}, rest, at); err != nil {
			return err
		}
		v.Set(fresh)
		return nil
	}
	return Problem{Path: join(at, rest[0]), Message: "there is no such setting; " + at + " is changed as a whole"}
}

func (e Edit) inStruct(v, usual reflect.Value, rest []string, at string) error {
	fields := fieldsOf(v.Type())
	i, ok := fields[rest[0]]
	if !ok {
		var known []string
		for key := range fields {
			known = append(known, key)
		}
		return Problem{Path: join(at, rest[0]), Message: "there is no such setting", Nearest: Nearest(rest[0], known)}
	}
	if usual.IsValid() {
		usual = usual.Field(i)
	}
	return e.in(v.Field(i), usual, rest[1:], join(at, rest[0]))
}

func (e Edit) inMap(v reflect.Value, rest []string, at string) error {
	key := reflect.ValueOf(rest[0])
	before := v.MapIndex(key)
	if e.Remove && (len(rest) == 1 || !before.IsValid()) {
		if before.IsValid() {
			v.SetMapIndex(key, reflect.Value{})
		}
		return nil
	}
	element := reflect.New(v.Type().Elem()).Elem()
	if before.IsValid() {
		element.Set(before)
	}
	if err := e.in(element, reflect.Value{}, rest[1:], join(at, rest[0])); err != nil {
		return err
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	v.SetMapIndex(key, element)
	return nil
}

// set puts the edit's value, or the default, in the place of v.
func (e Edit) set(v, usual reflect.Value, at string) error {
	fresh := reflect.New(v.Type()).Elem()
	if e.Remove {
		if usual.IsValid() {
			fresh.Set(usual)
		}
		v.Set(fresh)
		return nil
	}
	text, err := e.text()
	if err != nil {
		return err
	}
	node, err := parseValue(at, text)
	if err != nil {
		return err
	}
	d := &decoder{places: map[string]*yaml.Node{}}
	d.value(node, fresh, at, ours, 0)
	if err := Faults(withoutPlaces(d.problems)); err != nil {
		return err
	}
	keepMasked(v, fresh)
	v.Set(fresh)
	return nil
}

// withoutPlaces drops the lines of a text that no user has seen.
func withoutPlaces(problems []Problem) []Problem {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
	return problems
}

// KeepMasked returns entry with each masked secret as it is in saved.
func KeepMasked[T MCPServer | Provider](saved, entry T) T {
	kept := deepCopy(reflect.ValueOf(entry)).Interface().(T)
	keepMasked(reflect.ValueOf(saved), reflect.ValueOf(&kept).Elem())
	return kept
}

// keepMasked puts old's literal secrets where fresh, a copy that a form has
// changed, has their masks.
func keepMasked(old, fresh reflect.Value) {
	switch fresh.Kind() {
	case reflect.String:
		if fresh.Type() == reflect.TypeFor[Secret]() && strings.Contains(fresh.String(), hidden) &&
			Secret(old.String()).String() == fresh.String() {
			fresh.SetString(old.String())
		}
	case reflect.Struct:
		for i := range fresh.NumField() {
			if fresh.Type().Field(i).IsExported() {
				keepMasked(old.Field(i), fresh.Field(i))
			}
		}
	case reflect.Pointer:
		if !old.IsNil() && !fresh.IsNil() {
			keepMasked(old.Elem(), fresh.Elem())
		}
	case reflect.Map:
		for _, key := range fresh.MapKeys() {
			before := old.MapIndex(key)
			if !before.IsValid() || fresh.Type().Elem().Kind() == reflect.Interface {
				continue
			}
			element := reflect.New(fresh.Type().Elem()).Elem()
			element.Set(fresh.MapIndex(key))
			keepMasked(before, element)
			fresh.SetMapIndex(key, element)
		}
	case reflect.Slice:
		for i := range min(fresh.Len(), old.Len()) {
			keepMasked(old.Index(i), fresh.Index(i))
		}
	}
}
