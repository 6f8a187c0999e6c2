package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pointsman/gateway/tools"
)

func TestSchemaValidate(t *testing.T) {
	const schema = `{"type":"object","required":["path"],"additionalProperties":false,"properties":{
		"path":{"type":"string","maxLength":5},"n":{"type":"integer","maximum":9007199254740993},
		"list":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"number"}}}},
		"mode":{"enum":["a","b"]},"child":{"$ref":"#/$defs/node"}},
		"$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"}}}}}`
	s, err := tools.CompileSchema(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, args, err string }{
		{"valid", `{"path":"x","n":3,"list":[{"id":1.5}],"mode":"a"}`, ""},
		{"recursive reference", `{"path":"x","child":{"next":{"next":{}}}}`, ""},
		{"missing", `{"n":1,"mode":"a"}`, "arguments.path: required; got mode, n"},
		{"nothing given", ``, "arguments.path: required; got no arguments"},
		{"missing inside", `{"path":"x","list":[{}]}`, "arguments.list[].id: required"},
		{"wrong type", `{"path":7}`, `arguments.path: type: 7 has type "integer", want "string"`},
		{"wrong type inside", `{"path":"x","list":[{"id":"a"}]}`, `arguments.list[].id: type`},
		{"too long", `{"path":"123456"}`, "arguments.path: maxLength"},
		{"not in the enum", `{"path":"x","mode":"c"}`, "arguments.mode: enum"},
		{"extra key", `{"path":"x","y":1}`, `arguments: unexpected additional properties ["y"]`},
		{"an integer beyond 2^53", `{"path":"x","n":9007199254740995}`, "arguments.n: maximum"},
		{"a huge number", `{"path":"x","n":1e999999999}`, "arguments.n: maximum"},
		{"a list", `[]`, "arguments: must be a JSON object"},
		{"null", `null`, "arguments: must be a JSON object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := s.Validate(json.RawMessage(tt.args))
			switch {
			case tt.err == "" && err != nil:
				t.Errorf("got error %v", err)
			case tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)):
				t.Errorf("got error %v, want %s…", err, tt.err)
			}
		})
	}
}

