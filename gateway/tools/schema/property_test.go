package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	google "github.com/google/jsonschema-go/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"pointsman/gateway/tools/schema"
)

// known are the keywords a fitted schema is made of.
var known = []string{
	"type", "description", "default", "enum", "anyOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "pattern", "format", "items", "minItems", "maxItems", "uniqueItems",
	"properties", "required", "additionalProperties", "minProperties", "maxProperties",
}

// checkFitted fails when a fitted schema is not what providers take.
func checkFitted(t *testing.T, raw json.RawMessage) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	if _, ok := root["properties"].(map[string]any); root["type"] != "object" || !ok || root["anyOf"] != nil || root["enum"] != nil {
		t.Errorf("the root is %s", raw)
	}
	checkKeywords(t, root)
	compile(t, raw)
	var other google.Schema
	if err := json.Unmarshal(raw, &other); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Resolve(nil); err != nil {
		t.Errorf("%v: %s", err, raw)
	}
}

func checkKeywords(t *testing.T, v any) {
	t.Helper()
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	for keyword, value := range s {
		if !slices.Contains(known, keyword) {
			t.Errorf("keyword %s", keyword)
		}
		switch keyword {
		case "type":
			if _, single := value.(string); !single {
				t.Errorf("type %v", value)
			}
		case "items", "additionalProperties":
			checkKeywords(t, value)
		case "anyOf":
			list, _ := value.([]any)
			if len(list) < 2 {
				t.Errorf("anyOf of %v", value)
			}
			for _, inner := range list {
				checkKeywords(t, inner)
			}
		case "enum":
			if len(value.([]any)) == 0 {
				t.Error("an empty enum")
			}
		case "properties":
			for name, inner := range value.(map[string]any) {
				if len(name) > 64 || name == "" || strings.ContainsAny(name, "$ /~[]") {
					t.Errorf("property %q", name)
				}
				checkKeywords(t, inner)
			}
		}
	}
	if _, ok := s["items"]; s["type"] == "array" && !ok {
		t.Error("an array without items")
	}
}

// compile compiles a schema, which checks it against its draft's own schema.
func compile(t *testing.T, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	s, err := tryCompile(raw)
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return s
}

