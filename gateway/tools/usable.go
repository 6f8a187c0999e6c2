package tools

import (
	"encoding/json"
	"regexp"
	"slices"
)

// suspicious finds what usableSchema may have to leave out.
var suspicious = regexp.MustCompile(`"enum"\s*:\s*\[\s*\]|"pattern"\s*:\s*"`)

// usableSchema leaves out of a schema what would keep it from being compiled or
// any call from fitting it: enums of no value, which are there because a server
// had nothing to fill them with, and patterns that Go cannot match, which it
// returns.
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
