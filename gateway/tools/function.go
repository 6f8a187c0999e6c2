package tools

import (
	"encoding/json"
	"fmt"
)

// maxDescription is how many characters of a description providers accept.
const maxDescription = 1024

// function returns the element of an OpenAI request's tools. Of the schema only
// the root is repaired: its type is object, and it has properties.
func function(offered string, def *Definition) (json.RawMessage, error) {
	parameters, err := rootObject(def.InputSchema)
	if err != nil {
		return nil, err
	}
	description := def.Description
	if description == "" {
		description = def.Title
	}
	type fn struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	return json.Marshal(struct {
		Type     string `json:"type"`
		Function fn     `json:"function"`
	}{"function", fn{offered, cutRunes(description, maxDescription), parameters}})
}

// rootObject returns schema as it is when its root is an object with
// properties, or repaired. It fails when schema is no JSON object.
func rootObject(schema json.RawMessage) (json.RawMessage, error) {
	if isNull(schema) {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(schema, &fields); err != nil {
		return nil, fmt.Errorf("its input schema is not a JSON object: %w", err)
	}
	if string(fields["type"]) == `"object"` && !isNull(fields["properties"]) {
		return schema, nil
	}
	fields["type"] = json.RawMessage(`"object"`)
	if isNull(fields["properties"]) {
		fields["properties"] = json.RawMessage(`{}`)
	}
	return json.Marshal(fields)
}
