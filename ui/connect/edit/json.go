package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
	"github.com/tidwall/jsonc"
)

// JSON is JSON with comments and trailing commas.
type JSON struct{}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Set implements Format.
func (JSON) Set(text []byte, e Entry) ([]byte, error) {
	d, err := parseJSON(text, e.Path[0])
	if err != nil {
		return nil, err
	}
	there, found, err := JSON{}.Get(text, e)
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
	if err := d.set(e); err != nil {
		return nil, err
	}
	after := d.pack()
	return after, e.check(readJSON, text, after, want)
}

// Remove implements Format.
func (JSON) Remove(text []byte, e Entry) ([]byte, error) {
	if _, found, err := (JSON{}).Get(text, e); err != nil || !found {
		return text, err
	}
	d, err := parseJSON(text, e.Path[0])
	if err != nil {
		return nil, err
	}
	last := len(e.Path) - 1
	p, err := d.walk(e.Path[:last])
	if err != nil {
		return nil, err
	}
	i, err := find(p.value, e.Path[last])
	if err != nil {
		return nil, err
	}
	remove(p.value, i)
	after := d.pack()
	return after, e.check(readJSON, text, after, nil)
}

// Get implements Format.
func (JSON) Get(text []byte, e Entry) (map[string]any, bool, error) {
	d, err := parseJSON(text, e.Path[0])
	if err != nil {
		return nil, false, err
	}
	if _, err := d.walk(e.Path); err != nil { // whatever is wrong on the way
		if errors.Is(err, errAbsent) {
			return nil, false, nil
		}
		return nil, false, err
	}
	v, err := readJSON(text)
	if err != nil {
		return nil, false, err
	}
	_, found := without(v, e.Path)
	o, ok := found.(map[string]any)
	if !ok {
		return nil, false, fmt.Errorf("%s is no object", pathText(e.Path))
	}
	return o, true, nil
}

// Texts implements Format.
func (JSON) Texts(text []byte, replace func(path []string, value string) string) ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))) == 0 {
		return text, nil
	}
	first := Step{}
	if bytes.HasPrefix(bytes.TrimLeft(jsonc.ToJSON(bytes.TrimPrefix(text, byteOrderMark)), " \t\r\n"), []byte("[")) {
		first.Where = map[string]string{}
	}
	d, err := parseJSON(text, first)
	if err != nil {
		return nil, err
	}
	eachText(&d.root, nil, replace)
	return d.pack(), nil
}

func eachText(v *hujson.Value, path []string, replace func(path []string, value string) string) {
	if literal, ok := v.Value.(hujson.Literal); ok {
		if literal.Kind() != '"' {
			return
		}
		if was := literal.String(); replace(path, was) != was {
			v.Value = hujson.Literal(plainJSON(replace(path, was)))
		}
		return
	}
	for i := range length(v.Value) {
		inner := path
		if o, ok := v.Value.(*hujson.Object); ok {
			name, _ := o.Members[i].Name.Value.(hujson.Literal)
			inner = append(path[:len(path):len(path)], name.String())
		}
		eachText(element(v.Value, i), inner, replace)
	}
}

