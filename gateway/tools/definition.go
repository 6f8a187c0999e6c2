package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Definition is one tool as its server describes it.
type Definition struct {
	Server      string
	Name        string // the server's own name of it
	Title       string
	Description string
	InputSchema json.RawMessage // nil when the server sent none
	Annotations Annotations
	Raw         json.RawMessage // the whole tool object as received, unknown fields included
	Trusted     bool            // the user trusts this server's annotations
	Hash        string          // "sha256:" and hex; see Parse
	Fault       string          // why it cannot be used as it is defined; "" when it can
}

// Broken is the definition of a tool that Parse refused: it is told of, and set
// aside. name is what is known to be its name.
func Broken(server, name string, raw json.RawMessage, err error) Definition {
	return Definition{Server: server, Name: name, Raw: bytes.Clone(raw), Fault: err.Error()}
}

// Annotations are a server's own hints. A hint that was absent, or was not a
// boolean, is nil: that is not the same as false.
type Annotations struct {
	Title           string
	ReadOnlyHint    *bool
	DestructiveHint *bool
	IdempotentHint  *bool
	OpenWorldHint   *bool
}

// Parse reads one element of a server's tools/list result. The definition's
// Hash covers name, title, description, input schema and annotations; the order
// of keys and whitespace do not change it. Unknown fields stay in Raw. It fails
// when raw is not an object with a name, or a known field has the wrong type.
func Parse(server string, raw json.RawMessage, trusted bool) (Definition, error) {
	def := Definition{Server: server, Raw: bytes.Clone(raw), Trusted: trusted}
	// A map, because decoding into a struct would let "NAME" override "name".
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return Definition{}, fmt.Errorf("parsing a tool of server %q: %w", server, err)
	}
	err := errors.Join(
		stringField(fields, "name", &def.Name),
		stringField(fields, "title", &def.Title),
		stringField(fields, "description", &def.Description),
	)
	if err != nil {
		return Definition{}, fmt.Errorf("parsing tool %q of server %q: %w", def.Name, server, err)
	}
	if def.Name == "" {
		return Definition{}, fmt.Errorf("parsing a tool of server %q: it has no name", server)
	}
	if schema := fields["inputSchema"]; !isNull(schema) {
		def.InputSchema = bytes.Clone(schema)
	}
	def.Annotations = parseAnnotations(fields["annotations"])
	def.Hash = hashFields(fields)
	return def, nil
}

func stringField(fields map[string]json.RawMessage, key string, into *string) error {
	raw := fields[key]
	if isNull(raw) {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s must be a string: %w", key, err)
	}
	return nil
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// parseAnnotations never fails: a hint we cannot read is a hint not given.
func parseAnnotations(raw json.RawMessage) Annotations {
	var fields map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &fields) != nil {
		return Annotations{}
	}
	a := Annotations{
		ReadOnlyHint:    hint(fields["readOnlyHint"]),
		DestructiveHint: hint(fields["destructiveHint"]),
		IdempotentHint:  hint(fields["idempotentHint"]),
		OpenWorldHint:   hint(fields["openWorldHint"]),
	}
	if stringField(fields, "title", &a.Title) != nil {
		a.Title = ""
	}
	return a
}

func hint(raw json.RawMessage) *bool {
	var b *bool
	if len(raw) == 0 || json.Unmarshal(raw, &b) != nil {
		return nil
	}
	return b
}

// hashedFields are what a person consents to when allowing a tool.
var hashedFields = [...]string{"name", "title", "description", "inputSchema", "annotations"}

func hashFields(fields map[string]json.RawMessage) string {
	parts := make(map[string]any, len(hashedFields))
	for _, key := range hashedFields {
		if raw := fields[key]; !isNull(raw) {
			parts[key] = decodeExact(raw)
		}
	}
	sum := sha256.Sum256(encodeCanonical(parts))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// decodeExact decodes valid JSON and keeps numbers as they were written.
func decodeExact(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return string(raw) // cannot happen for a part of a decoded document; still a stable value
	}
	return v
}

// encodeCanonical writes v with sorted keys and no whitespace.
func encodeCanonical(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Appendf(nil, "%v", v)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
