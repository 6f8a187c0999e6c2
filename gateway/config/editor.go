package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// editText makes the changes that lead from one configuration to another in the
// text of its file, and touches nothing else: comments, order, blank lines,
// indentation and unknown keys stay. The result is read again and must say
// exactly what new says.
//
// yaml's own encoder would lay the whole file out anew. Here each change is one
// replaced span, found by the positions that the parser gives; the text is
// parsed again after each, so that no position is ever stale.
func editText(path string, text []byte, old, new *Config) ([]byte, error) {
	for _, c := range diff(old, new) {
		edited, err := editOne(text, c)
		if err != nil {
			return nil, fmt.Errorf("changing %s in %s: %w", pathOf(c.path), path, err)
		}
		text = edited
	}
	read, err := readText(path, text)
	if err == nil {
		err = Faults(read.decoded.problems)
	}
	if err != nil || !sameConfig(read.config, new) {
		return nil, fmt.Errorf("changing %s: %w", path, errUnusual)
	}
	return text, nil
}

// errUnusual says that the file is laid out in a way that cannot be edited
// without disturbing the rest.
var errUnusual = errors.New("the file is written in an unusual way that cannot be edited safely; change it by hand")

func pathOf(steps []step) string {
	path := ""
	for _, s := range steps {
		if s.key != "" {
			path = join(path, s.key)
		} else {
			path += fmt.Sprintf("[%d]", s.index)
		}
	}
	return path
}

func editOne(text []byte, c change) ([]byte, error) {
	e, err := newEditor(text)
	if err != nil {
		return nil, err
	}
	if e.root == nil {
		return e.begin(c)
	}
	return e.apply(c)
}

// editor edits one parsed text. It is used for one change.
type editor struct {
	source
	root   *yaml.Node // nil when the file says nothing yet
	eol    string
	quoted bool // the file is JSON: what is added is quoted
}

func newEditor(text []byte) (*editor, error) {
	e := &editor{source: newSource(text), eol: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		e.eol = "\r\n"
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, errUnusual
	}
	if doc.Kind == 0 || doc.Content[0].Kind == yaml.ScalarNode {
		return e, nil
	}
	e.root = doc.Content[0]
	first := e.root
	for len(first.Content) > 0 && first.Kind == yaml.MappingNode {
		first = first.Content[0]
	}
	e.quoted = e.root.Style&yaml.FlowStyle != 0 && (len(e.root.Content) == 0 || first.Style&yaml.DoubleQuotedStyle != 0)
	return e, nil
}

// begin writes the first key into a file that holds none.
func (e *editor) begin(c change) ([]byte, error) {
	node, err := nested(c)
	if err != nil || node == nil {
		return e.text, err
	}
	lines, err := block(node, 0, e.eol)
	if err != nil {
		return nil, err
	}
	text := string(e.text)
	for _, null := range []string{"~", "null"} { // an explicit nothing
		if rest, ok := strings.CutSuffix(strings.TrimRight(text, " \r\n"), null); ok {
			text = rest
			break
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += e.eol
	}
	return []byte(text + lines + e.eol), nil
}

// nested makes the mapping that holds the change's value under its whole path;
// nil when there is nothing to write.
func nested(c change) (*yaml.Node, error) {
	if c.kind == removeValue {
		return nil, nil
	}
	return wrap(c.path, c)
}

// wrap makes the value of c as it stands under path, the last steps of c's.
func wrap(path []step, c change) (*yaml.Node, error) {
	node, err := nodeOf(c.value)
	if err != nil {
		return nil, err
	}
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].key == "" {
			node = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{node}}
			continue
		}
		node = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalarNode("!!str", path[i].key), node}}
	}
	return node, nil
}

// apply finds the innermost existing collection on the way and changes it.
func (e *editor) apply(c change) ([]byte, error) {
	spot, err := e.find(c.path)
	if err != nil {
		return nil, err
	}
	rest := c.path[spot.depth:]
	switch {
	case spot.replace != nil: // what is there cannot hold the rest of the path
		if c.kind == removeValue {
			return e.text, nil
		}
		return e.setExisting(*spot.replace, rest, c)
	case rest[0].key != "":
		return e.changeKey(spot, rest, c)
	default:
		return e.changeElement(spot, rest[0].index, c)
	}
}

// place is a value in the text: the collection that holds it and its number there.
type place struct {
	parent *yaml.Node
	index  int // of the value in parent.Content
}

func (p place) node() *yaml.Node { return p.parent.Content[p.index] }