func tryCompile(raw json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("https://pointsman.test/s.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("https://pointsman.test/s.json")
}

func fits(s *jsonschema.Schema, raw json.RawMessage) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// maker makes random schemas, and values for them.
type maker struct{ *rand.Rand }

func (m maker) chance(percent int) bool { return m.IntN(100) < percent }

func pick[T any](m maker, list ...T) T { return list[m.IntN(len(list))] }

var names = []string{"a", "b", "kind", "$match", "x-y", "x y", "input"}

// schema makes a schema of any kind, with the hazards of the wild.
func (m maker) schema(depth int) any {
	if m.chance(4) {
		return m.chance(70)
	}
	s := map[string]any{}
	if m.chance(10) {
		s["description"] = pick(m, "Some words.", "Others.")
	}
	if depth <= 0 {
		m.scalar(s)
		return s
	}
	switch m.IntN(12) {
	case 0, 1, 2, 3:
		m.object(s, depth)
	case 4, 5:
		m.array(s, depth)
	case 6:
		s[pick(m, "anyOf", "oneOf", "allOf")] = m.list(depth)
		if m.chance(30) {
			m.object(s, depth)
		}
	case 7:
		s["$ref"] = pick(m, "#/$defs/one", "#/$defs/two", "#/$defs/one/properties/a")
		if m.chance(30) {
			m.scalar(s)
		}
	default:
		m.scalar(s)
	}
	return s
}

func (m maker) list(depth int) []any {
	list := make([]any, 1+m.IntN(3))
	for i := range list {
		list[i] = m.schema(depth - 1)
	}
	return list
}

func (m maker) scalar(s map[string]any) {
	switch m.IntN(9) {
	case 0:
		s["type"] = []any{"string", "null"}
		s["maxLength"] = m.IntN(5)
	case 1:
		s["type"] = pick(m, "integer", "number")
		s["minimum"] = m.IntN(5)
		if m.chance(30) {
			s["exclusiveMaximum"] = m.IntN(9)
		}
	case 2:
		s["enum"] = []any{"p", "q", 1, 1.5, nil, true}[m.IntN(6):]
	case 3:
		s["const"] = pick[any](m, "p", "q", 1, false, map[string]any{"a": 1})
	case 4:
		s["type"] = "string"
		s["pattern"] = pick(m, "^a", "p$", "^(?:p|q)$", "^(?!z)")
	case 5:
		s["type"] = pick(m, "boolean", "null", "string", "object", "array")
	case 6:
		s["type"] = "string"
		s["enum"] = []any{"p", "q", "r"}
		s["not"] = map[string]any{"const": "q"}
	case 7:
		s["minLength"] = m.IntN(3)
	}
}

func (m maker) object(s map[string]any, depth int) {
	if m.chance(70) {
		s["type"] = "object"
	}
	properties := map[string]any{}
	for range m.IntN(4) {
		properties[pick(m, names...)] = m.schema(depth - 1)
	}
	s["properties"] = properties
	if m.chance(50) {
		s["required"] = []any{pick(m, names...)}
	}
	if m.chance(30) {
		s["additionalProperties"] = m.schema(min(depth-1, 1))
	}
	switch m.IntN(14) {
	case 0:
		s["patternProperties"] = map[string]any{pick(m, "^x", ".*", "a", "^(?!q)"): m.schema(depth - 1)}
	case 1:
		s["propertyNames"] = pick(m, map[string]any{"type": "string"}, map[string]any{"enum": []any{"a", "$match"}}, map[string]any{"maxLength": 1})
	case 2:
		properties["kind"] = map[string]any{"enum": []any{"p", "q", "r"}}
		s["if"] = map[string]any{"properties": map[string]any{"kind": map[string]any{"const": pick(m, "p", "q")}}}
		s["then"], s["else"] = m.schema(depth-1), m.schema(depth-1)
		if m.chance(50) {
			s["if"].(map[string]any)["required"] = []any{"kind"}
		}
	case 3:
		s["dependentRequired"] = map[string]any{"a": []any{"b"}}
	case 4:
		s["not"] = map[string]any{"required": []any{pick(m, names...)}}
	case 5:
		s["unevaluatedProperties"] = false
	case 6:
		s["minProperties"] = m.IntN(3)
	}
}

func (m maker) array(s map[string]any, depth int) {
	s["type"] = "array"
	switch m.IntN(5) {
	case 0:
		s["prefixItems"] = m.list(depth)
		if m.chance(50) {
			s["items"] = m.schema(depth - 1)
		}
	case 1:
		s["uniqueItems"] = true
		s["items"] = m.schema(depth - 1)
	case 2:
	default:
		s["items"] = m.schema(depth - 1)
		s["minItems"] = m.IntN(3)
	}
}

func (m maker) root() json.RawMessage {
	s := map[string]any{}
	m.object(s, 3)
	switch m.IntN(4) {
	case 0:
		s[pick(m, "anyOf", "oneOf", "allOf")] = m.list(3)
	case 1:
		s["allOf"] = []any{map[string]any{"$ref": "#/$defs/one"}}
	}
	one, two := map[string]any{}, map[string]any{}
	m.object(one, 2)
	m.object(two, 2)
	one["properties"].(map[string]any)["a"] = m.schema(1)
	s["$defs"] = map[string]any{"one": one, "two": two}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return raw
}

// value makes a value that is likely to fit a fitted schema.
func (m maker) value(v any, depth int) any {
	s, ok := v.(map[string]any)
	if !ok || depth < 0 {
		return pick[any](m, "p", 1, nil)
	}
	if list, ok := s["anyOf"].([]any); ok {
		return m.value(pick(m, list...), depth)
	}
	if list, ok := s["enum"].([]any); ok {
		return pick(m, list...)
	}
	switch s["type"] {
	case "object":
		return m.objectValue(s, depth)
	case "array":
		list := []any{}
		least, _ := s["minItems"].(float64)
		for range int(least) + m.IntN(3) {
			list = append(list, m.value(s["items"], depth-1))
		}
		return list
	case "string":
		return pick(m, "p", "q", "a", "ap", "", "xyz", "zp")
	case "integer":
		return m.IntN(8)
	case "number":
		return pick[any](m, m.IntN(8), float64(m.IntN(16))/2)
	case "boolean":
		return m.chance(50)
	case "null":
		return nil
	}
	return pick[any](m, "p", 1, 2.5, nil, true, []any{1}, map[string]any{"a": "p"}, map[string]any{"b": 1, "kind": "q"})
}

func (m maker) objectValue(s map[string]any, depth int) any {
	out := map[string]any{}
	required, _ := s["required"].([]any)
	properties, _ := s["properties"].(map[string]any)
	for name, inner := range properties {
		if slices.Contains(required, any(name)) || m.chance(50) {
			out[name] = m.value(inner, depth-1)
		}
	}
	if s["additionalProperties"] != false && m.chance(40) {
		if name := pick(m, "a", "b", "kind", "x-y", "z", "input"); properties[name] == nil {
			out[name] = m.value(s["additionalProperties"], depth-1)
		}
	}
	return out
}

// TestFittedCallsFitTheOriginal: what is fitted is valid, and where nothing is
// said to be lost, each call that fits it is mapped to one that fits the original.
func TestFittedCallsFitTheOriginal(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 400
	}
	exact, tried, aside := 0, 0, 0
	for seed := range rounds {
		m := maker{rand.New(rand.NewPCG(uint64(seed), 1))}
		raw := m.root()
		f, err := schema.Fit(raw)
		if err != nil {
			aside++
			continue
		}
		checkFitted(t, f.Schema)
		if len(f.Looser) == 0 {
			exact++
			tried += m.tryCalls(t, raw, f)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s\nis fitted as %s, lost %q", seed, raw, f.Schema, f.Looser)
		}
	}
	t.Logf("%d schemas: %d fitted without loss, %d set aside; %d calls tried", rounds, exact, aside, tried)
	if exact < rounds/4 || tried < rounds {
		t.Errorf("of %d schemas only %d were fitted without loss, and %d calls tried", rounds, exact, tried)
	}
}

