package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	maxSchemas = 20_000 // read for one schema, references followed
	maxDepth   = 250    // schemas inside each other
	maxShapes  = 64     // of one node
)

// reader turns a schema into nodes.
type reader struct {
	doc       *document
	unroll    int
	once      bool            // tell what references lead to once
	told      map[string]bool // what they led to
	active    map[string]int  // by place: how often it is being read
	recursive bool
	refers    bool
	left      int // schemas that may still be read, and what else takes time
	nested    int // schemas inside each other, now
	// narrowed counts how often less was read than a schema allows. That is no
	// harm, but for keywords that allow the less the more their parts do.
	narrowed int
	lost     map[string]bool
}

func newReader(doc *document, unroll int, once bool) *reader {
	return &reader{doc: doc, unroll: unroll, once: once, told: map[string]bool{}, active: map[string]int{}, left: maxSchemas, lost: map[string]bool{}}
}

// loosen notes that what is written allows more than the schema at a place does.
func (r *reader) loosen(at, why string) {
	r.lost[cmp.Or(plainPlace(at), "the arguments")+": "+why] = true
}

// looser returns what was noted.
func (r *reader) looser() []string { return slices.Sorted(maps.Keys(r.lost)) }

// plainPlace words a JSON pointer: /properties/a/items becomes a[].
func plainPlace(at string) string {
	var b strings.Builder
	steps := strings.Split(at, "/")
	for i := 1; i < len(steps); i++ {
		switch {
		case steps[i] == "properties" && i+1 < len(steps):
			i++
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(strings.ReplaceAll(strings.ReplaceAll(steps[i], "~1", "/"), "~0", "~"))
		case steps[i] == "items":
			b.WriteString("[]")
		}
	}
	return b.String()
}

// context is what is known of the value that a schema speaks of.
type context struct {
	within []string // the places that led here and speak of the same value
	kinds  []kind   // what it is, by them; nil for anything
}

// read turns the schema at a place into a node.
func (r *reader) read(v any, at string, c context) (*node, error) {
	r.nested++
	defer func() { r.nested-- }()
	switch r.left--; {
	case r.left < 0:
		return nil, errTooLarge
	case r.nested > maxDepth:
		return nil, errTooDeep
	}
	switch v := v.(type) {
	case bool:
		if v {
			return anything(), nil
		}
		return &node{}, nil
	case map[string]any:
		r.active[at]++
		defer func() { r.active[at]-- }()
		c.within = append(slices.Clone(c.within), at)
		p := &passage{reader: r, context: c, schema: v, at: at, before: r.narrowed}
		return p.read()
	}
	r.loosen(at, "what stands there is no schema")
	return anything(), nil
}

// passage is the reading of one schema.
type passage struct {
	*reader
	context
	schema map[string]any
	at     string
	node   *node
	words  []string       // what its description has to say besides
	rules  map[string]any // keywords that are told as they are
	ifs    []condition
	before int // of the reader's narrowed
}

func (p *passage) read() (*node, error) {
	for _, part := range [...]func() error{p.own, p.reference, p.all, p.alternatives, p.conditions, p.negation, p.dependents, p.unevaluated} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	p.tellRules()
	return p.annotated(), nil
}

// at the places of the schemas inside a keyword.
func (p *passage) place(keyword string, step any) string {
	if step == nil {
		return p.at + "/" + keyword
	}
	return p.at + "/" + keyword + "/" + Escape(fmt.Sprint(step))
}

// inner reads a schema of another value: a property's, an item's.
func (p *passage) inner(v any, at string) (*node, error) { return p.reader.read(v, at, context{}) }

// same reads a schema of the same value.
func (p *passage) same(v any, at string) (*node, error) {
	c := context{within: p.within, kinds: p.kinds}
	if !p.node.isAnything() {
		c.kinds = []kind{}
		for _, s := range p.node.shapes {
			if !slices.Contains(c.kinds, s.kind) {
				c.kinds = append(c.kinds, s.kind)
			}
		}
	}
	return p.reader.read(v, at, c)
}

// narrow leaves of the node what other allows, too.
func (p *passage) narrow(other *node) { p.node = p.intersect(p.node, other, p.at) }

// lose notes that a keyword is not kept. Its rule is told in words.
func (p *passage) lose(keyword, why string) {
	p.loosen(p.at, why)
	if p.rules == nil {
		p.rules = map[string]any{}
	}
	p.rules[keyword] = p.schema[keyword]
}

// maxRule is how many bytes of rules a description may tell.
const maxRule = 300

// tellRules adds the rules that were lost to the description, as JSON Schema,
// which models read well.
func (p *passage) tellRules() {
	if len(p.rules) == 0 {
		return
	}
	if out := string(encode(p.rules)); len(out) <= maxRule && !strings.Contains(out, `"$ref"`) {
		p.words = append(p.words, "This must fit, too: "+out)
	}
}