// spot is where a path ends or leaves what exists.
type spot struct {
	node    *yaml.Node // the collection to change
	depth   int        // how many steps lead to it
	at      *place     // where node itself stands; nil for the root
	replace *place     // set instead, when this value must be replaced as a whole
}

func (e *editor) find(path []step) (spot, error) {
	s := spot{node: e.root}
	for s.depth < len(path)-1 {
		next := child(s.node, path[s.depth])
		if next == nil {
			return s, nil
		}
		value := next.node()
		wantMap := path[s.depth+1].key != ""
		if wantMap != (value.Kind == yaml.MappingNode) || !wantMap && value.Kind != yaml.SequenceNode {
			if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!null" {
				return s, errUnusual // an alias: what it stands for is used elsewhere
			}
			s.depth++
			s.replace = next
			return s, nil
		}
		s.node, s.at = value, next
		s.depth++
	}
	return s, nil
}

// child finds the value under one step.
func child(node *yaml.Node, s step) *place {
	if s.key == "" {
		if node.Kind == yaml.SequenceNode && s.index < len(node.Content) {
			return &place{node, s.index}
		}
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if resolveAlias(node.Content[i]).Value == s.key {
			return &place{node, i + 1}
		}
	}
	return nil
}

func isFlow(node *yaml.Node) bool { return node.Style&yaml.FlowStyle != 0 }

func (e *editor) changeKey(s spot, rest []step, c change) ([]byte, error) {
	existing := child(s.node, rest[0])
	switch {
	case c.kind == removeValue && (existing == nil || len(rest) > 1):
		return e.text, nil
	case c.kind == removeValue:
		return e.removeKey(s, existing.index-1)
	case existing != nil:
		return e.setExisting(*existing, rest[1:], c)
	}
	value, err := wrap(rest[1:], c)
	if err != nil {
		return nil, err
	}
	key := scalarNode("!!str", rest[0].key)
	if isFlow(s.node) {
		text, err := e.pair(key, value)
		if err != nil {
			return nil, err
		}
		return e.insertFlow(s.node, len(s.node.Content), text)
	}
	first, err := e.start(s.node.Content[0])
	if err != nil {
		return nil, err
	}
	lines, err := block(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}, e.column(first), e.eol)
	if err != nil {
		return nil, err
	}
	return e.appendLines(s.node, lines)
}

// pair renders "key: value" for a flow mapping.
func (e *editor) pair(key, value *yaml.Node) (string, error) {
	text, err := inline(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}, e.quoted)
	return strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}"), err
}

// appendLines puts lines after the last line of a block collection.
func (e *editor) appendLines(node *yaml.Node, lines string) ([]byte, error) {
	end, err := e.end(node)
	if err != nil {
		return nil, err
	}
	end = e.lineEnd(end)
	return e.splice(end, end, e.eol+lines), nil
}

// setExisting replaces the value at p by the change's value under rest.
func (e *editor) setExisting(p place, rest []step, c change) ([]byte, error) {
	value, err := wrap(rest, c)
	if err != nil {
		return nil, err
	}
	node := p.node()
	if hasAnchor(node) {
		return nil, errUnusual
	}
	if !compound(value) || isFlow(p.parent) || isFlow(node) && compound(node) {
		return e.setInline(p, value)
	}
	return e.setBlock(p, value)
}

func hasAnchor(node *yaml.Node) bool {
	if node.Anchor != "" {
		return true
	}
	for _, c := range node.Content {
		if hasAnchor(c) {
			return true
		}
	}
	return false
}

// setInline puts a value on the line of its key. The quotes of a text stay.
func (e *editor) setInline(p place, value *yaml.Node) ([]byte, error) {
	node := p.node()
	if value.Kind == yaml.ScalarNode && value.ShortTag() == "!!str" && node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && value.Style == 0 {
		value.Style = node.Style & (yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle)
	}
	text, err := inline(value, e.quoted)
	if err != nil {
		return nil, err
	}
	start, end, err := e.valueSpan(p)
	if err == nil && compound(node) && !isFlow(node) && p.parent.Kind == yaml.MappingNode {
		start, err = e.afterColon(p.parent.Content[p.index-1])
	}
	if err != nil {
		return nil, err
	}
	if start > 0 && !isBlank(e.text[start-1]) && e.text[start-1] != '[' && e.text[start-1] != '{' {
		text = " " + text
	}
	return e.splice(start, end, text), nil
}

