package shell

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"pointsman/assets"
)

// entry says with which arguments a command only looks. See assets/shell.yaml.
type entry struct {
	Flags    list              `yaml:"flags"`
	Values   list              `yaml:"values"`
	Readers  list              `yaml:"readers"`
	Patterns list              `yaml:"patterns"`
	Deep     list              `yaml:"deep"`
	Words    bool              `yaml:"words"`
	Numeric  bool              `yaml:"numeric"`
	Free     bool              `yaml:"free"` // what is no flag of its is text
	Operands string            `yaml:"operands"`
	Most     int               `yaml:"most"`
	Here     bool              `yaml:"here"`
	Check    string            `yaml:"check"`
	Like     string            `yaml:"like"`
	Sub      map[string]*entry `yaml:"sub"`
}

// list is words, written as one text.
type list []string

// UnmarshalYAML reads the words.
func (l *list) UnmarshalYAML(node *yaml.Node) error {
	var text string
	if err := node.Decode(&text); err != nil {
		return err
	}
	*l = strings.Fields(text)
	return nil
}

func (l list) has(word string) bool { return slices.Contains(l, word) }

// commands returns the table, which is read when it is first needed.
var commands = sync.OnceValue(func() map[string]*entry {
	table := map[string]*entry{}
	dec := yaml.NewDecoder(bytes.NewReader(assets.ShellYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&table); err != nil {
		panic(fmt.Sprintf("reading the embedded shell.yaml: %v", err)) // a fault of the build
	}
	follow(table)
	return table
})

// follow puts what `like` names in its place.
func follow(table map[string]*entry) {
	for name, e := range table {
		if e.Like != "" {
			table[name] = table[e.Like]
		}
		follow(e.Sub)
	}
}
