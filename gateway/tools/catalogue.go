package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Settings say how definitions become a Catalogue.
type Settings struct {
	Allowed    []string                  // tools.allowed: names or patterns over all servers; empty allows all
	PerServer  map[string][]string       // by server, its mcpServers[].tools: nil or absent allows all, empty none
	Prefix     map[string]string         // by server; absent: the server's name; "": bare tool names
	Classifier *Classifier               // nil: the embedded vocabulary alone
	MaxOffered int                       // how many tools a model is offered at once; 0: no limit
	Self       func(def Definition) bool // reports whether a tool is our own, reached through another; may be nil
	Previous   *Catalogue                // the one before: what it worked out of definitions that did not change is kept; may be nil
	Own        bool                      // the tools are the gateway's own: they keep their names, which no server's tool may have
}

// Catalogue is an immutable snapshot of every connected server's tools.
type Catalogue struct {
	entries []*Entry
	usable  []*Entry // those that a model can be offered
	offered []*Entry // those of them that it is when nothing says which
	limit   int      // of those offered at once; 0: none
	index   func() *index
	byName  map[string]*Entry // offered names
	byBare  map[string]*Entry // bare names; nil where two servers share one
}

// NewCatalogue judges and names the tools. It keeps neither slice nor maps of
// its arguments. It never fails: a tool that cannot be offered says why in
// Entry.Missing. Without a Classifier, and when the embedded vocabulary cannot
// be read, every tool is risky.
func NewCatalogue(defs []Definition, s Settings) *Catalogue {
	defs = slices.Clone(defs)
	slices.SortStableFunc(defs, func(a, b Definition) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
	})
	b := newBuilder(s)
	c := &Catalogue{byName: make(map[string]*Entry, len(defs)), byBare: make(map[string]*Entry, len(defs))}
	for i := range defs {
		if last := len(c.entries) - 1; last >= 0 && sameTool(c.entries[last], &defs[i]) {
			c.entries[last].Notice = "the server lists this tool more than once; the first is used"
			continue
		}
		c.entries = append(c.entries, b.entry(defs[i]))
	}
	c.indexNames()
	c.offer(s.MaxOffered)
	return c
}

func sameTool(e *Entry, def *Definition) bool {
	return e.Server == def.Server && e.Name == def.Name
}

// indexNames fills the names and sets aside tools that would share one.
func (c *Catalogue) indexNames() {
	for _, e := range c.entries {
		c.indexBare(e)
		first := c.byName[e.Offered]
		if first == nil {
			c.byName[e.Offered] = e
			continue
		}
		refuse(first, first, e)
		refuse(e, first, e)
	}
	for _, e := range c.entries {
		if first := c.byName[e.Offered]; first != nil && first.shared {
			delete(c.byName, e.Offered)
		}
	}
}

// indexBare notes a bare name. One that reads like an offered name is left out:
// it could stand in for another server's tool.
func (c *Catalogue) indexBare(e *Entry) {
	if strings.Contains(e.Name, nameSeparator) {
		return
	}
	if _, shared := c.byBare[e.Name]; shared {
		c.byBare[e.Name] = nil
		return
	}
	c.byBare[e.Name] = e
}

// refuse sets e aside because a and b would share its name.
func refuse(e, a, b *Entry) {
	e.shared = true
	e.Allowed = false
	e.Cause = SharedName
	e.Missing = fmt.Sprintf("tool %q of server %q and tool %q of server %q would share the name %q: give one server another prefix",
		a.Name, a.Server, b.Name, b.Server, e.Offered)
}

// offer finds which tools are usable, and which are offered when nothing says
// what they are needed for.
func (c *Catalogue) offer(limit int) {
	for _, e := range c.entries {
		if e.Missing == "" {
			c.usable = append(c.usable, e)
		}
	}
	c.limit, c.offered, c.index = limit, c.usable, sync.OnceValue(func() *index { return newIndex(c.usable) })
	if !c.Limited() {
		return
	}
	c.offered = c.OfferFor(Conversation{})
	for _, e := range c.usable {
		if !slices.Contains(c.offered, e) {
			e.Cause = Beyond
			e.Missing = fmt.Sprintf("there are %d tools, and %d are offered at once (tools.max_offered): this one is when the conversation is about it, or when the model looks for it with %s",
				len(c.usable), limit, FindTools)
		}
	}
}

// Lookup returns the tool a model or user means: by its offered name, or by its
// bare name when only one server has such a tool. It returns nil for none, and
// for a name that two tools would share. The entry may not be allowed or not be
// offered: see Entry.Allowed and Entry.Missing.
func (c *Catalogue) Lookup(name string) *Entry {
	if e := c.byName[name]; e != nil {
		return e
	}
	return c.byBare[name]
}

// Named returns every tool of a name, be it as it is offered or as its server has
// it, also those that may not be called.
func (c *Catalogue) Named(name string) []*Entry {
	var list []*Entry
	for _, e := range c.entries {
		if e.Offered == name {
			list = append(list, e)
		}
	}
	for _, e := range c.entries {
		if e.Name == name && e.Offered != name {
			list = append(list, e)
		}
	}
	return list
}

// Entries returns every tool, by server and then name. The slice is shared.
func (c *Catalogue) Entries() []*Entry { return c.entries }

// Offered returns the tools a model is offered when nothing says which it needs
// (see OfferFor), in the order of Entries. The slice is shared.
func (c *Catalogue) Offered() []*Entry { return c.offered }
