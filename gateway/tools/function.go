package tools

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
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
	// The common case, without decoding: the caller's Marshal checks the rest.
	if root := gjson.GetManyBytes(schema, "type", "properties"); root[0].Raw == `"object"` && root[1].IsObject() {
		return schema, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(schema, &fields); err != nil {
		return nil, fmt.Errorf("its input schema is not a JSON object: %w", err)
	}
	fields["type"] = json.RawMessage(`"object"`)
	if isNull(fields["properties"]) {
		fields["properties"] = json.RawMessage(`{}`)
	}
	return json.Marshal(fields)
}