// tryCalls makes calls that fit the fitted schema, and returns how many.
func (m maker) tryCalls(t *testing.T, raw json.RawMessage, f *schema.Fitted) (tried int) {
	original, err := tryCompile(raw)
	if err != nil { // a pattern Go cannot match, where the fitted schema has no place for it
		return 0
	}
	fitted := compile(t, f.Schema)
	var doc any
	if err := json.Unmarshal(f.Schema, &doc); err != nil {
		t.Fatal(err)
	}
	for range 12 {
		args, err := json.Marshal(m.value(doc, 5))
		if err != nil {
			t.Fatal(err)
		}
		if fits(fitted, args) != nil {
			continue
		}
		mapped, err := f.Restore(args)
		if err != nil {
			continue // a property under two names
		}
		tried++
		if err := fits(original, mapped); err != nil {
			t.Errorf("%s, mapped to %s: %v", args, mapped, err)
		}
	}
	return tried
}

// TestFitIsStable: the same schema, its keys in another order, is fitted to the
// same bytes.
func TestFitIsStable(t *testing.T) {
	for seed := range 300 {
		raw := maker{rand.New(rand.NewPCG(uint64(seed), 2))}.root()
		first, err := schema.Fit(raw)
		for range 3 {
			again, err2 := schema.Fit(reordered(t, raw))
			if fmt.Sprint(err) != fmt.Sprint(err2) || err == nil && string(first.Schema) != string(again.Schema) {
				t.Fatalf("%s\nonce %v, then %v", raw, first, again)
			}
		}
	}
}

// reordered writes an object's members in another order.
func reordered(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw
	}
	var parts []string
	for name, value := range members { // in any order
		parts = append(parts, fmt.Sprintf("%q:%s", name, reordered(t, value)))
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}")
}

// FuzzFit: whatever a server sends, what is fitted is what providers take, and
// mapping a call never brings the program down.
func FuzzFit(f *testing.F) {
	for _, tt := range fitCases {
		f.Add(tt.raw, tt.args)
	}
	f.Fuzz(func(t *testing.T, raw, args string) {
		fitted, err := schema.Fit(json.RawMessage(raw))
		if err != nil {
			return
		}
		checkFitted(t, fitted.Schema)
		if json.Valid([]byte(args)) {
			if got, err := fitted.Restore(json.RawMessage(args)); err == nil && !json.Valid(got) {
				t.Errorf("%s is mapped to %s", args, got)
			}
		}
	})
}
