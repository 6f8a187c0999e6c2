package edit

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TOML is TOML. An entry is a table with a header of its own, and Path leads
// through tables only.
type TOML struct{}

// Set implements Format. An entry that says something else is written anew.
func (TOML) Set(text []byte, e Entry) ([]byte, error) {
	there, found, err := TOML{}.Get(text, e)
	if err != nil {
		return nil, err
	}
	want, err := e.merged(there)
	if err != nil {
		return nil, err
	}
	if found && sameValue(there, want) {
		return text, nil
	}
	body, err := TOML{}.Remove(text, e)
	if err != nil {
		return nil, err
	}
	table, err := tomlTable(e, want)
	if err != nil {
		return nil, err
	}
	if newlineOf(text) == "\r\n" {
		table = bytes.ReplaceAll(table, []byte("\n"), []byte("\r\n"))
	}
	after := appendTable(body, table, newlineOf(text))
	return after, e.check(readTOML, text, after, want)
}

// tomlTable writes the entry's table, what is ours in its order first.
func tomlTable(e Entry, want map[string]any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[" + tomlPath(e.Path) + "]\n")
	rest := map[string]any{}
	for key, value := range want {
		if !slices.ContainsFunc(e.Value, func(f Field) bool { return f.Key == key && !isTable(value) }) {
			rest[key] = value
		}
	}
	for _, f := range e.Value {
		if _, later := rest[f.Key]; later {
			continue
		}
		line, err := toml.Marshal(map[string]any{f.Key: f.Value})
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.Key, err)
		}
		b.Write(line)
	}
	if len(rest) == 0 {
		return b.Bytes(), nil
	}
	var nested any = rest
	for _, step := range slices.Backward(e.Path) {
		nested = map[string]any{step.Key: nested}
	}
	more, err := toml.Marshal(nested)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", tomlPath(e.Path), err)
	}
	return append(b.Bytes(), withoutHeaders(more, e.Path)...), nil
}

func isTable(v any) bool { return reflect.ValueOf(v).Kind() == reflect.Map }

// withoutHeaders leaves out the headers of the entry and of what it is in, which
// stand there already.
func withoutHeaders(text []byte, path []Step) []byte {
	for n := 1; n <= len(path); n++ {
		text = bytes.TrimPrefix(text, []byte("["+tomlPath(path[:n])+"]\n"))
	}
	return text
}

// tomlPath is a table's name as a header has it.
func tomlPath(path []Step) string {
	var b bytes.Buffer
	for i, step := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(step.Key)
	}
	return b.String()
}