func TestSchemaErrorsAreShort(t *testing.T) {
	s, err := tools.CompileSchema(json.RawMessage(`{"properties":{"a":{"type":"object"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Validate(json.RawMessage(`{"a":"` + strings.Repeat("x", 100_000) + `"}`))
	if err == nil || len(err.Error()) > 1000 {
		t.Errorf("got an error of %d bytes", len(err.Error()))
	}
}

func TestCompileSchemaRefuses(t *testing.T) {
	for _, tt := range []struct{ name, schema, err string }{
		{"no JSON", `{`, "reading the input schema"},
		{"look-ahead where nothing may be left out", `{"properties":{"a":{"not":{"pattern":"^(?!x)"}}}}`, "pattern"},
		{"look-ahead in one of two forms", `{"oneOf":[{"properties":{"a":{"pattern":"^(?!x)"}}},{"required":["b"]}]}`, "pattern"},
		{"look-ahead of names", `{"patternProperties":{"^(?!x)":{"type":"string"}}}`, "patternProperties"},
		{"a remote reference", `{"$ref":"https://example.com/s.json"}`, "nothing is fetched"},
		{"a file reference", `{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "nothing is fetched"},
		{"a relative reference", `{"properties":{"a":{"$ref":"other.json"}}}`, "nothing is fetched"},
		{"a reference to itself", `{"$ref":"#"}`, "back to itself"},
		{"a keyword in another case", `{"$Ref":"#"}`, "back to itself"},
		{"an escaped keyword", `{"\u0024ref":"#"}`, "back to itself"},
		{"references in a ring", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "back to itself"},
		{"a ring through anyOf", `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, "back to itself"},
		{"a ring through an escaped pointer", `{"$defs":{"a/b":{"not":{"$ref":"#/$defs/a~1b"}}}}`, "back to itself"},
		{"a reference to nothing", `{"$ref":"#/$defs/a"}`, "leads nowhere"},
		{"an id that moves the root", `{"properties":{"a":{"$id":"y","$ref":"#"}}}`, "$id"},
		{"a percent-encoded ring", `{"$defs":{"a":{"not":{"$ref":"#/$defs/%61"}},"%61":{}}}`, "percent"},
		{"a dynamic reference", `{"$dynamicRef":"#a"}`, "$dynamicRef"},
		{"an unknown dialect", `{"$schema":"http://json-schema.org/draft-03/schema#"}`, "version"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tools.CompileSchema(json.RawMessage(tt.schema))
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got error %v, want one about %q", err, tt.err)
			}
		})
	}
}

// Of a schema with a pattern that Go cannot match the rest counts.
func TestCompileSchemaWithoutAPattern(t *testing.T) {
	s, err := tools.CompileSchema(json.RawMessage(`{"type":"object","required":["a"],"properties":{
		"a":{"type":"string","maxLength":3,"pattern":"^(?!x)"},"b":{"pattern":"^\\d+$"},"c":{"const":{"pattern":"(?!x)"}},"pattern":{"type":"string","pattern":"a{9999}"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for args, fits := range map[string]bool{
		`{"a":"xyz"}`: true, `{"a":"wxyz"}`: false, `{"a":1}`: false, `{}`: false, `{"a":"","b":"12"}`: true, `{"a":"","b":"z"}`: false,
		`{"a":"","c":{"pattern":"(?!x)"}}`: true, `{"a":"","c":{}}`: false, `{"a":"","pattern":1}`: false,
	} {
		if err := s.Validate(json.RawMessage(args)); (err == nil) != fits {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// What older drafts wrote in other ways counts as it was meant.
func TestCompileSchemaOfOlderDrafts(t *testing.T) {
	s, err := tools.CompileSchema(json.RawMessage(`{"type":"object","properties":{
		"n":{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false,"required":true},
		"o":{"type":"object","properties":[],"required":false},
		"required":{"type":"object","properties":{"required":{"type":"boolean"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for args, fits := range map[string]bool{
		`{"n":1}`: true, `{"n":9}`: true, `{"n":0}`: false, `{"n":10}`: false, `{}`: false, `{"o":{}}`: false,
		`{"n":1,"o":{"x":1}}`: true, `{"n":1,"o":1}`: false, `{"n":1,"required":{"required":1}}`: false, `{"n":1,"required":{"required":true}}`: true,
	} {
		if err := s.Validate(json.RawMessage(args)); (err == nil) != fits {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// References that double at each step would keep the validator busy for years.
func TestCompileSchemaRefusesMultiplyingReferences(t *testing.T) {
	definitions := map[string]any{"a0": map[string]any{}}
	for i := range 60 {
		ref := map[string]any{"$ref": fmt.Sprintf("#/$defs/a%d", i)}
		definitions[fmt.Sprintf("a%d", i+1)] = map[string]any{"allOf": []any{ref, ref}}
	}
	raw, err := json.Marshal(map[string]any{"$ref": "#/$defs/a60", "$defs": definitions})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tools.CompileSchema(raw); err == nil || !strings.Contains(err.Error(), "more than 100000 times") {
		t.Errorf("got error %v", err)
	}
}

func TestCompileSchemaOfNothing(t *testing.T) {
	for _, raw := range []string{"", "null", "{}", "true"} {
		s, err := tools.CompileSchema(json.RawMessage(raw))
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if err := s.Validate(json.RawMessage(`{"any":1}`)); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestSchemaConcurrently(t *testing.T) {
	def := parse(t, map[string]any{"name": "x", "inputSchema": map[string]any{"type": "object", "required": []string{"a"}}})
	entry := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{}).Lookup("x")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if entry.Validate(json.RawMessage(`{}`)) == nil || entry.Validate(json.RawMessage(`{"a":1}`)) != nil {
				t.Error("wrong answer")
			}
		})
	}
	wg.Wait()
}

// A server's schema must never bring the program down, whatever it holds.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","required":["a"]}`, `{"a":1}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#"}]}}}`, `{}`)
	f.Add(`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"allOf":[{"$ref":"#/properties/a"}]}}}`, `{"a":1}`)
	f.Add(`{"dependencies":{"a":{"$ref":"#"}}}`, `{"a":1}`)
	f.Add(`{"$id":"http://x/","properties":{"a":{"$id":"y","$ref":"#"}}}`, `{"a":{"a":{}}}`)
	f.Add(`{"multipleOf":0,"properties":{"a":{"multipleOf":0}}}`, `{"a":3}`)
	f.Add(`{"propertyNames":{"$ref":"#"},"patternProperties":{".":{"items":[true,false]}}}`, `{"a":[1,2]}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		s, err := tools.CompileSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		if normal, err := tools.NormalizeArguments(args); err == nil {
			_ = s.Validate(normal)
		}
	})
}
