package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pointsman/gateway/tools"
)

func defs(t testing.TB, names ...string) []tools.Definition {
	t.Helper()
	var list []tools.Definition
	for _, name := range names {
		server, tool, _ := strings.Cut(name, "/")
		list = append(list, parseFor(t, server, map[string]any{"name": tool, "description": "Does " + tool + "."}, false))
	}
	return list
}

func offered(c *tools.Catalogue) string {
	var names []string
	for _, e := range c.Offered() {
		names = append(names, e.Offered)
	}
	return strings.Join(names, " ")
}

func TestCatalogueOffers(t *testing.T) {
	all := []string{"b/two", "a/two", "a/one", "b/gpt6_chat", "b/gateway_x"}
	for _, tt := range []struct {
		name     string
		settings tools.Settings
		want     string
	}{
		{"everything but our own, in order", tools.Settings{}, "a__one a__two b__two"},
		{"nil allows all", tools.Settings{PerServer: map[string][]string{"a": nil}}, "a__one a__two b__two"},
		{"empty allows none", tools.Settings{PerServer: map[string][]string{"a": {}}}, "b__two"},
		{"a star allows all", tools.Settings{PerServer: map[string][]string{"a": {"*"}}}, "a__one a__two b__two"},
		{"a server's bare names", tools.Settings{PerServer: map[string][]string{"a": {"one"}}}, "a__one b__two"},
		{"a server's offered names", tools.Settings{PerServer: map[string][]string{"a": {"a__two"}}}, "a__two b__two"},
		{"allowed by bare name", tools.Settings{Allowed: []string{"two"}}, "a__two b__two"},
		{"allowed by offered name", tools.Settings{Allowed: []string{"a__two"}}, "a__two"},
		{"allowed by pattern", tools.Settings{Allowed: []string{"a__*"}}, "a__one a__two"},
		{"both lists count", tools.Settings{Allowed: []string{"two"}, PerServer: map[string][]string{"a": {"one"}}}, "b__two"},
		{"an empty entry allows nothing", tools.Settings{Allowed: []string{""}}, ""},
		{"prefixes", tools.Settings{Prefix: map[string]string{"a": "x", "b": "y"}}, "x__one x__two y__two"},
		{"no prefix", tools.Settings{Prefix: map[string]string{"a": ""}}, "one two b__two"},
		{"a clash sets both aside", tools.Settings{Prefix: map[string]string{"a": "", "b": ""}}, "one"},
		{"the limit", tools.Settings{MaxOffered: 2}, "a__one b__two"},
		{"our own server", tools.Settings{Self: func(d tools.Definition) bool { return d.Server == "a" }}, "b__two"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tools.NewCatalogue(defs(t, all...), tt.settings)
			if got := offered(c); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for _, e := range c.Entries() {
				if (e.Missing == "") != slices.Contains(c.Offered(), e) {
					t.Errorf("%s: missing because %q", e.Offered, e.Missing)
				}
			}
		})
	}
}

func TestCatalogueSaysWhy(t *testing.T) {
	c := tools.NewCatalogue(defs(t, "a/x", "b/x", "c/gpt6_chat", "c/y", "c/z"), tools.Settings{
		Prefix: map[string]string{"a": "", "b": ""}, PerServer: map[string][]string{"c": {"y", "gpt6_chat"}}, Allowed: []string{"x", "q", "gpt6_chat", "z"},
	})
	want := []struct{ tool, why string }{
		{"a/x", `tool "x" of server "a" and tool "x" of server "b"`},
		{"b/x", `tool "x" of server "a" and tool "x" of server "b"`},
		{"c/gpt6_chat", "reserved"},
		{"c/y", "tools.allowed"},
		{"c/z", "mcpServers.c.tools"},
	}
	for i, e := range c.Entries() {
		if got := e.Server + "/" + e.Name; got != want[i].tool || !strings.Contains(e.Missing, want[i].why) || e.Allowed {
			t.Errorf("%s: allowed %v, missing because %q, want %q", got, e.Allowed, e.Missing, want[i].why)
		}
	}
}