func newlineOf(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// appendTable adds a table at the end, with an empty line before it.
func appendTable(text, table []byte, newline string) []byte {
	after := bytes.Clone(text)
	if len(bytes.TrimSpace(bytes.TrimPrefix(after, byteOrderMark))) > 0 {
		if !bytes.HasSuffix(after, []byte("\n")) {
			after = append(after, newline...)
		}
		if !bytes.HasSuffix(after, []byte(newline+newline)) {
			after = append(after, newline...)
		}
	}
	return append(after, table...)
}

// Remove implements Format.
func (TOML) Remove(text []byte, e Entry) ([]byte, error) {
	if _, found, err := (TOML{}).Get(text, e); err != nil || !found {
		return text, err
	}
	spans, err := tomlSpans(text, e.Path)
	if err != nil {
		return nil, err
	}
	after := bytes.Clone(text)
	for _, s := range slices.Backward(spans) {
		if newline := newlineOf(text); s.to == len(text) && bytes.HasSuffix(text[:s.from], []byte(newline+newline)) {
			s.from -= len(newline) // the empty line before it
		}
		after = slices.Delete(after, s.from, s.to)
	}
	if err := e.check(readTOML, text, after, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is not a table of its own", tomlPath(e.Path)), err)
	}
	return after, nil
}

// Get implements Format.
func (TOML) Get(text []byte, e Entry) (map[string]any, bool, error) {
	v, err := readTOML(text)
	if err != nil {
		return nil, false, err
	}
	for i, step := range e.Path {
		o, ok := v.(map[string]any)
		if !ok && v != nil {
			return nil, false, fmt.Errorf("%s is no table", tomlPath(e.Path[:i]))
		}
		v = o[step.Key]
	}
	if v == nil {
		return nil, false, nil
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, false, fmt.Errorf("%s is no table", tomlPath(e.Path))
	}
	return o, true, nil
}

// Texts implements Format.
func (TOML) Texts(text []byte, replace func(path []string, value string) string) ([]byte, error) {
	mark := len(text) - len(bytes.TrimPrefix(text, byteOrderMark))
	var p unstable.Parser
	p.Reset(text[mark:])
	out, done := []byte(nil), 0
	var table []string
	var walk func(path []string, node *unstable.Node)
	walk = func(path []string, node *unstable.Node) {
		switch node.Kind {
		case unstable.String:
			was := string(node.Data)
			if now := replace(path, was); now != was {
				out = append(append(out, text[done:mark+int(node.Raw.Offset)]...), plainJSON(now)...) // also a string of TOML's
				done = mark + int(node.Raw.Offset+node.Raw.Length)
			}
		case unstable.KeyValue:
			walk(append(path[:len(path):len(path)], keysOf(node)...), node.Value())
		case unstable.Array, unstable.InlineTable:
			for inner := node.Children(); inner.Next(); {
				walk(path, inner.Node())
			}
		}
	}
	for p.NextExpression() {
		node := p.Expression()
		if node.Kind == unstable.Table || node.Kind == unstable.ArrayTable {
			table = keysOf(node)
			continue
		}
		walk(table, node)
	}
	return append(out, text[done:]...), p.Error()
}

// keysOf are the parts of a key or a header.
func keysOf(node *unstable.Node) []string {
	var parts []string
	for keys := node.Key(); keys.Next(); {
		parts = append(parts, string(keys.Node().Data))
	}
	return parts
}

func readTOML(text []byte) (any, error) {
	var o map[string]any
	if err := toml.Unmarshal(bytes.TrimPrefix(text, byteOrderMark), &o); err != nil {
		return nil, fmt.Errorf("this is no TOML: %w", err)
	}
	return any(o), nil
}

// span is a part of a text.
type span struct{ from, to int }

// tomlSpans are the lines of a table and of the tables in it, each from its header
// to its last value. What stands between them, comments for example, is no part.
func tomlSpans(text []byte, path []Step) ([]span, error) {
	mark := len(text) - len(bytes.TrimPrefix(text, byteOrderMark))
	var p unstable.Parser
	p.Reset(text[mark:])
	var spans []span
	inside := false
	for p.NextExpression() {
		node := p.Expression()
		from, to, ok := extent(&p, node)
		if !ok {
			continue
		}
		from, to = lineStart(text, from+mark), lineEnd(text, to+mark)
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			n := len(spans)
			follows := inside && n > 0 && len(bytes.TrimSpace(text[spans[n-1].to:from])) == 0
			inside = under(node, path)
			switch {
			case inside && follows:
				spans[n-1].to = to
			case inside:
				spans = append(spans, span{from, to})
			}
		case unstable.KeyValue:
			if inside {
				spans[len(spans)-1].to = to
			}
		}
	}
	return spans, p.Error()
}

// extent is where an expression stands.
func extent(p *unstable.Parser, node *unstable.Node) (from, to int, ok bool) {
	if node.Kind == unstable.KeyValue {
		return int(node.Raw.Offset), int(node.Raw.Offset + node.Raw.Length), true
	}
	if node.Kind != unstable.Table && node.Kind != unstable.ArrayTable {
		return 0, 0, false
	}
	for keys := node.Key(); keys.Next(); {
		key := keys.Node()
		if !ok {
			from, ok = int(key.Raw.Offset), true
		}
		to = int(key.Raw.Offset + key.Raw.Length)
	}
	return from, to, ok
}

// under reports whether a header is that of a table, or of one in it.
func under(node *unstable.Node, path []Step) bool {
	n := 0
	for keys := node.Key(); keys.Next(); n++ {
		if n < len(path) && string(keys.Node().Data) != path[n].Key {
			return false
		}
	}
	return n >= len(path)
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
