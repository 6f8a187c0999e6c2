package config

import (
	"reflect"
	"sync"
)

// removed are the entries that edits have taken out of the file since the
// program started, so that one who takes a removal back need not know the
// secrets that stood in the entry.
type removed struct {
	mu      sync.Mutex                  // guards the field below
	entries map[[2]string]reflect.Value // by section and name
}

// isEntry reports whether an edit is of an entry with a name as a whole.
func (e Edit) isEntry() bool {
	return len(e.Path) == 2 && (e.Path[0] == "mcpServers" || e.Path[0] == "providers")
}

// entryAt is the entry that an edit is of; not valid where there is none.
func entryAt(c *Config, e Edit) reflect.Value {
	section := reflect.ValueOf(c.MCPServers)
	if e.Path[0] == "providers" {
		section = reflect.ValueOf(c.Providers)
	}
	return section.MapIndex(reflect.ValueOf(e.Path[1]))
}

// note keeps an entry that an edit is about to remove.
func (r *removed) note(c *Config, e Edit) {
	if !e.Remove || !e.isEntry() {
		return
	}
	if entry := entryAt(c, e); entry.IsValid() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.entries == nil {
			r.entries = map[[2]string]reflect.Value{}
		}
		r.entries[[2]string(e.Path)] = deepCopy(entry)
	}
}

// restore returns an edit that adds an entry with the secrets that are masked in
// it as they were when it was removed.
func (r *removed) restore(c *Config, e Edit) Edit {
	if e.Remove || !e.isEntry() || entryAt(c, e).IsValid() {
		return e
	}
	r.mu.Lock()
	before, known := r.entries[[2]string(e.Path)]
	r.mu.Unlock()
	if !known {
		return e
	}
	text, err := e.text()
	fresh := reflect.New(before.Type())
	if err != nil || Decode(text, fresh.Interface()) != nil {
		return e // applying it says what is wrong
	}
	keepMasked(before, fresh.Elem())
	e.Value = fresh.Elem().Interface()
	return e
}
