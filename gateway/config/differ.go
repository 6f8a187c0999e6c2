package config

import (
	"reflect"
	"time"
)

// step is one part of a path into the file: a key, or the index of an element.
type step struct {
	key   string
	index int // used when key is ""
}

type changeKind int

const (
	setValue changeKind = iota
	removeValue
	insertElement // before the element that has the index now
)

// change is one difference between two configurations. Changes are made in
// order: an index counts what the ones before left.
type change struct {
	kind  changeKind
	path  []step
	value reflect.Value
}

// differ lists the changes that lead from one configuration to another.
type differ struct{ changes []change }

func diff(old, new *Config) []change {
	d := &differ{}
	d.structs(reflect.ValueOf(old).Elem(), reflect.ValueOf(new).Elem(), nil, false)
	return d.changes
}

func (d *differ) emit(kind changeKind, path []step, value reflect.Value) {
	d.changes = append(d.changes, change{kind, append([]step(nil), path...), value})
}

// value compares two values. inElement says that an absent key means zero
// there, because no default stands behind it.
func (d *differ) value(old, new reflect.Value, path []step, inElement bool) {
	if equal(old, new, false) {
		return
	}
	switch {
	case new.Kind() == reflect.Pointer && (old.IsNil() || new.IsNil()):
		if new.IsNil() {
			d.emit(removeValue, path, new)
			return
		}
		d.emit(setValue, path, new.Elem())
	case new.Kind() == reflect.Pointer:
		d.value(old.Elem(), new.Elem(), path, inElement)
	case new.Kind() == reflect.Struct && new.Type() != reflect.TypeFor[time.Time]():
		d.structs(old, new, path, inElement)
	case new.Kind() == reflect.Map && old.Len() > 0 && new.Len() > 0:
		d.maps(old, new, path)
	case new.Kind() == reflect.Slice && old.Len() > 0 && new.Len() > 0:
		d.lists(old, new, path)
	case inElement && new.IsZero():
		d.emit(removeValue, path, new)
	default:
		d.emit(setValue, path, new)
	}
}

func (d *differ) structs(old, new reflect.Value, path []step, inElement bool) {
	for i := range new.NumField() {
		field := new.Type().Field(i)
		name := keyOf(field)
		if name == "-" {
			continue
		}
		at := append(path[:len(path):len(path)], step{key: name})
		if keepsEmpty(new.Type(), field) && old.Field(i).IsNil() != new.Field(i).IsNil() {
			kind := setValue
			if new.Field(i).IsNil() {
				kind = removeValue
			}
			d.emit(kind, at, new.Field(i))
			continue
		}
		d.value(old.Field(i), new.Field(i), at, inElement && !saysNo(new.Type(), field))
	}
}

// keepsEmpty reports whether an empty list of the field differs from an absent one.
func keepsEmpty(in reflect.Type, field reflect.StructField) bool {
	return in == reflect.TypeFor[MCPServer]() && field.Name == "Tools"
}

func (d *differ) maps(old, new reflect.Value, path []step) {
	for _, key := range sortedKeys(old) {
		if !new.MapIndex(key).IsValid() {
			d.emit(removeValue, append(path, step{key: key.String()}), old.MapIndex(key))
		}
	}
	for _, key := range sortedKeys(new) {
		at := append(path[:len(path):len(path)], step{key: key.String()})
		before, after := old.MapIndex(key), new.MapIndex(key)
		if !before.IsValid() {
			d.emit(setValue, at, after)
			continue
		}
		if after.Kind() == reflect.Struct {
			d.value(before, after, at, true)
		} else if !equal(before, after, false) {
			d.emit(setValue, at, after)
		}
	}
}

// lists keeps the elements that stay, so that their comments do, too.
func (d *differ) lists(old, new reflect.Value, path []step) {
	at := 0 // index in the list as it is being changed
	i, j := 0, 0
	for _, m := range append(commonElements(old, new), [2]int{old.Len(), new.Len()}) {
		for i < m[0] || j < m[1] {
			here := append(path[:len(path):len(path)], step{index: at})
			switch {
			case i < m[0] && j < m[1] && sameIdentity(old.Index(i), new.Index(j)):
				d.value(old.Index(i), new.Index(j), here, true)
				i, j, at = i+1, j+1, at+1
			case j < m[1] && (i == m[0] || laterIdentity(old, new.Index(j), i, m[0]) < 0):
				d.emit(insertElement, here, new.Index(j))
				j, at = j+1, at+1
			default:
				d.emit(removeValue, here, old.Index(i))
				i++
			}
		}
		i, j, at = m[0]+1, m[1]+1, at+1
	}
}

// commonElements pairs the indexes of a longest common subsequence.
func commonElements(old, new reflect.Value) [][2]int {
	n, m := old.Len(), new.Len()
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	same := func(i, j int) bool { return equal(old.Index(i), new.Index(j), true) }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if same(i, j) {
				best[i][j] = best[i+1][j+1] + 1
			} else {
				best[i][j] = max(best[i+1][j], best[i][j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same(i, j):
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// sameIdentity reports whether two elements are the same thing, changed.
func sameIdentity(a, b reflect.Value) bool {
	id := identity(a)
	return id != "" && id == identity(b)
}

// laterIdentity finds the element of old from i up to end that is the same thing.
func laterIdentity(old, element reflect.Value, i, end int) int {
	for ; i < end; i++ {
		if sameIdentity(old.Index(i), element) {
			return i
		}
	}
	return -1
}

// identity is what an element keeps when it is edited; "" for plain values.
func identity(v reflect.Value) string {
	switch e := v.Interface().(type) {
	case Rule:
		return e.ID
	case CatalogueModel:
		return e.ID
	case Deployment:
		return e.ModelName
	}
	return ""
}

// equal compares two values; an absent list or mapping equals an empty one but
// for the fields of keepsEmpty, and everywhere else when strict.
func equal(a, b reflect.Value, strict bool) bool {
	switch a.Kind() {
	case reflect.Slice:
		if a.Len() != b.Len() || strict && a.IsNil() != b.IsNil() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i), strict) {
				return false
			}
		}
		return true
	case reflect.Map:
		return equalMaps(a, b, strict)
	case reflect.Struct:
		return equalStructs(a, b, strict)
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equal(a.Elem(), b.Elem(), strict)
	default:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
}

func equalMaps(a, b reflect.Value, strict bool) bool {
	if a.Len() != b.Len() || strict && a.IsNil() != b.IsNil() {
		return false
	}
	for _, key := range a.MapKeys() {
		other := b.MapIndex(key)
		if !other.IsValid() || !equal(a.MapIndex(key), other, strict) {
			return false
		}
	}
	return true
}

func equalStructs(a, b reflect.Value, strict bool) bool {
	if at, ok := a.Interface().(time.Time); ok {
		return at.Equal(b.Interface().(time.Time))
	}
	for i := range a.NumField() {
		field := a.Type().Field(i)
		if keyOf(field) == "-" {
			continue
		}
		if keepsEmpty(a.Type(), field) && a.Field(i).IsNil() != b.Field(i).IsNil() {
			return false
		}
		if !equal(a.Field(i), b.Field(i), strict) {
			return false
		}
	}
	return true
}
