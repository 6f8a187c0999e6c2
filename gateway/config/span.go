package config

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// source finds where the nodes of a parsed text begin and end in it. The parser
// gives only where they begin, in lines and characters.
type source struct {
	text  []byte
	lines []int // offset of each line
}

func newSource(text []byte) source {
	s := source{text: text, lines: []int{0}}
	for i := 0; i < len(text); {
		n := breakLen(text[i:])
		if n == 0 {
			i++
			continue
		}
		i += n
		s.lines = append(s.lines, i)
	}
	return s
}

// breakLen is the length of the line break at the beginning of text, as YAML
// 1.1 counts them.
func breakLen(text []byte) int {
	switch {
	case len(text) == 0:
		return 0
	case bytes.HasPrefix(text, []byte("\r\n")):
		return 2
	case text[0] == '\n' || text[0] == '\r':
		return 1
	case bytes.HasPrefix(text, []byte("\u0085")):
		return 2
	case bytes.HasPrefix(text, []byte("\u2028")), bytes.HasPrefix(text, []byte("\u2029")):
		return 3
	}
	return 0
}

// start is the offset of a node.
func (s *source) start(node *yaml.Node) (int, error) {
	if node.Line < 1 || node.Line > len(s.lines) {
		return 0, errUnusual
	}
	at := s.lines[node.Line-1]
	if at == 0 && bytes.HasPrefix(s.text, []byte("\ufeff")) {
		at = len("\ufeff")
	}
	for range node.Column - 1 {
		if at >= len(s.text) {
			return at, nil
		}
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at, nil
}

// content is the offset of a node behind its tag and anchor.
func (s *source) content(node *yaml.Node) (int, error) {
	at, err := s.start(node)
	for err == nil && at < len(s.text) && (s.text[at] == '&' && node.Kind != yaml.AliasNode || s.text[at] == '!') {
		for at < len(s.text) && !isBlank(s.text[at]) && s.text[at] != ',' && s.text[at] != ']' && s.text[at] != '}' {
			at++
		}
		at = s.skipBlank(at)
	}
	return at, err
}

// end is the offset behind a node's last character.
func (s *source) end(node *yaml.Node) (int, error) {
	at, err := s.content(node)
	if err != nil {
		return 0, err
	}
	switch {
	case node.Kind == yaml.AliasNode:
		return s.aliasEnd(at), nil
	case node.Kind == yaml.ScalarNode:
		return s.scalarEnd(node, at)
	case isFlow(node) && at < len(s.text) && (s.text[at] == '{' || s.text[at] == '['):
		return s.flowEnd(node, at)
	case len(node.Content) == 0:
		return 0, errUnusual
	}
	_, end, err := s.valueSpan(place{node, len(node.Content) - 1})
	return end, err
}

func (s *source) aliasEnd(at int) int {
	for at < len(s.text) && !isBlank(s.text[at]) && strings.IndexByte(",]}", s.text[at]) < 0 {
		at++
	}
	return at
}

func (s *source) scalarEnd(node *yaml.Node, at int) (int, error) {
	switch {
	case node.Style&yaml.DoubleQuotedStyle != 0:
		return s.quoteEnd(at, '"')
	case node.Style&yaml.SingleQuotedStyle != 0:
		return s.quoteEnd(at, '\'')
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return s.literalEnd(at), nil
	}
	return s.plainEnd(node.Value, at)
}

func (s *source) quoteEnd(at int, quote byte) (int, error) {
	if at >= len(s.text) || s.text[at] != quote {
		return 0, errUnusual
	}
	for at++; at < len(s.text); at++ {
		switch {
		case s.text[at] == '\\' && quote == '"':
			at++
		case s.text[at] == quote && quote == '\'' && at+1 < len(s.text) && s.text[at+1] == quote:
			at++
		case s.text[at] == quote:
			return at + 1, nil
		}
	}
	return 0, errUnusual
}

// plainEnd follows an unquoted text, which may go on over several lines.
func (s *source) plainEnd(value string, at int) (int, error) {
	for _, word := range strings.FieldsFunc(value, isFold) {
		at = s.skipBlank(at)
		if !bytes.HasPrefix(s.text[min(at, len(s.text)):], []byte(word)) {
			return 0, errUnusual
		}
		at += len(word)
	}
	return min(at, len(s.text)), nil
}

func isFold(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// literalEnd finds the end of a block text, whose lines are indented deeper
// than the line that holds its "|" or ">".
func (s *source) literalEnd(at int) int {
	indent := s.indentOf(at)
	end := s.lineEnd(at)
	for next := end; next < len(s.text); {
		next += max(breakLen(s.text[next:]), 1)
		line := s.text[min(next, len(s.text)):s.lineEnd(next)]
		if len(bytes.TrimSpace(line)) > 0 {
			if leading(line) <= indent {
				break
			}
			end = s.lineEnd(next)
		}
		next = s.lineEnd(next)
	}
	return end
}

// indentOf is the column of what a value at an offset belongs to: its key, or
// the dash before it.
func (s *source) indentOf(at int) int {
	line := s.text[s.lineStart(at):at]
	indent := leading(line)
	for rest := line[indent:]; bytes.HasPrefix(rest, []byte("- ")); rest = line[indent:] {
		inner := indent + 1 + leading(rest[1:])
		if !bytes.Contains(line[inner:], []byte(":")) {
			break
		}
		indent = inner
	}
	return indent
}

func leading(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

// flowEnd finds the bracket that closes a collection, behind its last entry.
func (s *source) flowEnd(node *yaml.Node, at int) (int, error) {
	closing := byte('}')
	if s.text[at] == '[' {
		closing = ']'
	}
	at++
	if n := len(node.Content); n > 0 {
		_, end, err := s.valueSpan(place{node, n - 1})
		if err != nil {
			return 0, err
		}
		at = end
	}
	for at < len(s.text) {
		at = s.skipBlank(at)
		if at < len(s.text) && s.text[at] == closing {
			return at + 1, nil
		}
		if at >= len(s.text) || strings.IndexByte(",:?", s.text[at]) < 0 {
			break
		}
		at++
	}
	return 0, errUnusual
}

// valueSpan is where the value at p stands. A value that is not written, as
// behind "key:", has an empty span.
func (s *source) valueSpan(p place) (start, end int, err error) {
	node := p.node()
	if node.Kind == yaml.ScalarNode && node.Value == "" && node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		return s.absentSpan(p)
	}
	if start, err = s.start(node); err != nil {
		return 0, 0, err
	}
	end, err = s.end(node)
	return start, end, err
}

func (s *source) absentSpan(p place) (start, end int, err error) {
	if p.parent.Kind != yaml.MappingNode {
		at, err := s.start(p.node()) // behind the dash
		return at, at, err
	}
	key := p.parent.Content[p.index-1]
	at, err := s.afterColon(key)
	if err != nil && isFlow(p.parent) { // {a, b}
		at, err = s.end(key)
	}
	return at, at, err
}

// afterColon is the offset behind the ":" of a key.
func (s *source) afterColon(key *yaml.Node) (int, error) {
	at, err := s.end(key)
	if err != nil {
		return 0, err
	}
	at = s.skipBlank(at)
	if at >= len(s.text) || s.text[at] != ':' {
		return 0, errUnusual
	}
	return at + 1, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skipBlank goes over blanks, line breaks and comments.
func (s *source) skipBlank(at int) int {
	for at < len(s.text) {
		switch n := breakLen(s.text[at:]); {
		case n > 0:
			at += n
		case isBlank(s.text[at]):
			at++
		case s.text[at] == '#' && (at == 0 || isBlank(s.text[at-1])):
			at = s.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

func (s *source) lineStart(at int) int {
	for at > 0 && s.text[at-1] != '\n' && s.text[at-1] != '\r' {
		at--
	}
	return at
}

func (s *source) lineEnd(at int) int {
	for at < len(s.text) && breakLen(s.text[at:]) == 0 {
		at++
	}
	return min(at, len(s.text))
}

// column counts the characters before an offset on its line.
func (s *source) column(at int) int {
	line := bytes.TrimPrefix(s.text[s.lineStart(at):at], []byte("\ufeff"))
	return utf8.RuneCount(line)
}

func (s *source) blankBefore(at int) bool {
	line := bytes.TrimPrefix(s.text[s.lineStart(at):at], []byte("\ufeff"))
	return len(bytes.TrimLeftFunc(line, unicode.IsSpace)) == 0
}

// splice replaces a span of the text.
func (s *source) splice(start, end int, with string) []byte {
	var b bytes.Buffer
	b.Write(s.text[:start])
	b.WriteString(with)
	b.Write(s.text[end:])
	return b.Bytes()
}

// removeLines takes out the lines from that of start to that of end.
func (s *source) removeLines(start, end int) []byte {
	end = s.lineEnd(end)
	end += breakLen(s.text[end:])
	return s.splice(s.lineStart(start), end, "")
}

// insertFlow puts an entry before the one with index i of a flow collection.
func (s *source) insertFlow(node *yaml.Node, i int, entry string) ([]byte, error) {
	at, err := s.content(node)
	if err != nil {
		return nil, err
	}
	if at >= len(s.text) || s.text[at] != '{' && s.text[at] != '[' {
		return nil, errUnusual
	}
	n := len(node.Content)
	switch {
	case n == 0:
		return s.splice(at+1, at+1, entry), nil
	case i < n:
		next, err := s.start(node.Content[i])
		if err != nil {
			return nil, err
		}
		return s.splice(next, next, entry+", "+""), nil
	}
	_, end, err := s.valueSpan(place{node, n - 1})
	if err != nil {
		return nil, err
	}
	last := node.Content[n-1]
	if node.Kind == yaml.MappingNode {
		last = node.Content[n-2]
	}
	first, err := s.start(last)
	if err != nil {
		return nil, err
	}
	separator := ", "
	if s.blankBefore(first) { // one entry on each line
		separator = "," + s.breakBefore(first) + string(s.text[s.lineStart(first):first])
	}
	return s.splice(end, end, separator+entry), nil
}

// breakBefore is the line break that ends the line before the one at an offset.
func (s *source) breakBefore(at int) string {
	start := s.lineStart(at)
	switch {
	case start >= 2 && string(s.text[start-2:start]) == "\r\n":
		return "\r\n"
	case start >= 1:
		return string(s.text[start-1 : start])
	}
	return "\n"
}

// removeFlow takes out width nodes from index i of a flow collection, with one comma.
func (s *source) removeFlow(node *yaml.Node, i, width int) ([]byte, error) {
	start, err := s.start(node.Content[i])
	if err != nil {
		return nil, err
	}
	_, end, err := s.valueSpan(place{node, i + width - 1})
	if err != nil {
		return nil, err
	}
	if i+width < len(node.Content) {
		next, err := s.start(node.Content[i+width])
		if err != nil {
			return nil, err
		}
		return s.splice(start, next, ""), nil
	}
	if i > 0 {
		_, before, err := s.valueSpan(place{node, i - 1})
		if err != nil {
			return nil, err
		}
		return s.splice(before, end, ""), nil
	}
	return s.splice(start, end, ""), nil
}
