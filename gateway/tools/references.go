package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"pointsman/gateway/tools/schema"
)

// maxChecks bounds the schemas that one value of the arguments is checked
// against. The largest seen in the wild stay below a thousand.
const maxChecks = 100_000

// checkReferences refuses a schema whose validation would never end, because a
// reference leads back to itself without going deeper into the arguments, or
// would end too late, because references multiply; and one whose references
// cannot be followed here. The validator would run out of stack on the first,
// and a stack that overflows takes the program with it.
//
// It looks at the schema as the validator understood it, which is not always as
// it was written: the validator takes "$Ref" for "$ref".
func checkReferences(schema *jsonschema.Schema) error {
	raw, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	if !strings.Contains(string(raw), `Ref"`) && !strings.Contains(string(raw), `$ref"`) {
		return nil
	}
	w := referenceWalk{root: decodeExact(raw), checks: map[string]int{}}
	return w.walkAll(w.root, "")
}

// referenceWalk counts, for each schema, the schemas that apply to the same value.
type referenceWalk struct {
	root   any
	checks map[string]int // by JSON pointer; 0 while the schema is being visited
}

// inPlace are the keywords whose schemas apply to the same value.
var inPlace = [...]string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else"}

// inPlaceMaps are the keywords whose values' schemas apply to the same value.
var inPlaceMaps = [...]string{"dependentSchemas", "dependencies"}

// walkAll visits every object in v as a schema. Objects that are none, such as
// defaults, are visited too: at worst a schema is refused that could be used.
func (w *referenceWalk) walkAll(v any, pointer string) error {
	if schema, ok := v.(map[string]any); ok {
		if _, err := w.visit(schema, pointer); err != nil {
			return err
		}
	}
	return eachChild(v, pointer, w.walkAll)
}

// eachChild calls do for each member of an object or list.
func eachChild(v any, pointer string, do func(v any, pointer string) error) error {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if err := do(inner, pointer+"/"+schema.Escape(key)); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v {
			if err := do(inner, pointer+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit returns how many schemas apply where this one does, itself included.
func (w *referenceWalk) visit(v any, pointer string) (int, error) {
	schema, ok := v.(map[string]any)
	if !ok {
		return 1, nil
	}
	if checks, seen := w.checks[pointer]; seen {
		if checks == 0 {
			return 0, fmt.Errorf("reference %q leads back to itself", "#"+pointer)
		}
		return checks, nil
	}
	w.checks[pointer] = 0
	checks, err := w.visitParts(schema, pointer)
	if err != nil {
		return 0, err
	}
	if checks > maxChecks {
		return 0, fmt.Errorf("one value would be checked more than %d times", maxChecks)
	}
	w.checks[pointer] = checks
	return checks, nil
}

// visitParts follows the references and in-place keywords of one schema.
func (w *referenceWalk) visitParts(schema map[string]any, pointer string) (int, error) {
	if err := refuseRebasing(schema, pointer); err != nil {
		return 0, err
	}
	checks := 1
	add := func(v any, pointer string) error {
		n, err := w.visit(v, pointer)
		checks += n
		return err
	}
	if ref, ok := schema["$ref"].(string); ok {
		target, canonical, err := w.follow(ref)
		if err != nil {
			return 0, err
		}
		if err := add(target, canonical); err != nil {
			return 0, err
		}
	}
	for _, key := range inPlace {
		visit := add
		if _, list := schema[key].([]any); list {
			visit = func(v any, pointer string) error { return eachChild(v, pointer, add) }
		}
		if schema[key] == nil {
			continue
		}
		if err := visit(schema[key], pointer+"/"+key); err != nil {
			return 0, err
		}
	}
	for _, key := range inPlaceMaps {
		if err := eachChild(schema[key], pointer+"/"+key, add); err != nil {
			return 0, err
		}
	}
	return checks, nil
}

// refuseRebasing refuses what would change the meaning of a "#…" reference.
func refuseRebasing(schema map[string]any, pointer string) error {
	for _, key := range [...]string{"$dynamicRef", "$recursiveRef"} {
		if _, dynamic := schema[key]; dynamic {
			return errors.New(key + " is not supported")
		}
	}
	if _, id := schema["$id"].(string); id && pointer != "" {
		return errors.New("an $id below the root is not supported beside references")
	}
	return nil
}

// follow returns what a reference leads to, and its pointer in canonical form.
func (w *referenceWalk) follow(ref string) (target any, canonical string, err error) {
	pointer, local := strings.CutPrefix(ref, "#")
	switch {
	case !local || pointer != "" && !strings.HasPrefix(pointer, "/"):
		return nil, "", fmt.Errorf("reference %q leads elsewhere, and nothing is fetched", ref)
	case strings.Contains(pointer, "%"):
		return nil, "", fmt.Errorf("reference %q is percent-encoded, which is not supported", ref)
	}
	target = w.root
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = unescapePointer(step)
		next, ok := schema.Child(target, step)
		if !ok {
			return nil, "", fmt.Errorf("reference %q leads nowhere", ref)
		}
		target = next
		canonical += "/" + schema.Escape(step)
	}
	return target, canonical, nil
}
