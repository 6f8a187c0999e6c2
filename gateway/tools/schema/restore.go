package schema

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// Restore maps the arguments of a call as the fitted schema has them to what the
// original means: renamed properties get their names back, and arguments that
// had to be wrapped are taken out. Arguments that follow the original already
// come back as they are, as do values: numbers and the order of keys stay as
// written. args must be a JSON object with no key twice. It fails when a property
// is given under both its names.
func (f *Fitted) Restore(args json.RawMessage) (json.RawMessage, error) {
	object := gjson.ParseBytes(args)
	if f.wrapper != "" {
		if members := object.Map(); len(members) == 1 && members[f.wrapper].IsObject() {
			object = members[f.wrapper]
			args = json.RawMessage(object.Raw)
		}
	}
	if len(f.names) == 0 {
		return args, nil
	}
	return f.rename(make([]byte, 0, len(args)), object)
}

// rename appends v to out with the original names.
func (f *Fitted) rename(out []byte, v gjson.Result) ([]byte, error) {
	open, end := byte('{'), byte('}')
	switch {
	case v.IsArray():
		open, end = '[', ']'
	case !v.IsObject():
		return append(out, v.Raw...), nil
	}
	var err error
	given := map[string]bool{}
	out = append(out, open)
	first := true
	v.ForEach(func(key, value gjson.Result) bool {
		if !first {
			out = append(out, ',')
		}
		first = false
		if v.IsObject() {
			if out, err = f.renameKey(out, key, given); err != nil {
				return false
			}
		}
		out, err = f.rename(out, value)
		return err == nil
	})
	return append(out, end), err
}

func (f *Fitted) renameKey(out []byte, key gjson.Result, given map[string]bool) ([]byte, error) {
	name, renamed := f.names[key.String()]
	if !renamed {
		name = key.String()
	}
	if given[name] {
		return nil, fmt.Errorf("arguments hold the property %s twice, as %q too: give it once", strconv.Quote(name), key.String())
	}
	given[name] = true
	if !renamed {
		return append(append(out, key.Raw...), ':'), nil
	}
	return append(append(out, encode(name)...), ':'), nil
}
