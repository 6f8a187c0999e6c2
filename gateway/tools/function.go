package tools

import (
	"encoding/json"

	"pointsman/gateway/cut"
	"pointsman/gateway/tools/schema"
)

// function returns the element of an OpenAI request's tools.
func function(offered string, def *Definition, fitted *schema.Fitted) (json.RawMessage, error) {
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
	}{"function", fn{offered, cut.To(description, schema.MaxDescription), fitted.Schema}})
}
