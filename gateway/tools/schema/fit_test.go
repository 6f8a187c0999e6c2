package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/tools/schema"
)

// fitCases are one hazard each. args are calls that follow the fitted schema, and
// what they are mapped to.
var fitCases = []struct {
	name, raw, want string
	looser          string // a part of what is said to be lost; "" for nothing
	args, mapped    string // "": not tried
}{
	{name: "nothing", raw: ``, want: `{"properties":{},"type":"object"}`},
	{name: "null", raw: `null`, want: `{"properties":{},"type":"object"}`},
	{name: "no type", raw: `{"properties":{"a":{"type":"string"}}}`, want: `{"properties":{"a":{"type":"string"}},"type":"object"}`},
	{name: "no properties", raw: `{"type":"object"}`, want: `{"properties":{},"type":"object"}`},
	{name: "properties as a list", raw: `{"type":"object","properties":[]}`, want: `{"properties":{},"type":"object"}`},
	{name: "a nullable root", raw: `{"type":["object","null"]}`, want: `{"properties":{},"type":"object"}`},
	{name: "sorted keys", raw: `{"type":"object","required":["b","a"],"properties":{"b":{"type":"string","description":"x"},"a":{"type":"null"}}}`,
		want: `{"properties":{"a":{"type":"null"},"b":{"description":"x","type":"string"}},"required":["a","b"],"type":"object"}`},
	{name: "required but not described", raw: `{"type":"object","required":["a"]}`, want: `{"properties":{"a":{}},"required":["a"],"type":"object"}`},

	{name: "an array without items", raw: prop(`{"type":"array"}`), want: wantProp(`{"items":{},"type":"array"}`)},
	{name: "an array of nothing", raw: prop(`{"type":"array","items":false}`), want: wantProp(`{"items":{},"maxItems":0,"type":"array"}`)},
	{name: "an empty enum", raw: prop(`{"type":"string","enum":[]}`), want: wantProp(`{"type":"string"}`), looser: "a: its enum is empty"},
	{name: "an enum without type", raw: prop(`{"enum":["x",1,2,null]}`),
		want: wantProp(`{"anyOf":[{"enum":[1,2],"type":"integer"},{"enum":["x"],"type":"string"},{"type":"null"}]}`)},
	{name: "an enum beside another type", raw: prop(`{"type":"string","enum":["x",1]}`), want: wantProp(`{"enum":["x"],"type":"string"}`)},
	{name: "const", raw: prop(`{"const":"x","description":"d"}`), want: wantProp(`{"description":"d","enum":["x"],"type":"string"}`)},
	{name: "const alternatives", raw: prop(`{"anyOf":[{"const":"x"},{"const":"y"}]}`), want: wantProp(`{"enum":["x","y"],"type":"string"}`)},
	{name: "described alternatives", raw: prop(`{"oneOf":[{"const":"x","title":"The X"},{"const":"y","title":"The Y"}]}`),
		want: wantProp(`{"anyOf":[{"description":"The X","enum":["x"],"type":"string"},{"description":"The Y","enum":["y"],"type":"string"}]}`)},
	{name: "default null", raw: prop(`{"type":"string","default":null}`), want: wantProp(`{"type":"string"}`)},
	{name: "default", raw: prop(`{"type":"integer","default":10}`), want: wantProp(`{"default":10,"type":"integer"}`)},

	{name: "types", raw: prop(`{"type":["string","null"],"maxLength":5,"description":"d"}`),
		want: wantProp(`{"anyOf":[{"maxLength":5,"type":"string"},{"type":"null"}],"description":"d"}`)},
	{name: "types with an enum", raw: prop(`{"type":["string","null"],"enum":["a",null]}`), want: wantProp(`{"anyOf":[{"enum":["a"],"type":"string"},{"type":"null"}]}`)},
	{name: "integer and number", raw: prop(`{"type":["integer","number"]}`), want: wantProp(`{"type":"number"}`)},
	{name: "any", raw: prop(`{"type":"any"}`), want: wantProp(`{}`)},
	{name: "true", raw: prop(`true`), want: wantProp(`{}`)},
	{name: "false", raw: prop(`false`), want: `{"additionalProperties":false,"properties":{},"type":"object"}`},
	{name: "a type by its keywords", raw: prop(`{"items":{"minLength":1}}`), want: wantProp(`{"items":{"minLength":1,"type":"string"},"type":"array"}`)},

	{name: "allOf at the root", raw: `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{"maxLength":3},"b":{"type":"integer"}}}]}`,
		want: `{"properties":{"a":{"maxLength":3,"type":"string"},"b":{"type":"integer"}},"required":["a"],"type":"object"}`},
	{name: "the tighter of two bounds", raw: prop(`{"allOf":[{"type":"array","minItems":1,"maxItems":3},{"type":"array","uniqueItems":true,"minItems":2,"maxItems":5}]}`),
		want: wantProp(`{"items":{},"maxItems":3,"minItems":2,"type":"array","uniqueItems":true}`)},
	{name: "the tighter of two bounds, the other way", raw: prop(`{"allOf":[{"type":"number","minimum":2,"maximum":5},{"type":"integer","minimum":1,"maximum":3}]}`), want: wantProp(`{"maximum":3,"minimum":2,"type":"integer"}`)},
	{name: "anyOf at the root", raw: `{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}},"anyOf":[{"required":["id"]},{"required":["name"]}]}`,
		want: `{"additionalProperties":false,"properties":{"input":{"anyOf":[{"properties":{"id":{"type":"string"},"name":{"type":"string"}},"required":["id"],"type":"object"},` +
			`{"properties":{"id":{"type":"string"},"name":{"type":"string"}},"required":["name"],"type":"object"}]}},"required":["input"],"type":"object"}`,
		args: `{"input":{"id":"x"}}`, mapped: `{"id":"x"}`},
	{name: "alternatives at the root called flat", raw: `{"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":{"const":2}},"required":["b"]}]}`,
		args: `{"a":1}`, mapped: `{"a":1}`},
	{name: "alternatives with the wrapper's name", raw: `{"oneOf":[{"properties":{"input":{"const":1}},"required":["input"]},{"properties":{"input":{"const":2}},"required":["input"]}]}`,
		args: `{"input_2":{"input":2}}`, mapped: `{"input":2}`},
	{name: "one alternative at the root", raw: `{"anyOf":[{"properties":{"a":{}}},{"type":"string"}]}`, want: wantProp(`{}`)},
	{name: "enum at the root", raw: `{"enum":[{"a":1},{"a":2}]}`, args: `{"input":{"a":1}}`, mapped: `{"a":1}`},
	{name: "forms that overlap", raw: prop(`{"oneOf":[{"type":"string"},{"maxLength":3}]}`), looser: "a: a value may fit more than one"},

	{name: "$defs", raw: `{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"mine"}},"$defs":{"x":{"type":"string","description":"its"}}}`,
		want: wantProp(`{"description":"mine","type":"string"}`)},
	{name: "definitions, with an escaped name", raw: `{"properties":{"a":{"$ref":"#/definitions/x~1y%20z"}},"definitions":{"x/y z":{"type":"null"}}}`, want: wantProp(`{"type":"null"}`)},
	{name: "a reference into the properties", raw: `{"properties":{"a":{"$ref":"#/properties/b/items"},"b":{"type":"array","items":{"type":"integer"}}}}`,
		want: `{"properties":{"a":{"type":"integer"},"b":{"items":{"type":"integer"},"type":"array"}},"type":"object"}`},
	{name: "an anchor", raw: `{"properties":{"a":{"$ref":"#x"}},"$defs":{"k":{"$anchor":"x","type":"null"}}}`, want: wantProp(`{"type":"null"}`)},
	{name: "an id", raw: `{"$id":"https://a.test/root.json","properties":{"a":{"$ref":"other.json#/$defs/x"}},"$defs":{"k":{"$id":"other.json","$defs":{"x":{"type":"null"}}}}}`,
		want: wantProp(`{"type":"null"}`)},
	{name: "an anchor of an id", raw: `{"$id":"https://a.test/root.json","properties":{"a":{"$ref":"other.json#x"}},"$defs":{"m":{"$anchor":"x","type":"string"},"k":{"$id":"other.json","$defs":{"y":{"$anchor":"x","type":"null"}}}}}`,
		want: wantProp(`{"type":"null"}`)},
	{name: "a reference relative to an id", raw: `{"properties":{"a":{"$id":"https://b.test/","$ref":"#/$defs/x","$defs":{"x":{"type":"null"}}}},"$defs":{"x":{"type":"string"}}}`, want: wantProp(`{"type":"null"}`)},
	{name: "recursion", raw: `{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"#/$defs/n"}}}}}`,
		want:   wantProp(`{"properties":{"next":{"properties":{"next":{"description":"Nested in the same way.","type":"object"},"v":{"type":"string"}},"type":"object"},"v":{"type":"string"}},"type":"object"}`),
		looser: "next: it holds itself"},
	{name: "recursion of the root", raw: `{"type":"object","properties":{"and":{"type":"array","items":{"$ref":"#"}}}}`,
		want:   `{"properties":{"and":{"items":{"properties":{"and":{"items":{"description":"Nested in the same way.","type":"object"},"type":"array"}},"type":"object"},"type":"array"}},"type":"object"}`,
		looser: "and[]: it holds itself"},

	{name: "a tuple of equals", raw: prop(`{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":false,"minItems":2}`),
		want: wantProp(`{"items":{"type":"number"},"maxItems":2,"minItems":2,"type":"array"}`)},
	{name: "a tuple", raw: prop(`{"type":"array","items":[{"type":"string"},{"type":"number","description":"How much."}],"additionalItems":false}`),
		want:   wantProp(`{"description":"Its elements, in this order: string, number (How much).","items":{"anyOf":[{"type":"string"},{"description":"How much.","type":"number"}]},"maxItems":2,"type":"array"}`),
		looser: "a: the order of its elements"},
	{name: "draft 4 bounds", raw: prop(`{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`), want: wantProp(`{"exclusiveMinimum":0,"maximum":9,"minimum":0,"type":"number"}`)},
	{name: "draft 3 required", raw: prop(`{"type":"string","required":true}`), want: `{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`},
	{name: "bounds at 2^53", raw: prop(`{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}`), want: wantProp(`{"type":"integer"}`), looser: "a: its bound is beyond"},
	{name: "a number as written", raw: prop(`{"type":"number","maximum":1.50,"default":0.10}`), want: wantProp(`{"default":0.10,"maximum":1.50,"type":"number"}`)},

	{name: "a condition on a value", raw: prop(`{"type":"object","properties":{"k":{"enum":["s","n"]},"v":{}},"required":["k"],"if":{"properties":{"k":{"const":"s"}}},"then":{"properties":{"v":{"type":"string"}}},"else":{"required":["v"]}}`),
		want: wantProp(`{"anyOf":[{"properties":{"k":{"enum":["s"],"type":"string"},"v":{"type":"string"}},"required":["k"],"type":"object"},{"properties":{"k":{"enum":["n"],"type":"string"},"v":{}},"required":["k","v"],"type":"object"}]}`)},
	{name: "conditions in allOf", raw: prop(`{"type":"object","properties":{"k":{"enum":["s","n"]}},"required":["k"],"allOf":[{"if":{"properties":{"k":{"const":"s"}}},"then":{"required":["s"]}},{"if":{"properties":{"k":{"const":"n"}}},"then":{"required":["n"]}}]}`),
		want: wantProp(`{"anyOf":[{"properties":{"k":{"enum":["s"],"type":"string"},"s":{}},"required":["k","s"],"type":"object"},{"properties":{"k":{"enum":["n"],"type":"string"},"n":{}},"required":["k","n"],"type":"object"}]}`)},
	{name: "another condition", raw: prop(`{"type":"object","if":{"required":["x","y"]},"then":{"required":["z"]}}`),
		want:   wantProp(`{"description":"This must fit, too: {\"if\":{\"required\":[\"x\",\"y\"]},\"then\":{\"required\":[\"z\"]}}","type":"object"}`),
		looser: "a: what holds under a condition"},
	{name: "not one of", raw: prop(`{"enum":["x","y"],"not":{"const":"x"}}`), want: wantProp(`{"enum":["y"],"type":"string"}`)},
	{name: "not a property", raw: `{"type":"object","not":{"required":["a"]}}`, want: `{"additionalProperties":false,"properties":{},"type":"object"}`},
	{name: "not a pattern", raw: prop(`{"type":"string","not":{"pattern":"^x"}}`), looser: "a: what it must not be"},
	{name: "dependents", raw: `{"type":"object","dependentRequired":{"a":["b"]}}`,
		want:   `{"description":"This must fit, too: {\"dependentRequired\":{\"a\":[\"b\"]}}","properties":{},"type":"object"}`,
		looser: "the arguments: which properties need others"},
	{name: "contains", raw: prop(`{"type":"array","items":{"type":"string"},"contains":{"const":"x"}}`), looser: "a: contains is told"},

	{name: "patternProperties for every name", raw: prop(`{"type":"object","patternProperties":{"^.*$":{"type":"string"}},"additionalProperties":false}`),
		want: wantProp(`{"additionalProperties":{"type":"string"},"type":"object"}`)},
	{name: "patternProperties for some", raw: prop(`{"type":"object","patternProperties":{"^x-":{"type":"string"}}}`), want: wantProp(`{"additionalProperties":{"type":"string"},"type":"object"}`)},
	{name: "patternProperties alone", raw: prop(`{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`), looser: "a: what its properties must be by their names"},
	{name: "patternProperties of a property", raw: prop(`{"type":"object","properties":{"x-a":{"maxLength":3}},"patternProperties":{"^x-":{"type":"string","minLength":1}}}`),
		want: wantProp(`{"additionalProperties":{"minLength":1,"type":"string"},"properties":{"x-a":{"maxLength":3,"minLength":1,"type":"string"}},"type":"object"}`)},
	{name: "propertyNames of any string", raw: prop(`{"type":"object","propertyNames":{"type":"string"},"additionalProperties":{}}`), want: wantProp(`{"type":"object"}`)},
	{name: "propertyNames from a list", raw: prop(`{"type":"object","propertyNames":{"enum":["x","y"]},"additionalProperties":{"type":"integer"}}`),
		want: wantProp(`{"additionalProperties":false,"properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"type":"object"}`)},
	{name: "propertyNames by pattern", raw: prop(`{"type":"object","propertyNames":{"pattern":"^x"}}`), looser: "a: which names its properties"},
	{name: "unevaluatedProperties", raw: `{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, want: `{"additionalProperties":false,"properties":{"a":{}},"type":"object"}`},

	{name: "a pattern Go cannot match", raw: prop(`{"type":"string","pattern":"^(?!x)"}`),
		want: wantProp(`{"description":"This must fit, too: {\"pattern\":\"^(?!x)\"}","type":"string"}`), looser: "a: its pattern"},
	{name: "a pattern", raw: prop(`{"type":"string","pattern":"^a+$","format":"date"}`), want: wantProp(`{"format":"date","pattern":"^a+$","type":"string"}`)},
	{name: "a long description", raw: prop(`{"type":"null","description":"` + strings.Repeat("é", 2000) + `"}`), want: wantProp(`{"description":"` + strings.Repeat("é", 1023) + `…","type":"null"}`)},
	{name: "what no provider needs", raw: `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"x","$comment":"c","title":"T","type":"object","properties":{"a":{"title":"A","type":"null","examples":[1],"x-y":2,"readOnly":true}}}`, want: wantProp(`{"type":"null"}`)},
	{name: "a property named like a keyword", raw: `{"type":"object","properties":{"properties":{"type":"null"},"required":{"type":"null"},"$ref":{"type":"null"},"const":{"type":"null"}}}`,
		args: `{"required":null}`, mapped: `{"required":null}`},
	{name: "names providers refuse", raw: `{"type":"object","properties":{"$match":{"type":"object","properties":{"a b":{"type":"integer"}}},"ok":{}},"required":["$match"]}`,
		want: `{"properties":{"_match_c140bbe568":{"properties":{"a_b_c8687a08aa":{"type":"integer"}},"type":"object"},"ok":{}},"required":["_match_c140bbe568"],"type":"object"}`,
		args: `{"_match_c140bbe568":{"a_b_c8687a08aa":9007199254740993},"ok":[{"a_b_c8687a08aa":1.50}]}`, mapped: `{"$match":{"a b":9007199254740993},"ok":[{"a b":1.50}]}`},
	{name: "an empty name and a long one", raw: `{"properties":{"":{"type":"null"},"` + strings.Repeat("x", 70) + `":{"type":"null"}}}`},
}

// prop is a schema with one property.
func prop(inner string) string { return `{"type":"object","properties":{"a":` + inner + `}}` }

func wantProp(inner string) string { return `{"properties":{"a":` + inner + `},"type":"object"}` }

func TestFit(t *testing.T) {
	for _, tt := range fitCases {
		t.Run(tt.name, func(t *testing.T) {
			f, err := schema.Fit(json.RawMessage(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want != "" && string(f.Schema) != tt.want {
				t.Errorf("got  %s\nwant %s", f.Schema, tt.want)
			}
			if got := strings.Join(f.Looser, "; "); (tt.looser == "") != (got == "") || !strings.Contains(got, tt.looser) {
				t.Errorf("lost is %q, want %q", got, tt.looser)
			}
			checkFitted(t, f.Schema)
			if tt.args != "" {
				got, err := f.Restore(json.RawMessage(tt.args))
				if err != nil || string(got) != tt.mapped {
					t.Errorf("%s is mapped to %s, %v", tt.args, got, err)
				}
			}
		})
	}
}

func TestFitSetsAside(t *testing.T) {
	for _, tt := range []struct{ name, raw, err string }{
		{"no JSON", `{`, "is not JSON"},
		{"a string", `"x"`, "is not a JSON object"},
		{"a list", `[]`, "is not a JSON object"},
		{"no object", `{"type":"string"}`, "allows no object"},
		{"nothing", `false`, "allows no object"},
		{"a contradiction", `{"required":["a"],"properties":{"a":false}}`, "allows no object"},
		{"a contradiction of parts", `{"allOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"a":{"const":2}}}]}`, "allows no object"},
		{"a remote reference", prop(`{"$ref":"https://example.com/s.json"}`), "nothing is fetched"},
		{"a file", prop(`{"$ref":"file:///etc/passwd"}`), "nothing is fetched"},
		{"a reference to nothing", prop(`{"$ref":"#/$defs/x"}`), "leads nowhere"},
		{"an anchor of nothing", prop(`{"$ref":"#x"}`), "leads nowhere"},
		{"a reference that cannot be read", prop(`{"$ref":"#%zz"}`), "cannot be read"},
		{"a reference to itself", `{"$ref":"#"}`, "back to itself"},
		{"references in a ring", `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, "back to itself"},
		{"too deep", `{"properties":{"a":` + strings.Repeat(`{"type":"array","items":`, 300) + `{}` + strings.Repeat(`}`, 300) + `}}`, "deeper than 250 levels"},
		{"too large", prop(`{"enum":["` + strings.Repeat("x", schema.MaxSize) + `"]}`), "larger than 256 KiB"},
		{"two properties with one name", `{"properties":{"$match":{},"_match_c140bbe568":{}}}`, "is another's"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := schema.Fit(json.RawMessage(tt.raw))
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %.200v, want an error about %q", err, tt.err)
			}
			if f != nil && err != nil {
				t.Error("a schema beside the error")
			}
		})
	}
}

// References that would make a schema many times as large are followed less far.
func TestFitCutsReferencesShort(t *testing.T) {
	doubling := `{"$ref":"#/$defs/a40","$defs":{"a0":{"type":"object"}`
	for i := range 40 {
		doubling += fmt.Sprintf(`,"a%d":{"properties":{"x":{"$ref":"#/$defs/a%d"},"y":{"$ref":"#/$defs/a%d"}}}`, i+1, i, i)
	}
	doubling += `}}`
	// parts of parts that are parts of the arguments themselves
	parts := ""
	for i := range 200 {
		parts += fmt.Sprintf(`,"part%d":{"type":"string","description":"part %d of the box"}`, i, i)
	}
	boxes := `{"properties":{"box":{"type":"object","properties":{"z":{}` + parts + `}}`
	for i := range 20 {
		boxes += fmt.Sprintf(`,"b%d":{"type":"array","items":{"$ref":"#/properties/list/items"}}`, i)
	}
	boxes += `,"list":{"type":"array","items":{"type":"object","properties":{"inner":{"$ref":"#/properties/box"},"again":{"$ref":"#/properties/box","description":"Once more."}}}}}}`
	for _, tt := range []struct{ name, raw, tells string }{
		{"references that double", doubling, `"description":"Like a38."`},
		{"large parts", boxes, "Once more. Like box."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := schema.Fit(json.RawMessage(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Schema) > max(32<<10, 2*len(tt.raw)) || !strings.Contains(string(f.Schema), tt.tells) || !strings.Contains(strings.Join(f.Looser, ";"), "told once, elsewhere") {
				t.Errorf("of %d bytes %d came; lost %.300q: %.500s", len(tt.raw), len(f.Schema), f.Looser, f.Schema)
			}
			checkFitted(t, f.Schema)
		})
	}
}

// A schema with so many alternatives that each would be told again is told once.
func TestFitFlattens(t *testing.T) {
	var properties, alternatives []string
	for i := range 40 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string","description":"%s"}`, i, strings.Repeat("long ", 20)))
		alternatives = append(alternatives, fmt.Sprintf(`{"required":["p%d"]}`, i))
	}
	raw := `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"anyOf":[` + strings.Join(alternatives, ",") + `]}`
	f, err := schema.Fit(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Schema) > 2*len(raw) || !strings.Contains(string(f.Schema), "Give one of these sets of properties: p0; p1;") || len(f.Looser) != 1 {
		t.Errorf("lost %q; %d bytes: %.300s", f.Looser, len(f.Schema), f.Schema)
	}
	checkFitted(t, f.Schema)
}