func TestCatalogueLookup(t *testing.T) {
	c := tools.NewCatalogue(defs(t, "a/one", "a/two", "b/two", "evil/a__gone", "x/same", "y/same"),
		tools.Settings{Prefix: map[string]string{"x": "", "y": ""}, MaxOffered: 1})
	for _, tt := range []struct{ name, lookup, want string }{
		{"offered name", "a__two", "a/two"},
		{"unique bare name", "one", "a/one"},
		{"shared bare name", "two", ""},
		{"unknown", "three", ""},
		{"empty", "", ""},
		{"name two tools would share", "same", ""},
		{"bare name like an offered one", "a__gone", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if e := c.Lookup(tt.lookup); e != nil {
				got = e.Server + "/" + e.Name
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if e := c.Lookup("a__two"); e == nil || !e.Allowed || !strings.Contains(e.Missing, "max_offered") {
		t.Errorf("a tool over the limit: %+v", e)
	}
}

func TestCatalogueDuplicateKeepsTheFirst(t *testing.T) {
	list := []tools.Definition{
		parse(t, map[string]any{"name": "x", "description": "first"}),
		parse(t, map[string]any{"name": "x", "description": "second"}),
	}
	c := tools.NewCatalogue(list, tools.Settings{})
	if len(c.Entries()) != 1 || c.Entries()[0].Description != "first" || !strings.Contains(c.Entries()[0].Notice, "more than once") {
		t.Errorf("got %+v", c.Entries())
	}
}

func TestEntryFunction(t *testing.T) {
	for _, tt := range []struct{ name, tool, want string }{
		{"keys sorted", `{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"b":{},"a":{}}}}`,
			`{"type":"function","function":{"name":"srv__x","description":"d","parameters":{"properties":{"a":{},"b":{}},"type":"object"}}}`},
		{"no schema", `{"name":"x"}`,
			`{"type":"function","function":{"name":"srv__x","parameters":{"properties":{},"type":"object"}}}`},
		{"no type", `{"name":"x","inputSchema":{"properties":{}}}`,
			`{"type":"function","function":{"name":"srv__x","parameters":{"properties":{},"type":"object"}}}`},
		{"no properties", `{"name":"x","inputSchema":{"type":"object"}}`,
			`{"type":"function","function":{"name":"srv__x","parameters":{"properties":{},"type":"object"}}}`},
		{"title for a description", `{"name":"x","title":"T"}`,
			`{"type":"function","function":{"name":"srv__x","description":"T","parameters":{"properties":{},"type":"object"}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			def, err := tools.Parse("srv", json.RawMessage(tt.tool), false)
			if err != nil {
				t.Fatal(err)
			}
			e := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{}).Lookup("x")
			if string(e.Function) != tt.want {
				t.Errorf("got  %s\nwant %s", e.Function, tt.want)
			}
		})
	}
}

func TestEntryFunctionCutsTheDescription(t *testing.T) {
	def := parse(t, map[string]any{"name": "x", "description": strings.Repeat("é", 2000)})
	e := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{}).Lookup("x")
	var f struct {
		Function struct{ Description string }
	}
	if err := json.Unmarshal(e.Function, &f); err != nil {
		t.Fatal(err)
	}
	if got := len([]rune(f.Function.Description)); got != 1024 {
		t.Errorf("the description has %d characters", got)
	}
}

func TestEntryWithoutUsableSchema(t *testing.T) {
	list := []tools.Definition{
		parse(t, map[string]any{"name": "list", "inputSchema": []int{1}}),
		parse(t, map[string]any{"name": "lookahead", "inputSchema": map[string]any{"type": "object",
			"properties": map[string]any{"a": map[string]any{"pattern": "(?!x)"}}}}),
	}
	c := tools.NewCatalogue(list, tools.Settings{})
	if e := c.Lookup("list"); !strings.Contains(e.Missing, "not a JSON object") {
		t.Errorf("a schema that is a list: missing because %q", e.Missing)
	}
	e := c.Lookup("lookahead")
	if e.Missing != "" || e.Validate(json.RawMessage(`{"a":1}`)) != nil || !strings.Contains(e.Row().Notice, "not validated") {
		t.Errorf("a pattern that cannot be matched: missing because %q, notice %q", e.Missing, e.Row().Notice)
	}
}

// A tool that cannot be fitted is set aside alone.
func TestCatalogueSetsAside(t *testing.T) {
	list := append(defs(t, "a/one", "b/two"), parse(t, map[string]any{"name": "broken", "inputSchema": map[string]any{"$ref": "https://example.com/schema"}}))
	c := tools.NewCatalogue(list, tools.Settings{})
	if got := offered(c); got != "a__one b__two" {
		t.Errorf("offered are %s", got)
	}
	if e := c.Lookup("broken"); e.Cause != tools.SetAside || !strings.HasPrefix(e.Missing, "set aside: ") || !strings.Contains(e.Missing, "nothing is fetched") || e.Function != nil {
		t.Errorf("got %q: %q", e.Cause, e.Missing)
	}
}

// An enum that a server could not fill must not make the property unusable.
func TestEntryWithAnEmptyEnum(t *testing.T) {
	def := parse(t, map[string]any{"name": "x", "inputSchema": map[string]any{"type": "object", "required": []string{"a"},
		"properties": map[string]any{"a": map[string]any{"type": "string", "enum": []string{}}}}})
	e := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{}).Lookup("x")
	if err := e.Validate(json.RawMessage(`{"a":"y"}`)); err != nil {
		t.Error(err)
	}
	if e.Validate(json.RawMessage(`{"a":1}`)) == nil {
		t.Error("the rest of the schema does not count")
	}
	if len(e.Looser()) != 1 || !strings.Contains(e.Looser()[0], "a: its enum is empty") {
		t.Errorf("told is %q", e.Looser())
	}
}

func TestEntryRestore(t *testing.T) {
	def := parse(t, map[string]any{"name": "x", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"$match": map[string]any{"type": "integer"}}}})
	c := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{PerServer: map[string][]string{"other": {}}})
	e := c.Lookup("x")
	var f struct {
		Function struct {
			Parameters struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(e.Function, &f); err != nil {
		t.Fatal(err)
	}
	for name := range f.Function.Parameters.Properties {
		got, err := e.Restore(json.RawMessage(`{"` + name + `":7}`))
		if err != nil || string(got) != `{"$match":7}` || e.Validate(got) != nil {
			t.Errorf("%s is mapped to %s, %v", name, got, err)
		}
	}
	if got, err := (&tools.Entry{}).Restore(json.RawMessage(`{"a":1}`)); err != nil || string(got) != `{"a":1}` {
		t.Errorf("an empty entry maps to %s, %v", got, err)
	}
}

// What was worked out of a definition is kept as long as it does not change.
func TestCatalogueFitsOnce(t *testing.T) {
	tool := func(about string) tools.Definition {
		return parse(t, map[string]any{"name": "x", "description": about, "inputSchema": map[string]any{"type": "object",
			"properties": map[string]any{"a": map[string]any{"enum": []string{}}}}})
	}
	first := tools.NewCatalogue([]tools.Definition{tool("One.")}, tools.Settings{})
	same := tools.NewCatalogue([]tools.Definition{tool("One.")}, tools.Settings{Previous: first})
	changed := tools.NewCatalogue([]tools.Definition{tool("Two.")}, tools.Settings{Previous: same})
	notes := func(c *tools.Catalogue) *string { return &c.Lookup("x").Looser()[0] }
	if notes(first) != notes(same) {
		t.Error("an unchanged definition was fitted again")
	}
	if notes(same) == notes(changed) || !strings.Contains(string(changed.Lookup("x").Function), "Two.") {
		t.Error("a changed definition was not fitted again")
	}
}

func TestEntryJSON(t *testing.T) {
	c := tools.NewCatalogue(defs(t, "a/get_x", "a/gpt6_x"), tools.Settings{})
	got, err := json.Marshal(c.Entries())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`[{"name":"a__get_x","tool":"get_x","server":"a","class":"read","risky":false,"changed":false,"allowed":true,`+
		`"evidence":["name reads: “get”","description begins with “get”"],"missing":null,"cause":"","looser":[],"title":"","description":"Does get_x.","definition":%q,"notice":""},`,
		c.Entries()[0].Hash)
	if !strings.HasPrefix(string(got), want) || !strings.Contains(string(got), `"missing":"its name is reserved for the gateway's own tools","cause":"reserved"`) {
		t.Errorf("got %s\nwant %s…", got, want)
	}
}

func BenchmarkNewCatalogue1000(b *testing.B) {
	var list []tools.Definition
	for i := range 1000 {
		list = append(list, parseFor(b, fmt.Sprintf("server%d", i%20), map[string]any{
			"name":        fmt.Sprintf("get_thing_number_%d", i),
			"description": strings.Repeat("Returns what is known about a thing. ", 10),
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{
				"id":     map[string]any{"type": "string", "description": strings.Repeat("x", 300)},
				"action": map[string]any{"enum": []string{"get", "list", "delete"}},
			}},
		}, false))
	}
	c := newClassifier(b, nil, nil)
	for b.Loop() {
		if len(tools.NewCatalogue(list, tools.Settings{Classifier: c}).Offered()) != 1000 {
			b.Fatal("not all offered")
		}
	}
}