// readJSON is what a text says; nothing: an empty one.
func readJSON(text []byte) (any, error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	var v any
	decoder := json.NewDecoder(bytes.NewReader(jsonc.ToJSON(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// jsonFile is a parsed file, and the habits of who wrote it.
type jsonFile struct {
	root    hujson.Value
	mark    bool   // it begins with a byte order mark
	newline string // "\n" or "\r\n"
	indent  string // of one level
	lines   bool   // values stand on lines of their own
}

// parseJSON reads a file whose root is an object or, for a step into a list, a
// list. An empty file is an empty one of these. encoding/json reads it first,
// which refuses what is nested too deeply for a parser that calls itself.
func parseJSON(text []byte, first Step) (*jsonFile, error) {
	d := &jsonFile{newline: "\n", indent: "  ", lines: true}
	body := text
	if bytes.HasPrefix(body, byteOrderMark) {
		d.mark, body = true, body[len(byteOrderMark):]
	}
	if i := bytes.IndexByte(body, '\n'); i > 0 && body[i-1] == '\r' {
		d.newline = "\r\n"
	}
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}" + d.newline)
		if first.Where != nil {
			body = []byte("[]" + d.newline)
		}
	}
	if !json.Valid(jsonc.ToJSON(body)) {
		var v any
		return nil, fmt.Errorf("this is no JSON: %w", json.Unmarshal(jsonc.ToJSON(body), &v))
	}
	var err error
	if d.root, err = hujson.Parse(body); err != nil {
		return nil, fmt.Errorf("this is no JSON: %w", err)
	}
	if err := fits(d.root.Value, first); err != nil {
		return nil, fmt.Errorf("the file's outermost value %w", err)
	}
	d.learn()
	return d, nil
}

// learn finds out how the file is indented.
func (d *jsonFile) learn() {
	if length(d.root.Value) == 0 {
		return
	}
	d.lines = bytes.Contains(hujson.Value{Value: d.root.Value}.Pack(), []byte("\n"))
	if unit := lastLine(*before(d.root.Value, 0)); unit != "" {
		d.indent = unit
	}
}

func (d *jsonFile) pack() []byte {
	if d.mark {
		return append(bytes.Clone(byteOrderMark), d.root.Pack()...)
	}
	return d.root.Pack()
}

// errAbsent says that a path leads to nothing.
var errAbsent = errors.New("nothing is there")

// place is a value, and the white space at the beginning of its line.
type place struct {
	value  hujson.ValueTrimmed
	margin string
}

// walk follows a path as far as it leads: the place is the last that is there,
// and errAbsent says that the path goes on.
func (d *jsonFile) walk(path []Step) (place, error) {
	at := place{value: d.root.Value}
	for n, step := range path {
		if err := fits(at.value, step); err != nil {
			return at, fmt.Errorf("%s %w", pathText(path[:n]), err)
		}
		i, err := find(at.value, step)
		if err != nil {
			return at, err
		}
		margin := at.margin
		if extra := *before(at.value, i); bytes.Contains(extra, []byte("\n")) {
			margin = lastLine(extra)
		}
		at = place{value: element(at.value, i).Value, margin: margin}
	}
	return at, nil
}

// set writes the entry, with the objects and lists that lead to it.
func (d *jsonFile) set(e Entry) error {
	for n := len(e.Path); n >= 0; n-- {
		at, err := d.walk(e.Path[:n])
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return err
		}
		if n == len(e.Path) {
			return d.merge(at, e)
		}
		return d.insert(at, e.Path[n], nested(e.Path[n+1:], e.Value))
	}
	return errAbsent // the root is always there
}

// nested is a value inside the objects and lists that lead to it.
func nested(path []Step, v any) any {
	switch {
	case len(path) == 0:
		return v
	case path[0].Where != nil:
		return []any{nested(path[1:], v)}
	}
	return Object{{path[0].Key, nested(path[1:], v)}}
}

// merge sets the fields of an entry that is there.
func (d *jsonFile) merge(at place, e Entry) error {
	o, ok := at.value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("%s is no object", pathText(e.Path))
	}
	for _, key := range e.Drop {
		if i, err := find(o, Step{Key: key}); err == nil {
			remove(o, i)
		}
	}
	for _, f := range e.Value {
		i, err := find(o, Step{Key: f.Key})
		if errors.Is(err, errAbsent) {
			err = d.insert(at, Step{Key: f.Key}, f.Value)
		} else if err == nil {
			err = d.replace(at, &o.Members[i], f.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replace writes a field's value anew, unless it says so already.
func (d *jsonFile) replace(at place, m *hujson.ObjectMember, v any) error {
	is, err := readJSON(m.Value.Pack())
	if err != nil {
		return err
	}
	if sameValue(is, v) {
		return nil
	}
	margin := at.margin
	if bytes.Contains(m.Name.BeforeExtra, []byte("\n")) {
		margin = lastLine(m.Name.BeforeExtra)
	}
	text, err := d.render(v, margin)
	if err != nil {
		return err
	}
	m.Value.Value = text
	return nil
}

// render writes a value for a line that begins with margin.
func (d *jsonFile) render(v any, margin string) (hujson.ValueTrimmed, error) {
	text, err := marshal(v)
	if err != nil {
		return nil, err
	}
	if d.lines {
		var b bytes.Buffer
		if err := json.Indent(&b, text, margin, d.indent); err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(d.newline))
	}
	parsed, err := hujson.Parse(text)
	return parsed.Value, err
}

// insert adds a value at the end of an object or a list. Comments at the end stay
// before it, where they are on the line of what is there.
func (d *jsonFile) insert(at place, step Step, v any) error {
	tail := after(at.value)
	margin, lines := at.margin+d.indent, d.lines
	if n := length(at.value); n > 0 {
		extra := *before(at.value, n-1)
		if lines = bytes.Contains(extra, []byte("\n")); lines {
			margin = lastLine(extra)
		}
	}
	lead := bytes.TrimRight(*tail, " \t\r\n")
	if lines || bytes.Contains(lead, []byte("//")) {
		closing := at.margin
		if bytes.Contains(*tail, []byte("\n")) {
			closing = lastLine(*tail)
		}
		lead = append(lead, d.newline+margin...)
		*tail = hujson.Extra(d.newline + closing)
	} else if length(at.value) > 0 {
		lead = append(lead, ' ')
	}
	value, err := (&jsonFile{newline: d.newline, indent: d.indent, lines: lines && d.lines}).render(v, margin)
	if err != nil {
		return err
	}
	add(at.value, step, lead, value)
	return nil
}

// lastLine is the white space that ends a text after its last line break.
func lastLine(extra []byte) string {
	line := extra[bytes.LastIndexByte(extra, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// pathText names a place for a person.
func pathText(path []Step) string {
	if len(path) == 0 {
		return "the file"
	}
	var parts []string
	for _, s := range path {
		if s.Where == nil {
			parts = append(parts, s.Key)
		} else {
			parts = append(parts, fmt.Sprintf("[%s]", s.Where["name"]+s.Where["id"]))
		}
	}
	return strings.Join(parts, ".")
}
