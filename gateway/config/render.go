package config

import (
	"bytes"
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nodeOf makes the tree of a value as it is written: what is zero inside an
// element is left out. Secrets are written as they are.
func nodeOf(v reflect.Value) (*yaml.Node, error) {
	switch x := v.Interface().(type) {
	case Secret:
		return scalarNode("!!str", string(x)), nil
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return nil, err
		}
		return scalarNode("!!str", string(text)), nil
	}
	switch v.Kind() {
	case reflect.String:
		return scalarNode("!!str", v.String()), nil
	case reflect.Bool:
		return scalarNode("!!bool", strconv.FormatBool(v.Bool())), nil
	case reflect.Int, reflect.Int64:
		return scalarNode("!!int", strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Float64:
		return floatNode(v.Float()), nil
	case reflect.Pointer:
		return nodeOf(v.Elem())
	case reflect.Struct:
		return structNode(v)
	case reflect.Map:
		return mapNode(v)
	case reflect.Slice:
		return listNode(v)
	case reflect.Interface:
		if !v.IsNil() {
			return nodeOf(v.Elem())
		}
	}
	var node yaml.Node
	err := node.Encode(v.Interface())
	return &node, err
}

func scalarNode(tag, value string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
	if strings.ContainsAny(value, "\r\n\t\u0085\u2028\u2029") {
		node.Style = yaml.DoubleQuotedStyle // keeps every value on one line
	}
	return node
}

// floatNode writes whole numbers without a fraction, as people do.
func floatNode(f float64) *yaml.Node {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if len(text) > 24 {
		text = strconv.FormatFloat(f, 'g', -1, 64)
	}
	if strings.ContainsAny(text, ".e") {
		return scalarNode("!!float", text)
	}
	return scalarNode("!!int", text)
}

func structNode(v reflect.Value) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := keyOf(field)
		empty := v.Field(i).Kind() == reflect.Slice || v.Field(i).Kind() == reflect.Map
		if name == "-" || v.Field(i).IsZero() && !saysNo(v.Type(), field) || empty && v.Field(i).Len() == 0 && !keepsEmpty(v.Type(), field) {
			continue
		}
		value, err := nodeOf(v.Field(i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		node.Content = append(node.Content, scalarNode("!!str", name), value)
	}
	return node, nil
}

// saysNo reports whether the field is written also when it is false: who reads
// `sandbox: {}` could not tell.
func saysNo(in reflect.Type, field reflect.StructField) bool {
	return in == reflect.TypeFor[Sandbox]() && field.Name == "Enabled"
}

func mapNode(v reflect.Value) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range sortedKeys(v) {
		value, err := nodeOf(v.MapIndex(key))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		node.Content = append(node.Content, scalarNode("!!str", key.String()), value)
	}
	return node, nil
}

func listNode(v reflect.Value) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		value, err := nodeOf(v.Index(i))
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		node.Content = append(node.Content, value)
	}
	return node, nil
}

// inline renders a node on one line, fit for flow and for block style. quoted
// makes it JSON.
func inline(node *yaml.Node, quoted bool) (string, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{styled(node, quoted)}}
	text, err := encodeNode(list)
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	return strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), nil
}

// styled copies a tree with flow style, and with quotes when asked.
func styled(node *yaml.Node, quoted bool) *yaml.Node {
	fresh := *node
	switch fresh.Kind {
	case yaml.ScalarNode:
		if quoted && fresh.ShortTag() == "!!str" {
			fresh.Style = yaml.DoubleQuotedStyle
		}
	default:
		fresh.Style = yaml.FlowStyle
	}
	fresh.Content = nil
	for _, child := range node.Content {
		fresh.Content = append(fresh.Content, styled(child, quoted))
	}
	return &fresh
}

// block renders a node in lines, each indented by that many spaces.
func block(node *yaml.Node, indent int, eol string) (string, error) {
	text, err := encodeNode(node)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", indent) + line
		}
	}
	return strings.Join(lines, eol), nil
}

func encodeNode(node *yaml.Node) (string, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		return "", fmt.Errorf("rendering a value: %w", err)
	}
	if err := encoder.Close(); err != nil {
		return "", fmt.Errorf("rendering a value: %w", err)
	}
	return b.String(), nil
}

// compound reports whether a node is a collection with something in it.
func compound(node *yaml.Node) bool { return node.Kind != yaml.ScalarNode && len(node.Content) > 0 }
