package tools

import (
	"encoding/json"
	"regexp"
	"slices"
)

// suspicious finds what usableSchema may have to mend.
var suspicious = regexp.MustCompile(`"(enum|properties)"\s*:\s*\[\s*\]|"pattern"\s*:\s*"|"(exclusiveMinimum|exclusiveMaximum|required)"\s*:\s*(true|false)`)

// usableSchema mends in a schema what would keep it from being compiled, or any
// call from fitting it. Out go enums of no value, which are there because a
// server had nothing to fill them with, and patterns that Go cannot match, which
// it returns. What drafts 3 and 4 wrote in other ways is written as today.
func usableSchema(raw json.RawMessage) (usable json.RawMessage, patterns []string) {
	if !suspicious.Match(raw) {
		return raw, nil
	}
	r := repair{}
	schema := decodeExact(raw)
	r.walk(schema, true)
	return encodeCanonical(schema), r.patterns
}

// repair collects what it takes out.
type repair struct{ patterns []string }

// valueKeywords are the keywords that hold values rather than schemas.
var valueKeywords = []string{"const", "default", "examples"}

// turning are the keywords whose schemas let less pass, the more they allow
// themselves: nothing may be left out there.
var turning = []string{"not", "if", "oneOf"}

// walk goes through a schema. Patterns are taken out where that is harmless.
func (r *repair) walk(v any, harmless bool) {
	switch v := v.(type) {
	case map[string]any:
		if list, ok := v["enum"].([]any); ok && len(list) == 0 {
			delete(v, "enum")
		}
		if list, ok := v["properties"].([]any); ok && len(list) == 0 {
			delete(v, "properties") // how PHP writes an empty object
		}
		renewBounds(v)
		renewRequired(v)
		if pattern, ok := v["pattern"].(string); ok && harmless {
			if _, err := regexp.Compile(pattern); err != nil {
				delete(v, "pattern")
				r.patterns = append(r.patterns, pattern)
			}
		}
		for key, inner := range v {
			if key != "enum" && !slices.Contains(valueKeywords, key) {
				r.walk(inner, harmless && !slices.Contains(turning, key))
			}
		}
	case []any:
		for _, inner := range v {
			r.walk(inner, harmless)
		}
	}
}

// renewBounds turns draft 4's exclusive bounds, which are flags beside the bound,
// into bounds of their own.
func renewBounds(schema map[string]any) {
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		on, isFlag := schema[exclusive].(bool)
		if !isFlag {
			continue
		}
		delete(schema, exclusive)
		if n, ok := schema[bound]; ok && on {
			schema[exclusive] = n
			delete(schema, bound)
		}
	}
}

// renewRequired turns draft 3's required, a flag of the property, into a name in
// its object's list.
func renewRequired(schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		property, _ := property.(map[string]any)
		on, isFlag := property["required"].(bool)
		if !isFlag {
			continue
		}
		delete(property, "required")
		if list, ok := schema["required"].([]any); on && (ok || schema["required"] == nil) {
			schema["required"] = append(list, name)
		}
	}
}
