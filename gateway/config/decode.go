package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A file may share parts by anchors; these bound what it can grow to.
const (
	maxNodes = 200_000
	maxDepth = 64
)

// ownership says whose schema a section follows, which decides what an unknown
// key in it means.
type ownership int

const (
	ours    ownership = iota // an unknown key is an error
	litellm                  // listed once as ignored
	foreign                  // another program's server entry: a warning
)

// decoder fills a Config from a tree and collects every fault on the way,
// where yaml's own decoder would stop at types and give no paths.
type decoder struct {
	file     string
	problems []Problem
	places   map[string]*yaml.Node // value of each path that the file sets
	ignored  []string              // paths of keys that LiteLLM knows and we do not use
	nodes    int
}

// decode reads the tree over the values that config already holds.
func decode(file string, root *yaml.Node, config *Config) *decoder {
	d := &decoder{file: file, places: map[string]*yaml.Node{}}
	if root != nil {
		d.litellmDefaults(root, config)
		d.value(root, reflect.ValueOf(config).Elem(), "", ours, 0)
	}
	d.reportIgnored()
	return d
}

func (d *decoder) fault(node *yaml.Node, path, format string, args ...any) *Problem {
	d.problems = append(d.problems, Problem{
		File: d.file, Line: node.Line, Column: node.Column, Path: path, Message: fmt.Sprintf(format, args...),
	})
	return &d.problems[len(d.problems)-1]
}

func (d *decoder) reportIgnored() {
	if len(d.ignored) == 0 {
		return
	}
	p := Problem{File: d.file, Warning: true,
		Message: "keys that LiteLLM uses and Pointsman does not are ignored: " + strings.Join(d.ignored, ", ")}
	if node := d.places[d.ignored[0]]; node != nil {
		p.Line, p.Column = node.Line, node.Column
	}
	d.problems = append(d.problems, p)
}

// value sets target from node. A null leaves what is there.
func (d *decoder) value(node *yaml.Node, target reflect.Value, path string, whose ownership, depth int) {
	if d.nodes++; d.nodes > maxNodes || depth > maxDepth {
		if d.nodes <= maxNodes+1 || depth > maxDepth {
			d.fault(node, path, "nested too deeply, or grown too large by its anchors")
		}
		return
	}
	if node.Kind == yaml.AliasNode {
		d.value(node.Alias, target, path, whose, depth+1)
		return
	}
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return
	}
	d.places[path] = node
	if target.Kind() == reflect.Pointer {
		fresh := reflect.New(target.Type().Elem())
		d.value(node, fresh.Elem(), path, whose, depth+1)
		target.Set(fresh)
		return
	}
	switch {
	case isText(target):
		d.text(node, target, path)
	case target.Kind() == reflect.Struct:
		d.structure(node, target, path, whose, depth)
	case target.Kind() == reflect.Map:
		d.mapping(node, target, path, whose, depth)
	case target.Kind() == reflect.Slice:
		d.sequence(node, target, path, whose, depth)
	case target.Kind() == reflect.Interface:
		d.anything(node, target, path, depth)
	default:
		d.scalar(node, target, path, whose)
	}
}

func isText(target reflect.Value) bool {
	_, ok := target.Addr().Interface().(encoding.TextUnmarshaler)
	return ok
}

// text reads a type that reads itself: a duration or a time.
func (d *decoder) text(node *yaml.Node, target reflect.Value, path string) {
	if node.Kind != yaml.ScalarNode {
		d.wrongType(node, path, target)
		return
	}
	if err := target.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(node.Value)); err != nil {
		if target.Type() == reflect.TypeFor[time.Time]() {
			err = fmt.Errorf("%q is not a time such as 2026-01-31T12:00:00Z", node.Value)
		}
		d.fault(node, path, "%v", err)
	}
}

func (d *decoder) structure(node *yaml.Node, target reflect.Value, path string, whose ownership, depth int) {
	if node.Kind != yaml.MappingNode {
		d.wrongType(node, path, target)
		return
	}
	switch target.Type() {
	case reflect.TypeFor[MCPServer]():
		whose = foreign
	case reflect.TypeFor[Deployment](), reflect.TypeFor[RouterSettings]():
		whose = litellm
	}
	fields := fieldsOf(target.Type())
	d.pairs(node, path, depth, func(key, value *yaml.Node, at string) {
		if target.Type() == reflect.TypeFor[Config]() && key.Value == litellmSettings {
			return // read before
		}
		if i, ok := fields[key.Value]; ok {
			d.value(value, target.Field(i), at, whose, depth+1)
			return
		}
		d.unknownKey(key, at, whose, target.Type())
	})
}

