package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"pointsman/gateway/cut"
)

// Schema is a compiled input schema. It never changes and may be used from many
// goroutines at once. The zero Schema accepts any object.
type Schema struct {
	resolved *jsonschema.Resolved
	patterns []string // those of its patterns that Go cannot match, and that count for nothing
}

// CompileSchema compiles a tool's input schema; none (nil or null) accepts any
// object. Of a schema with a pattern that Go cannot match the rest counts, where
// that can only let more pass. It fails for a schema that is not valid, that uses
// such patterns elsewhere, that points outside itself (nothing is ever fetched), or whose
// references would never end. A tool with such a schema is still usable: its
// arguments go unchecked to the server, which judges them.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	if isNull(raw) {
		return &Schema{}, nil
	}
	var schema jsonschema.Schema
	usable, patterns := usableSchema(raw)
	if err := json.Unmarshal(usable, &schema); err != nil {
		return nil, fmt.Errorf("reading the input schema: %w", err)
	}
	if err := checkReferences(&schema); err != nil {
		return nil, fmt.Errorf("compiling the input schema: %w", err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("compiling the input schema: %w", err)
	}
	if err := resolved.Validate(map[string]any{}); err != nil && strings.HasPrefix(err.Error(), "cannot validate version") {
		return nil, fmt.Errorf("compiling the input schema: %w", err)
	}
	return &Schema{resolved: resolved, patterns: patterns}, nil
}

// Validate checks arguments and says for a model what is wrong, where:
// "arguments.path: required; got cwd, depth". It does not change them.
func (s *Schema) Validate(args json.RawMessage) error {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	var instance map[string]any
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.UseNumber()
	if err := dec.Decode(&instance); err != nil || instance == nil {
		return errors.New("arguments: must be a JSON object")
	}
	if s.resolved == nil {
		return nil
	}
	plainNumbers(instance)
	if err := s.resolved.Validate(instance); err != nil {
		return explain(err, instance)
	}
	return nil
}

// plainNumbers turns numbers into the types the validator knows: integers
// exactly where 64 bits hold them, anything else to the nearest float64.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return plainNumber(v)
	case map[string]any:
		for key, inner := range v {
			v[key] = plainNumbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = plainNumbers(inner)
		}
	}
	return v
}

func plainNumber(n json.Number) any {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return u
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil { // out of range
		return math.Copysign(math.MaxFloat64, f)
	}
	return f
}

// maxReason is how many characters of a validator's reason a model is told.
const maxReason = 300

// explain turns the validator's error, "validating /properties/a/items: type:
// …", into one that speaks of the argument.
func explain(err error, instance map[string]any) error {
	where, reason := "arguments", err.Error()
	for {
		rest, ok := strings.CutPrefix(reason, "validating ")
		if !ok {
			break
		}
		schemaPath, inner, ok := strings.Cut(rest, ": ")
		if !ok {
			break
		}
		if path, ok := argumentPath(schemaPath); ok {
			where = path
		}
		reason = inner
	}
	if missing, ok := strings.CutPrefix(reason, "required: missing properties: "); ok {
		return explainMissing(where, missing, instance)
	}
	return fmt.Errorf("%s: %s", where, cut.To(reason, maxReason))
}

// explainMissing names what is missing and, at the top, what was given instead.
func explainMissing(where, missing string, instance map[string]any) error {
	names := strings.Fields(strings.Trim(missing, "[]"))
	for i, name := range names {
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		names[i] = where + "." + name
	}
	given := "another object"
	if where == "arguments" {
		given = givenKeys(instance)
	}
	return fmt.Errorf("%s: required; got %s", strings.Join(names, ", "), given)
}

func givenKeys(instance map[string]any) string {
	keys := make([]string, 0, len(instance))
	for key := range instance {
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return "no arguments"
	}
	slices.Sort(keys)
	return cut.To(strings.Join(keys, ", "), maxReason)
}

// argumentPath turns a path in the schema into one in the arguments. It knows
// properties and items; a path through anything else says nothing.
func argumentPath(schemaPath string) (string, bool) {
	if schemaPath == "root" || schemaPath == "" {
		return "arguments", true
	}
	path := strings.Builder{}
	path.WriteString("arguments")
	steps := strings.Split(strings.TrimPrefix(schemaPath, "/"), "/")
	for i := 0; i < len(steps); i++ {
		switch {
		case steps[i] == "properties" && i+1 < len(steps):
			i++
			path.WriteString("." + unescapePointer(steps[i]))
		case steps[i] == "items":
			path.WriteString("[]")
		case (steps[i] == "anyOf" || steps[i] == "oneOf" || steps[i] == "allOf") && i+1 < len(steps):
			i++
		default:
			return "", false
		}
	}
	return path.String(), true
}

func unescapePointer(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
