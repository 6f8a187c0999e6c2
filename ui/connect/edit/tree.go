package edit

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

var (
	errNoObject = errors.New("is no object")
	errNoList   = errors.New("is no list")
)

// fits reports whether a step can be made from a value.
func fits(v hujson.ValueTrimmed, step Step) error {
	_, object := v.(*hujson.Object)
	_, list := v.(*hujson.Array)
	switch {
	case step.Where == nil && !object:
		return errNoObject
	case step.Where != nil && !list:
		return errNoList
	}
	return nil
}

func length(v hujson.ValueTrimmed) int {
	switch v := v.(type) {
	case *hujson.Object:
		return len(v.Members)
	case *hujson.Array:
		return len(v.Elements)
	}
	return 0
}

// element is a field's value, or an element.
func element(v hujson.ValueTrimmed, i int) *hujson.Value {
	if o, ok := v.(*hujson.Object); ok {
		return &o.Members[i].Value
	}
	return &v.(*hujson.Array).Elements[i]
}

// before is what stands before a field or an element.
func before(v hujson.ValueTrimmed, i int) *hujson.Extra {
	if o, ok := v.(*hujson.Object); ok {
		return &o.Members[i].Name.BeforeExtra
	}
	return &v.(*hujson.Array).Elements[i].BeforeExtra
}

// after is what stands before the closing bracket.
func after(v hujson.ValueTrimmed) *hujson.Extra {
	if o, ok := v.(*hujson.Object); ok {
		return &o.AfterExtra
	}
	return &v.(*hujson.Array).AfterExtra
}

// find is the index to which a step leads; errAbsent: to none. That it leads to
// several is an error.
func find(v hujson.ValueTrimmed, step Step) (int, error) {
	at := -1
	for i := range length(v) {
		if !leads(v, i, step) {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("%s stands there twice; remove one first", pathText([]Step{step}))
		}
		at = i
	}
	if at < 0 {
		return 0, errAbsent
	}
	return at, nil
}

func leads(v hujson.ValueTrimmed, i int, step Step) bool {
	if o, ok := v.(*hujson.Object); ok {
		name, ok := o.Members[i].Name.Value.(hujson.Literal)
		return ok && step.Where == nil && name.String() == step.Key
	}
	is, err := readJSON(element(v, i).Pack())
	return err == nil && step.matches(is)
}

// add appends a field or an element, with what stands before it. A comma after
// the last one remains a habit.
func add(v hujson.ValueTrimmed, step Step, lead hujson.Extra, value hujson.ValueTrimmed) {
	fresh := hujson.Value{Value: value}
	if n := length(v); n > 0 && element(v, n-1).AfterExtra != nil {
		fresh.AfterExtra = hujson.Extra{}
	}
	switch v := v.(type) {
	case *hujson.Object:
		fresh.BeforeExtra = hujson.Extra(" ")
		v.Members = append(v.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: lead, Value: hujson.Literal(plainJSON(step.Key))}, Value: fresh})
	case *hujson.Array:
		fresh.BeforeExtra = lead
		v.Elements = append(v.Elements, fresh)
	}
}

// remove takes a field or an element out. The comments around it stay.
func remove(v hujson.ValueTrimmed, i int) {
	last := length(v) - 1
	trailing := element(v, last).AfterExtra != nil
	carry := comments(*before(v, i))
	if o, ok := v.(*hujson.Object); ok {
		carry = append(carry, comments(o.Members[i].Name.AfterExtra)...)
		carry = append(carry, comments(o.Members[i].Value.BeforeExtra)...)
	}
	carry = append(carry, comments(element(v, i).AfterExtra)...)
	next := after(v)
	if i < last {
		next = before(v, i+1)
	}
	if line := bytes.LastIndexByte(carry, '\n'); bytes.Contains(carry[line+1:], []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(*next, " \t\r"), []byte("\n")) {
		carry = append(carry, '\n') // the comment ends here
	}
	*next = append(carry, *next...)
	switch v := v.(type) {
	case *hujson.Object:
		v.Members = append(v.Members[:i], v.Members[i+1:]...)
	case *hujson.Array:
		v.Elements = append(v.Elements[:i], v.Elements[i+1:]...)
	}
	keepHabit(v, trailing)
}

// keepHabit has a comma after the last value, or none.
func keepHabit(v hujson.ValueTrimmed, trailing bool) {
	n := length(v)
	if n == 0 {
		return
	}
	last := element(v, n-1)
	switch {
	case trailing && last.AfterExtra == nil:
		last.AfterExtra = hujson.Extra{}
	case !trailing && last.AfterExtra != nil:
		tail := after(v)
		*tail = append(append(hujson.Extra{}, last.AfterExtra...), *tail...)
		last.AfterExtra = nil
	}
}

// comments is what stands between two values without the white space that leads
// to the second; nil when there is nothing else.
func comments(extra hujson.Extra) hujson.Extra {
	return append(hujson.Extra(nil), bytes.TrimRight(extra, " \t\r\n")...)
}