// fieldsOf maps the keys of a struct to its fields.
func fieldsOf(t reflect.Type) map[string]int {
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		if key := keyOf(t.Field(i)); key != "-" {
			fields[key] = i
		}
	}
	return fields
}

func keyOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	return name
}

func (d *decoder) unknownKey(key *yaml.Node, path string, whose ownership, in reflect.Type) {
	var known []string
	for i := range in.NumField() {
		if name := keyOf(in.Field(i)); name != "-" {
			known = append(known, name)
		}
	}
	switch {
	case whose == ours && in == reflect.TypeFor[Config]() && litellmSections[key.Value],
		whose == litellm && litellmKeys[key.Value]:
		d.places[path] = key
		d.ignored = append(d.ignored, path)
	default:
		p := d.fault(key, path, "unknown key %q", key.Value)
		p.Nearest = Nearest(key.Value, known)
		if whose != ours {
			p.Warning = true
			p.Message += " is ignored"
		}
		if p.Nearest == "" && whose == ours {
			p.Allowed = known
		}
	}
}

// pairs calls each with the pairs of a mapping, those merged by "<<" first.
func (d *decoder) pairs(node *yaml.Node, path string, depth int, each func(key, value *yaml.Node, path string)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i]; key.ShortTag() == "!!merge" {
			d.merged(node.Content[i+1], path, depth+1, each)
		}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := resolveAlias(node.Content[i]), node.Content[i+1]
		if key.ShortTag() == "!!merge" {
			continue
		}
		if key.Kind != yaml.ScalarNode {
			d.fault(key, path, "a key must be a name")
			continue
		}
		at := join(path, key.Value)
		if line, ok := seen[key.Value]; ok {
			d.fault(key, at, "key %q is already set in line %d", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		each(key, value, at)
	}
}

func (d *decoder) merged(node *yaml.Node, path string, depth int, each func(key, value *yaml.Node, path string)) {
	if d.nodes++; depth > maxDepth || d.nodes > maxNodes {
		d.fault(node, path, "nested too deeply, or grown too large by its anchors")
		return
	}
	switch node = resolveAlias(node); node.Kind {
	case yaml.MappingNode:
		d.pairs(node, path, depth, each)
	case yaml.SequenceNode: // the first one wins
		for i := len(node.Content) - 1; i >= 0; i-- {
			d.merged(node.Content[i], path, depth+1, each)
		}
	default:
		d.fault(node, path, "a merge (<<) needs a mapping")
	}
}

func resolveAlias(node *yaml.Node) *yaml.Node {
	for range maxDepth {
		if node.Kind != yaml.AliasNode {
			break
		}
		node = node.Alias
	}
	return node
}

func (d *decoder) mapping(node *yaml.Node, target reflect.Value, path string, whose ownership, depth int) {
	if node.Kind != yaml.MappingNode {
		d.wrongType(node, path, target)
		return
	}
	fresh := reflect.MakeMap(target.Type())
	d.pairs(node, path, depth, func(key, value *yaml.Node, at string) {
		if v := resolveAlias(value); v.ShortTag() == "!!null" && target.Type().Elem().Kind() == reflect.String {
			return // other programs write null for "not set"
		}
		element := reflect.New(target.Type().Elem()).Elem()
		if inner := aliasedModel(value, target, whose); inner != nil {
			value = inner
		}
		d.value(value, element, at, whose, depth+1)
		fresh.SetMapIndex(reflect.ValueOf(key.Value), element)
	})
	target.Set(fresh)
}

// aliasedModel finds the name in the long form of LiteLLM's model_group_alias,
// {name: {model: group, hidden: true}}.
func aliasedModel(value *yaml.Node, target reflect.Value, whose ownership) *yaml.Node {
	value = resolveAlias(value)
	if whose != litellm || target.Type().Elem().Kind() != reflect.String || value.Kind != yaml.MappingNode {
		return nil
	}
	if at := child(value, step{key: "model"}); at != nil {
		return at.node()
	}
	return nil
}

