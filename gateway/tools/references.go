package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// checkReferences refuses a schema whose validation would never end, because a
// reference leads back to itself without going deeper into the arguments, and
// one whose references cannot be followed here. The validator would run out of
// stack on the former, and a stack that overflows takes the program with it.
func checkReferences(raw json.RawMessage) error {
	if !strings.Contains(string(raw), `Ref"`) && !strings.Contains(string(raw), `$ref"`) {
		return nil
	}
	w := referenceWalk{root: decodeExact(raw), state: map[string]walkState{}}
	return w.walkAll(w.root, "")
}

type walkState int

const (
	unseen walkState = iota
	walking
	walked
)

type referenceWalk struct {
	root  any
	state map[string]walkState // by pointer
}

// inPlace are the keywords whose schemas apply to the same value.
var inPlace = [...]string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// walkAll visits every object in v as a schema. Objects that are none, such as
// defaults, are visited too: at worst a schema is refused that could be used.
func (w *referenceWalk) walkAll(v any, pointer string) error {
	switch v := v.(type) {
	case map[string]any:
		if err := w.visit(v, pointer); err != nil {
			return err
		}
		for key, inner := range v {
			if err := w.walkAll(inner, pointer+"/"+escapePointer(key)); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v {
			if err := w.walkAll(inner, pointer+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit follows the references and in-place keywords of one schema.
func (w *referenceWalk) visit(v any, pointer string) error {
	schema, ok := v.(map[string]any)
	if !ok || w.state[pointer] == walked {
		return nil
	}
	if w.state[pointer] == walking {
		return fmt.Errorf("reference %q leads back to itself", "#"+pointer)
	}
	w.state[pointer] = walking
	if err := refuseRebasing(schema, pointer); err != nil {
		return err
	}
	if ref, ok := schema["$ref"].(string); ok {
		if err := w.follow(ref); err != nil {
			return err
		}
	}
	for _, key := range inPlace {
		if err := w.visitInPlace(schema[key], pointer+"/"+key); err != nil {
			return err
		}
	}
	w.state[pointer] = walked
	return nil
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

// visitInPlace visits a schema, or the schemas of a list or map of schemas.
func (w *referenceWalk) visitInPlace(v any, pointer string) error {
	switch v := v.(type) {
	case map[string]any:
		if err := w.visit(v, pointer); err != nil {
			return err
		}
		if strings.HasSuffix(pointer, "/dependentSchemas") || strings.HasSuffix(pointer, "/dependencies") {
			for key, inner := range v {
				if err := w.visit(inner, pointer+"/"+escapePointer(key)); err != nil {
					return err
				}
			}
		}
	case []any:
		for i, inner := range v {
			if err := w.visit(inner, pointer+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *referenceWalk) follow(ref string) error {
	pointer, local := strings.CutPrefix(ref, "#")
	switch {
	case !local || pointer != "" && !strings.HasPrefix(pointer, "/"):
		return fmt.Errorf("reference %q leads elsewhere, and nothing is fetched", ref)
	case strings.Contains(pointer, "%"):
		return fmt.Errorf("reference %q is percent-encoded, which is not supported", ref)
	}
	steps := strings.Split(pointer, "/")[1:]
	target := w.root
	canonical := ""
	for _, step := range steps {
		step = unescapePointer(step)
		next, ok := child(target, step)
		if !ok {
			return fmt.Errorf("reference %q leads nowhere", ref)
		}
		target = next
		canonical += "/" + escapePointer(step)
	}
	return w.visit(target, canonical)
}

func child(v any, step string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		inner, ok := v[step]
		return inner, ok
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

func escapePointer(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}
