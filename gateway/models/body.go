package models

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"
)

// maxDepth is how deeply a request body may nest arrays and objects.
const maxDepth = 1000

// Body is a JSON object kept as it came: the top level is walked once, values
// stay untouched bytes, and only what is Set or Deleted changes. It is not safe
// for concurrent use; Clone is cheap.
type Body struct {
	raw     []byte // the whole document while nothing has changed, else nil
	members []member
}

type member struct {
	key   string // decoded
	name  []byte // as written, with quotes
	value []byte
}

// ParseBody checks that data is one JSON object in valid UTF-8, nested at most
// 1,000 deep and with no key twice, and indexes its top level. It keeps data.
func ParseBody(data []byte) (*Body, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the body is not valid UTF-8")
	}
	if err := checkDepth(data); err != nil {
		return nil, err
	}
	if !gjson.ValidBytes(data) {
		return nil, errors.New("the body is not valid JSON")
	}
	root := gjson.Parse(view(data))
	if !root.IsObject() {
		return nil, fmt.Errorf("the body must be a JSON object, not %s", jsonKind(root))
	}
	b := &Body{raw: data, members: make([]member, 0, 12)}
	var duplicate error
	root.ForEach(func(key, value gjson.Result) bool {
		if b.find(key.String()) != nil {
			duplicate = fmt.Errorf("the key %q appears twice in the body", key.String())
			return false
		}
		b.members = append(b.members, member{
			key:   key.String(),
			name:  within(data, key),
			value: within(data, value),
		})
		return true
	})
	return b, duplicate
}

// within returns r's bytes as a part of data, without a copy.
func within(data []byte, r gjson.Result) []byte {
	return data[r.Index : r.Index+len(r.Raw) : r.Index+len(r.Raw)]
}

// view returns data as a string without a copy. Documents are never changed once
// they are parsed, which makes it safe here.
func view(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// Elements returns the elements of a JSON array as parts of it, without a copy.
func Elements(array []byte) [][]byte {
	var elements [][]byte
	gjson.Parse(view(array)).ForEach(func(_, value gjson.Result) bool {
		elements = append(elements, within(array, value))
		return true
	})
	return elements
}

// checkDepth walks data once, before any recursive parser sees it.
func checkDepth(data []byte) error {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("the body nests arrays and objects more than %d deep", maxDepth)
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// stringEnd returns the index of the quote that closes the string opened at
// open, or the end of data.
func stringEnd(data []byte, open int) int {
	for i := open + 1; ; {
		quote := bytes.IndexByte(data[min(i, len(data)):], '"')
		if quote < 0 {
			return len(data)
		}
		end := i + quote
		backslashes := 0
		for end-1-backslashes > open && data[end-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return end
		}
		i = end + 1
	}
}

func jsonKind(r gjson.Result) string {
	switch {
	case r.IsArray():
		return "an array"
	case r.IsObject():
		return "an object"
	case r.Type == gjson.String:
		return "a string"
	case r.Type == gjson.Number:
		return "a number"
	case r.Type == gjson.Null:
		return "null"
	default:
		return "a boolean"
	}
}

func (b *Body) find(key string) *member {
	for i := range b.members {
		if b.members[i].key == key {
			return &b.members[i]
		}
	}
	return nil
}

// Get returns the value of a top-level key; its Exists method tells whether it
// is there.
func (b *Body) Get(key string) gjson.Result {
	if m := b.find(key); m != nil {
		return gjson.Parse(view(m.value))
	}
	return gjson.Result{}
}

// Raw returns the bytes of a top-level value, or nil. They must not be changed.
func (b *Body) Raw(key string) []byte {
	if m := b.find(key); m != nil {
		return m.value
	}
	return nil
}

// Has reports whether the key is there, also when its value is null.
func (b *Body) Has(key string) bool { return b.find(key) != nil }

// Set gives key a value, which must be valid JSON, in its place or at the end.
func (b *Body) Set(key string, value []byte) {
	b.raw = nil
	if m := b.find(key); m != nil {
		m.value = value
		return
	}
	b.members = append(b.members, member{key: key, name: quote(key), value: value})
}

// SetString gives key a string value.
func (b *Body) SetString(key, value string) { b.Set(key, quote(value)) }

// Delete removes key.
func (b *Body) Delete(key string) {
	for i := range b.members {
		if b.members[i].key == key {
			b.members = append(b.members[:i:i], b.members[i+1:]...)
			b.raw = nil
			return
		}
	}
}

// Clone returns a body that can be changed without changing b.
func (b *Body) Clone() *Body {
	return &Body{raw: b.raw, members: append(make([]member, 0, len(b.members)+4), b.members...)}
}

// Bytes returns the document: what came when nothing changed, else a new one
// with the untouched values copied as they were. It must not be changed.
func (b *Body) Bytes() []byte {
	if b.raw != nil {
		return b.raw
	}
	size := 2
	for _, m := range b.members {
		size += len(m.name) + len(m.value) + 2
	}
	out := append(make([]byte, 0, size), '{')
	for i, m := range b.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.value...)
	}
	b.raw = append(out, '}')
	return b.raw
}

// Append returns the JSON array with the items added at its end. The array may
// be nil or empty; it is copied, not changed.
func Append(array []byte, items ...[]byte) []byte {
	array = bytes.TrimSpace(array)
	if len(array) == 0 {
		array = []byte("[]")
	}
	size := len(array)
	for _, item := range items {
		size += len(item) + 1
	}
	head := bytes.TrimRight(array[:len(array)-1], " \t\r\n")
	out := append(make([]byte, 0, size), head...)
	for _, item := range items {
		if out[len(out)-1] != '[' {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

// AddMember returns the JSON object with one member added at its end.
func AddMember(object []byte, key string, value []byte) []byte {
	object = bytes.TrimSpace(object)
	head := bytes.TrimRight(object[:len(object)-1], " \t\r\n")
	out := append(make([]byte, 0, len(object)+len(key)+len(value)+4), head...)
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	out = append(append(append(out, quote(key)...), ':'), value...)
	return append(out, '}')
}

// quote returns s as a JSON string.
func quote(s string) []byte { return gjson.AppendJSONString(make([]byte, 0, len(s)+2), s) }