func (d *decoder) sequence(node *yaml.Node, target reflect.Value, path string, whose ownership, depth int) {
	if node.Kind != yaml.SequenceNode {
		d.wrongType(node, path, target)
		return
	}
	fresh := reflect.MakeSlice(target.Type(), len(node.Content), len(node.Content))
	for i, child := range node.Content {
		d.value(child, fresh.Index(i), fmt.Sprintf("%s[%d]", path, i), whose, depth+1)
	}
	target.Set(fresh)
}

// anything keeps a value whose shape is not ours, as model_info is.
func (d *decoder) anything(node *yaml.Node, target reflect.Value, path string, depth int) {
	switch node.Kind {
	case yaml.MappingNode:
		fresh := reflect.New(reflect.TypeFor[map[string]any]()).Elem()
		d.mapping(node, fresh, path, foreign, depth)
		target.Set(fresh)
	case yaml.SequenceNode:
		fresh := reflect.New(reflect.TypeFor[[]any]()).Elem()
		d.sequence(node, fresh, path, foreign, depth)
		target.Set(fresh)
	default:
		var v any
		if err := node.Decode(&v); err != nil {
			d.fault(node, path, "unreadable value")
			return
		}
		if v != nil {
			target.Set(reflect.ValueOf(v))
		}
	}
}

func (d *decoder) scalar(node *yaml.Node, target reflect.Value, path string, whose ownership) {
	if node.Kind != yaml.ScalarNode {
		d.wrongType(node, path, target)
		return
	}
	ok := false
	switch target.Kind() {
	case reflect.String:
		target.SetString(node.Value)
		ok = true
	case reflect.Bool:
		ok = setBool(node, target)
	case reflect.Int, reflect.Int64:
		ok = setInt(node, target, whose)
	case reflect.Float64:
		ok = setFloat(node, target, whose)
	}
	if !ok {
		d.wrongType(node, path, target)
	}
}

func setBool(node *yaml.Node, target reflect.Value) bool {
	var v bool
	if node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 || node.Decode(&v) != nil {
		return false
	}
	target.SetBool(v)
	return true
}

// numeric reports whether the scalar may be read as a number. LiteLLM also
// takes quoted ones.
func numeric(node *yaml.Node, whose ownership) bool {
	tag := node.ShortTag()
	return tag == "!!int" || tag == "!!float" || (tag == "!!str" && whose == litellm)
}

func setInt(node *yaml.Node, target reflect.Value, whose ownership) bool {
	if !numeric(node, whose) {
		return false
	}
	var v int64
	if node.ShortTag() == "!!int" {
		if node.Decode(&v) != nil {
			return false
		}
	} else {
		f, err := strconv.ParseFloat(node.Value, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return false
		}
		v = int64(f)
	}
	if target.OverflowInt(v) {
		return false
	}
	target.SetInt(v)
	return true
}

func setFloat(node *yaml.Node, target reflect.Value, whose ownership) bool {
	if !numeric(node, whose) {
		return false
	}
	var v float64
	var err error
	if node.ShortTag() == "!!str" {
		v, err = strconv.ParseFloat(node.Value, 64)
	} else {
		err = node.Decode(&v)
	}
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return false
	}
	target.SetFloat(v)
	return true
}

func (d *decoder) wrongType(node *yaml.Node, path string, target reflect.Value) {
	d.fault(node, path, "must be %s, not %s", wanted(target.Type()), found(node, target.Type()))
}

func wanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Duration]():
		return "a duration such as 30s or 5m"
	case t == reflect.TypeFor[time.Time]():
		return "a time such as 2026-01-31T12:00:00Z"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "keys with values"
	default:
		return "text"
	}
}

// found names what the file holds instead. The text itself is shown only where
// no secret is expected.
func found(node *yaml.Node, t reflect.Type) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		if len(node.Value) <= 24 {
			return strconv.Quote(node.Value)
		}
	}
	return "a single value"
}

// JoinPath returns the path of what has that name in the section at path, as
// Problems and SecretRefs write it.
func JoinPath(path, name string) string { return join(path, name) }

// join appends a name to a path, quoted when it could be misread.
func join(path, name string) string {
	if name == "" || strings.ContainsAny(name, ".[]\" \t\n") {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}