// annotated returns the node with the schema's own description and default,
// which stand before those of what it refers to.
func (p *passage) annotated() *node {
	out := *p.node
	if about := p.describe(); about != "" {
		out.about = about
	}
	for _, words := range p.words {
		out.about = strings.TrimSpace(out.about + " " + words)
	}
	if preset := p.schema["default"]; preset != nil {
		out.preset = preset
	}
	return &out
}

// describe returns the description, or a title that says more than the
// property's name.
func (p *passage) describe() string {
	if about, _ := p.schema["description"].(string); strings.TrimSpace(about) != "" {
		return strings.TrimSpace(about)
	}
	title, _ := p.schema["title"].(string)
	title = strings.TrimSpace(title)
	if title == "" || p.at == "" || letters(title) == letters(p.at[strings.LastIndexByte(p.at, '/')+1:]) {
		return ""
	}
	return title
}

// letters leaves what makes two spellings of a name differ out of it.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// reference follows $ref, and those that mean the same where nothing extends a
// schema.
func (p *passage) reference() error {
	for _, keyword := range [...]string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, ok := p.schema[keyword].(string)
		if !ok {
			continue
		}
		target, pointer, err := p.doc.resolve(ref, p.at)
		if err != nil {
			return err
		}
		if slices.Contains(p.within, pointer) {
			return fmt.Errorf("its input schema's reference %q leads back to itself", ref)
		}
		n, err := p.follow(target, pointer)
		if err != nil {
			return err
		}
		p.narrow(n)
	}
	return nil
}

// follow reads what a reference leads to, unless that holds the reference, or
// is told elsewhere and must not be told twice.
func (p *passage) follow(target any, pointer string) (*node, error) {
	p.refers = true
	if p.active[pointer] > 0 {
		p.recursive = true
	}
	name, shown := whatIs(pointer)
	switch {
	case p.active[pointer] > p.unroll:
		p.loosen(p.at, "it holds itself, and is shown to a limited depth")
		p.words = append(p.words, "Nested in the same way.")
		return placeholder(target), nil
	case p.once && (shown || p.told[pointer]):
		p.loosen(p.at, "it is large and told once, elsewhere")
		p.words = append(p.words, "Like "+name+".")
		return placeholder(target), nil
	}
	n, err := p.same(target, pointer)
	if err == nil && p.once {
		p.told[pointer] = true
		named := *n
		named.about = strings.TrimSpace(name + ". " + n.about)
		n = &named
	}
	return n, err
}

// whatIs names what a reference leads to, and tells whether it is a part of the
// arguments rather than a definition apart.
func whatIs(pointer string) (name string, shown bool) {
	if strings.Contains(pointer, "/$defs/") || strings.Contains(pointer, "/definitions/") {
		return pointer[strings.LastIndexByte(pointer, '/')+1:], false
	}
	return cmp.Or(plainPlace(pointer), "the whole"), true
}

// placeholder is what stands for a schema that is not shown again: values of its types.
func placeholder(target any) *node {
	schema, _ := target.(map[string]any)
	n := &node{}
	for _, k := range declaredKinds(schema) {
		n.shapes = append(n.shapes, (&shape{kind: k, props: map[string]*node{}}).settle())
	}
	if len(n.shapes) == 0 {
		n.shapes = anything().shapes
	}
	return n
}

// all narrows by each schema of allOf. Their conditions are taken out: they
// speak of what the whole schema says.
func (p *passage) all() error {
	p.noteCondition(p.schema, p.at)
	list, _ := p.schema["allOf"].([]any)
	for i, part := range list {
		at := p.place("allOf", i)
		if schema, ok := part.(map[string]any); ok && p.noteCondition(schema, at) {
			plain := maps.Clone(schema)
			delete(plain, "if")
			part = plain
		}
		n, err := p.same(part, at)
		if err != nil {
			return err
		}
		p.narrow(n)
	}
	return nil
}

// alternatives narrows by anyOf and oneOf.
func (p *passage) alternatives() error {
	for _, keyword := range [...]string{"anyOf", "oneOf"} {
		list, _ := p.schema[keyword].([]any)
		if len(list) == 0 {
			continue
		}
		var nodes []*node
		narrowed := p.narrowed
		for i, part := range list {
			n, err := p.same(part, p.place(keyword, i))
			if err != nil {
				return err
			}
			nodes = append(nodes, n)
		}
		if keyword == "oneOf" && (narrowed != p.narrowed || !allDisjoint(nodes)) {
			p.loosen(p.at, "a value may fit more than one of its forms")
		}
		p.narrow(union(nodes...))
	}
	return nil
}

// number returns the value of a keyword that must be a number.
func (p *passage) number(keyword string) (json.Number, bool) {
	n, ok := p.schema[keyword].(json.Number)
	return n, ok
}
