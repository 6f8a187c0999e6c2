package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"pointsman/gateway/config"
	"pointsman/gateway/models"
)

// Request is a question. There is no model in it: the capability decides who
// answers.
type Request struct {
	Capability string `json:"capability"`
	Prompt     string `json:"prompt"`
	// Context is all that the answer may be taken from; "" for anything.
	Context string `json:"context"`
	// System is put before our own directives.
	System string `json:"system"`
	// ResponseSchema is a JSON Schema with type object, as an object or as its text
	// in a JSON string. Absent, the answer is text.
	ResponseSchema json.RawMessage `json:"response_schema"`
	// Temperature is 0 with a schema, and the model's own without, when absent.
	Temperature *float64 `json:"temperature"`
	// MaxOutputTokens is limits.max_output_tokens when absent, and never more.
	MaxOutputTokens *int `json:"max_output_tokens"`
}

// ParseRequest reads a question from JSON. It refuses what it does not know.
func ParseRequest(data []byte) (Request, error) {
	var req Request
	if _, err := models.ParseBody(data); err != nil {
		return req, models.Invalid("", "%v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return req, models.Invalid(wrong.Field, "%s must be %s, not %s", wrong.Field, inWords(wrong.Type.Kind().String()), wrong.Value)
		}
		return req, models.Invalid("", "the question cannot be taken: %v; known are capability, prompt, context, system, response_schema, temperature and max_output_tokens", err)
	}
	return req, nil
}

// inWords names a kind of Go's as JSON does.
func inWords(kind string) string {
	switch kind {
	case "string":
		return "a string"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	default:
		return "an object"
	}
}

// check refuses what is beyond the limits, before anybody is asked.
func (r *Request) check(limits config.Limits) error {
	if r.Prompt == "" {
		return models.Invalid("prompt", "the prompt is empty")
	}
	for _, text := range []struct {
		name, limit, text string
		most              int
	}{
		{"prompt", "max_prompt_chars", r.Prompt, limits.MaxPromptChars},
		{"context", "max_context_chars", r.Context, limits.MaxContextChars},
		{"system", "max_system_chars", r.System, limits.MaxSystemChars},
		{"response_schema", "max_schema_chars", string(r.ResponseSchema), limits.MaxSchemaChars},
	} {
		if n := utf8.RuneCountInString(text.text); n > text.most {
			return models.Invalid(text.name, "%s is %d characters long; limits.%s allows %d", text.name, n, text.limit, text.most)
		}
	}
	if n := r.MaxOutputTokens; n != nil && (*n < 1 || *n > limits.MaxOutputTokens) {
		return models.Invalid("max_output_tokens", "max_output_tokens is %d; it must be from 1 to %d (limits.max_output_tokens)", *n, limits.MaxOutputTokens)
	}
	if t := r.Temperature; t != nil && (*t < 0 || *t > 2) {
		return models.Invalid("temperature", "temperature is %v; it must be from 0 to 2", *t)
	}
	return nil
}

// schema returns the compiled schema, nil when the answer is text.
func (r *Request) schema() (*compiledSchema, error) {
	raw := bytes.TrimSpace(r.ResponseSchema)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, models.Invalid("response_schema", "response_schema cannot be read: %v", err)
		}
		raw = []byte(text)
	}
	s, err := compileSchema(raw)
	if err == nil {
		err = s.isOfObjects()
	}
	if err != nil {
		return nil, models.Invalid("response_schema", "response_schema: %v", err)
	}
	return s, nil
}

// decode reads one JSON value with its numbers as they are written, and nothing
// behind it.
func decode(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON value")
	}
	return v, nil
}
