package config

import (
	"reflect"
	"time"
)

// The words for what decides a setting in the place of the file.
const (
	byEnvironment = "set by the environment"
	byFlag        = "set by a flag of the command line"
)

// decided names the settings that flags or the environment decide, whatever the
// file says, with words for which of them.
func (s *Store) decided(file *Config) map[string]string {
	set := map[string]string{}
	decidedBy(file, func(c *Config) {
		env := environment{lookup: s.env.lookup, goos: s.env.goos, secrets: map[string]string{}, // a pass that nobody is told of
			dotenv: dotEnv{path: s.env.dotenv.path, values: s.env.dotenv.values}}
		_ = env.apply(c) // what it cannot read decides nothing, and was reported when it was loaded
	}, func(path string) { set[path] = byEnvironment })
	if s.flags != nil {
		decidedBy(file, s.flags, func(path string) { set[path] = byFlag })
	}
	return set
}

// decidedBy tells what overlay decides. It is laid over the file's settings and
// over others that all differ: what comes out the same does not come from below.
func decidedBy(file *Config, overlay func(*Config), note func(path string)) {
	other := file.Clone()
	makeDiffer(reflect.ValueOf(other).Elem())
	over, overOther := file.Clone(), other.Clone()
	overlay(over)
	overlay(overOther)
	layers{
		reflect.ValueOf(file).Elem(), reflect.ValueOf(other).Elem(), reflect.ValueOf(over).Elem(), reflect.ValueOf(overOther).Elem(),
	}.compare("", note)
}

// layers are the same place in four configurations: the file's, one that
// differs from it everywhere, and both with an overlay.
type layers struct{ file, other, over, overOther reflect.Value }

func (l layers) each(at func(v reflect.Value) reflect.Value) layers {
	return layers{at(l.file), at(l.other), at(l.over), at(l.overOther)}
}

func (l layers) compare(path string, note func(string)) {
	switch {
	case l.file.Kind() == reflect.Struct && l.file.Type() != reflect.TypeFor[time.Time]():
		for i := range l.file.NumField() {
			if key := keyOf(l.file.Type().Field(i)); key != "-" {
				l.each(func(v reflect.Value) reflect.Value { return v.Field(i) }).compare(join(path, key), note)
			}
		}
	case l.file.Kind() == reflect.Map:
		l.compareMaps(path, note)
	case reflect.DeepEqual(l.over.Interface(), l.overOther.Interface()) && !reflect.DeepEqual(l.file.Interface(), l.other.Interface()):
		note(path)
	}
}

// compareMaps tells of entries that the overlay adds or takes away as a whole.
func (l layers) compareMaps(path string, note func(string)) {
	for _, key := range sortedKeys(l.file) {
		entry := l.each(func(v reflect.Value) reflect.Value { return v.MapIndex(key) })
		if !entry.over.IsValid() || !entry.overOther.IsValid() {
			note(join(path, key.String()))
			continue
		}
		entry.compare(join(path, key.String()), note)
	}
	for _, key := range sortedKeys(l.over) {
		if !l.file.MapIndex(key).IsValid() {
			note(join(path, key.String()))
		}
	}
}

// makeDiffer changes every single value below v. What no overlay ever sets is
// left as it is: times, and what is nil.
func makeDiffer(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "1")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				makeDiffer(v.Field(i))
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			element := reflect.New(v.Type().Elem()).Elem()
			element.Set(v.MapIndex(key))
			makeDiffer(element)
			v.SetMapIndex(key, element)
		}
	}
}
