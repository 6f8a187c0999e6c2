package model

import (
	"cmp"
	"strings"

	"pointsman/gateway/config"
)

// Faults say what is wrong with the fields of a form, by the field's name.
type Faults map[string]string

// add marks fields with the problems of the entry at a path; field names the one
// that shows what stands at a place in the entry. A field that is marked already
// stays as it is; warnings mark nothing.
func (to Faults) add(at string, problems []config.Problem, field func(place string) string) {
	for _, p := range problems {
		place, ours := strings.CutPrefix(p.Path, at)
		if p.Warning || !ours || place != "" && place[0] != '.' {
			continue
		}
		if name := field(strings.TrimPrefix(place, ".")); to[name] == "" {
			to[name] = problemWords(p)
		}
	}
}

// Draft is what the form of an entry, a server's or a provider's, comes to.
type Draft[Entry any] struct {
	Name    string
	Was     string // the saved entry's name; "" when there is none
	Entry   Entry
	Secrets map[string]string // to be kept in the keychain, by name
	Faults  Faults            // empty when it can be saved

	section string // of the file
	base    Entry  // that the form was made of
}

func newDraft[Entry any](section, name, was string, base Entry) Draft[Entry] {
	return Draft[Entry]{Name: name, Was: was, Entry: base, Secrets: map[string]string{}, Faults: Faults{}, section: section, base: base}
}

// Edits are the changes of the file that save the draft.
func (d Draft[Entry]) Edits() []config.Edit {
	edits := []config.Edit{{Path: []string{d.section, d.Name}, Value: d.Entry}}
	if d.Was != "" && d.Was != d.Name {
		edits = append(edits, config.Edit{Path: []string{d.section, d.Was}, Remove: true})
	}
	return edits
}

// Place is the name of the entry that saving the draft takes the place of.
func (d Draft[Entry]) Place() string { return cmp.Or(d.Was, d.Name) }

// Untouched reports whether the file's entry at Place, by now, is the one that
// the draft was made from: then saving the draft takes nothing of anybody's away.
func (d Draft[Entry]) Untouched(now Entry, there bool) bool {
	if d.Was == "" {
		return !there
	}
	return there && encoded(now) == encoded(d.base)
}

// ServerDraft is what a ServerForm comes to.
type ServerDraft = Draft[config.MCPServer]

// ProviderDraft is what a ProviderForm comes to.
type ProviderDraft = Draft[config.Provider]