// setBlock puts a collection on the lines below its key, or beside its dash.
func (e *editor) setBlock(p place, value *yaml.Node) ([]byte, error) {
	start, end, err := e.valueSpan(p)
	if err != nil {
		return nil, err
	}
	if p.parent.Kind == yaml.SequenceNode {
		lines, err := block(value, e.column(start), e.eol)
		if err != nil {
			return nil, err
		}
		return e.splice(start, end, strings.TrimLeft(lines, " ")), nil
	}
	keyAt, err := e.start(p.parent.Content[p.index-1])
	if err != nil {
		return nil, err
	}
	lines, err := block(value, e.column(keyAt)+2, e.eol)
	if err != nil {
		return nil, err
	}
	// What stands behind the old value on its line, a comment, stays there.
	tail := e.lineEnd(end)
	behind := strings.TrimRight(string(e.text[end:tail]), " \r")
	for strings.TrimSpace(behind) != "" && start > 0 && e.text[start-1] == ' ' {
		start--
	}
	return e.splice(start, tail, behind+e.eol+lines), nil
}

// removeKey takes out the pair whose key has index i.
func (e *editor) removeKey(s spot, i int) ([]byte, error) {
	node := s.node
	if hasAnchor(node.Content[i+1]) {
		return nil, errUnusual
	}
	if isFlow(node) {
		return e.removeFlow(node, i, 2)
	}
	if len(node.Content) == 2 {
		return e.empty(s, "{}")
	}
	start, err := e.start(node.Content[i])
	if err != nil {
		return nil, err
	}
	if e.blankBefore(start) {
		_, end, err := e.valueSpan(place{node, i + 1})
		if err != nil {
			return nil, err
		}
		return e.removeLines(start, end), nil
	}
	if i != 0 { // something unusual shares the line
		return nil, errUnusual
	}
	next, err := e.start(node.Content[2])
	if err != nil {
		return nil, err
	}
	return e.splice(start, next, ""), nil
}

// empty leaves an empty collection where the last entry of one was taken.
func (e *editor) empty(s spot, text string) ([]byte, error) {
	if s.at == nil {
		start, err := e.start(s.node)
		if err != nil {
			return nil, err
		}
		end, err := e.end(s.node)
		if err != nil {
			return nil, err
		}
		return e.splice(start, end, text), nil
	}
	start, end, err := e.valueSpan(*s.at)
	if err != nil {
		return nil, err
	}
	if s.at.parent.Kind == yaml.MappingNode {
		start, err = e.afterColon(s.at.parent.Content[s.at.index-1])
		text = " " + text
	}
	if err != nil {
		return nil, err
	}
	return e.splice(start, end, text), nil
}

func (e *editor) changeElement(s spot, i int, c change) ([]byte, error) {
	node := s.node
	switch {
	case c.kind == insertElement:
		return e.insertElement(s, i, c)
	case i >= len(node.Content):
		return nil, errUnusual
	case c.kind == setValue:
		return e.setExisting(place{node, i}, nil, c)
	case hasAnchor(node.Content[i]):
		return nil, errUnusual
	case isFlow(node):
		return e.removeFlow(node, i, 1)
	case len(node.Content) == 1:
		return e.empty(s, "[]")
	}
	dash, err := e.dash(node, i)
	if err != nil {
		return nil, err
	}
	_, end, err := e.valueSpan(place{node, i})
	if err != nil {
		return nil, err
	}
	return e.removeLines(dash, end), nil
}

func (e *editor) insertElement(s spot, i int, c change) ([]byte, error) {
	value, err := nodeOf(c.value)
	if err != nil {
		return nil, err
	}
	node := s.node
	if isFlow(node) {
		text, err := inline(value, e.quoted)
		if err != nil {
			return nil, err
		}
		return e.insertFlow(node, min(i, len(node.Content)), text)
	}
	near := min(max(i-1, 0), len(node.Content)-1)
	dash, err := e.dash(node, near)
	if err != nil {
		return nil, err
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{value}}
	lines, err := block(list, e.column(dash), e.eol)
	if err != nil {
		return nil, err
	}
	if i == 0 {
		return e.splice(e.lineStart(dash), e.lineStart(dash), lines+e.eol), nil
	}
	_, end, err := e.valueSpan(place{node, near})
	if err != nil {
		return nil, err
	}
	end = e.lineEnd(end)
	return e.splice(end, end, e.eol+lines), nil
}

// dash finds the "-" of a block element, which must begin its line.
func (e *editor) dash(node *yaml.Node, i int) (int, error) {
	at, err := e.start(node.Content[i])
	if err != nil {
		return 0, err
	}
	for at--; at >= 0 && e.text[at] == ' '; at-- {
	}
	if at < 0 || e.text[at] != '-' || !e.blankBefore(at) {
		return 0, errUnusual
	}
	return at, nil
}