// What a server sends must not keep the program busy.
func TestFitEndsSoon(t *testing.T) {
	values, alternatives, tuple := make([]string, 20_000), make([]string, 300), make([]string, 3000)
	for i := range values {
		values[i] = fmt.Sprintf("%d", i)
	}
	for i := range alternatives {
		alternatives[i] = fmt.Sprintf(`{"properties":{"p%d":{"enum":[%d]}},"required":["p%d"]}`, i, i, i)
	}
	for i := range tuple {
		tuple[i] = `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`
	}
	anyOf := `{"anyOf":[` + strings.Join(alternatives, ",") + `]}`
	for _, tt := range []struct{ name, raw string }{
		{"a large enum", prop(`{"enum":[` + strings.Join(values, ",") + `]}`)},
		{"two large enums", prop(`{"enum":[` + strings.Join(values, ",") + `],"not":{"enum":[` + strings.Join(values[1:], ",") + `]}}`)},
		{"many alternatives", anyOf},
		{"products of alternatives", `{"allOf":[` + strings.Repeat(anyOf+",", 9) + anyOf + `]}`},
		{"products of a few", `{"allOf":[` + strings.Repeat(`{"anyOf":[{"required":["a"]},{"required":["b"]},{"properties":{"c":{"minLength":1}}}]},`, 40) + `{}]}`},
		{"a long tuple", prop(`{"type":"array","prefixItems":[` + strings.Join(tuple, ",") + `]}`)},
		{"nested alternatives", prop(strings.Repeat(`{"anyOf":[{"type":"null"},{"type":"object","properties":{"a":`, 80) + `{}` + strings.Repeat(`}}]}`, 80))},
		{"deep", strings.Repeat(`{"type":"object","properties":{"a":`, 4000) + `{}` + strings.Repeat(`}}`, 4000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			f, err := schema.Fit(json.RawMessage(tt.raw))
			if took := time.Since(began); took > 5*time.Second { // of milliseconds
				t.Errorf("it took %s", took)
			}
			if err == nil {
				checkFitted(t, f.Schema)
			}
		})
	}
}

func TestRestoreRefusesTwoNames(t *testing.T) {
	f, err := schema.Fit(json.RawMessage(`{"properties":{"$match":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Restore(json.RawMessage(`{"$match":1,"_match_c140bbe568":2}`)); err == nil || !strings.Contains(err.Error(), `"$match" twice`) {
		t.Errorf("got %v", err)
	}
}

func TestZeroFittedMapsNothing(t *testing.T) {
	var f schema.Fitted
	if got, err := f.Restore(json.RawMessage(`{"a": 1}`)); err != nil || string(got) != `{"a": 1}` {
		t.Errorf("got %s, %v", got, err)
	}
}
