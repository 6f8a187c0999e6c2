package models

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"

	"pointsman/gateway/nesting"
)

// maxDepth is how deeply a body may nest arrays and objects.
const maxDepth = nesting.Most

// Body is a JSON object kept as it came: the top level is walked once, values
// stay untouched bytes, and only what is Set or Deleted changes. It is not safe
// for concurrent use; Clone is cheap.
type Body struct {
	raw     []byte // the whole document while nothing has changed, else nil
	members []member
}

type member struct {
	key      string   // decoded
	name     []byte   // as written, with quotes
	value    []byte   // as written
	elements [][]byte // of value when it is an array and came so; else nil
}

// ParseBody reads what a client sends: one JSON object as ParseObject takes it,
// in valid UTF-8 and with no key twice, since readers differ on which counts.
func ParseBody(data []byte) (*Body, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the body is not valid UTF-8")
	}
	b, err := ParseObject(data)
	if err != nil {
		return nil, err
	}
	return b, b.checkKeys()
}

// ParseObject checks that data is one JSON object, nested at most 1,000 deep,
// and indexes its top level. It keeps data. Of a key that appears more than once
// the first counts, and Set and Delete leave no other.
func ParseObject(data []byte) (*Body, error) {
	b, end := index(data)
	switch {
	case end == tooDeep:
		return nil, fmt.Errorf("the body nests arrays and objects more than %d deep", maxDepth)
	case end < 0:
		return nil, errors.New("the body is not valid JSON")
	case b == nil:
		return nil, fmt.Errorf("the body must be a JSON object, not %s", jsonKind(gjson.Parse(view(data))))
	}
	return b, nil
}

// Valid reports whether data is JSON, nested at most 1,000 deep.
func Valid(data []byte) bool {
	end := skipValue(data, skipSpace(data, 0), 0)
	return end >= 0 && skipSpace(data, end) == len(data)
}

// WithMember returns object with key set to value, or without key when value is
// empty. What is not an object comes back as it is.
func WithMember(object []byte, key string, value []byte) []byte {
	b, err := ParseObject(object)
	if err != nil {
		return object
	}
	if len(value) == 0 {
		b.Delete(key)
	} else {
		b.Set(key, value)
	}
	return b.Bytes()
}

// index checks that data is JSON and indexes its top level; b is nil when it is
// no object, and end is negative when it is no JSON.
func index(data []byte) (b *Body, end int) {
	begin := skipSpace(data, 0)
	if begin < len(data) && data[begin] == '{' {
		b = &Body{raw: data, members: make([]member, 0, 12)}
		end = skipObject(data, begin, 0, b.append)
	} else {
		end = skipValue(data, begin, 0)
	}
	if end >= 0 && skipSpace(data, end) < len(data) {
		end = malformed
	}
	return b, end
}

// append adds a member as it is written.
func (b *Body) append(name, value []byte, elements [][]byte) {
	key := view(name[1 : len(name)-1])
	if strings.Contains(key, `\`) {
		key = gjson.Parse(view(name)).String()
	}
	b.members = append(b.members, member{key: key, name: name, value: value, elements: elements})
}

// few is how many keys are compared with each other; for more, a map is faster.
const few = 16

// checkKeys refuses an object that has a key twice.
func (b *Body) checkKeys() error {
	seen := map[string]bool{}
	for i, m := range b.members {
		twice := seen[m.key]
		if len(b.members) > few {
			seen[m.key] = true
		} else {
			twice = slices.ContainsFunc(b.members[:i], func(earlier member) bool { return earlier.key == m.key })
		}
		if twice {
			return fmt.Errorf("the key %q appears twice in the body", m.key)
		}
	}
	return nil
}

// view returns data as a string without a copy. Documents are never changed once
// they are parsed, which makes it safe here.
func view(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// Lookup finds a path of gjson's in JSON text without a copy: data must not be
// changed as long as the result, or a string of it, is used.
func Lookup(data []byte, path string) gjson.Result { return gjson.Get(view(data), path) }

// Elements returns the elements of a JSON array as parts of it, without a copy;
// none when it is no array.
func Elements(array []byte) [][]byte {
	elements, _ := elementsAt(array, skipSpace(array, 0), 0)
	return elements
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

func (b *Body) position(key string) int {
	for i := range b.members {
		if b.members[i].key == key {
			return i
		}
	}
	return -1
}

func (b *Body) find(key string) *member {
	if i := b.position(key); i >= 0 {
		return &b.members[i]
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

// Elements returns the elements of the array at a top-level key as parts of it;
// none when it is no array.
func (b *Body) Elements(key string) [][]byte {
	m := b.find(key)
	switch {
	case m == nil:
		return nil
	case m.elements != nil:
		return slices.Clone(m.elements)
	default:
		return Elements(m.value)
	}
}

// Has reports whether the key is there, also when its value is null.
func (b *Body) Has(key string) bool { return b.find(key) != nil }

// Set gives key a value, which must be valid JSON, in its place or at the end.
func (b *Body) Set(key string, value []byte) {
	b.raw = nil
	i := b.position(key)
	if i < 0 {
		b.members = append(b.members, member{key: key, name: Quote(key), value: value})
		return
	}
	b.members[i].value, b.members[i].elements = value, nil
	b.deleteFrom(i+1, key)
}

// SetString gives key a string value.
func (b *Body) SetString(key, value string) { b.Set(key, Quote(value)) }

// Delete removes key.
func (b *Body) Delete(key string) { b.deleteFrom(0, key) }

// deleteFrom removes the members with that key from index from on.
func (b *Body) deleteFrom(from int, key string) {
	tail := b.members[from:]
	kept := slices.DeleteFunc(tail, func(m member) bool { return m.key == key })
	if len(kept) < len(tail) {
		b.members, b.raw = b.members[:from+len(kept)], nil
	}
}

// Clone returns a body that can be changed without changing b.
func (b *Body) Clone() *Body {
	return &Body{raw: b.raw, members: append(make([]member, 0, len(b.members)+4), b.members...)}
}

// Bytes returns the document: what came when nothing changed, else a new one
// with the untouched values copied as they were. It must not be changed.
func (b *Body) Bytes() []byte {
	if b.raw == nil {
		pieces, size := b.pieces()
		b.raw = pieces[0]
		if len(pieces) > 1 {
			b.raw = append(make([]byte, 0, size), b.raw...)
			for _, piece := range pieces[1:] {
				b.raw = append(b.raw, piece...)
			}
		}
	}
	return b.raw
}

// large is the length from which a value is a piece of its own.
const large = 16 << 10

// pieces returns the document and its length, in pieces, so that large values
// need not be copied. They must not be changed.
func (b *Body) pieces() (pieces [][]byte, size int64) {
	if b.raw != nil {
		return [][]byte{b.raw}, int64(len(b.raw))
	}
	room := 2
	for _, m := range b.members {
		room += len(m.name) + 2
		if len(m.value) < large {
			room += len(m.value)
		}
	}
	out, begin := append(make([]byte, 0, room), '{'), 0
	for i, m := range b.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, m.name...), ':')
		if len(m.value) < large {
			out = append(out, m.value...)
			continue
		}
		pieces, begin = append(pieces, out[begin:], m.value), len(out)
		size += int64(len(m.value))
	}
	out = append(out, '}')
	return append(pieces, out[begin:]), size + int64(len(out))
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
	out = append(append(append(out, Quote(key)...), ':'), value...)
	return append(out, '}')
}

// Quote returns s as a JSON string.
func Quote(s string) []byte { return gjson.AppendJSONString(make([]byte, 0, len(s)+2), s) }
