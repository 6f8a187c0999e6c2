package assets

import _ "embed"

// ModelsYAML is the catalogue of models and providers known by name.
//
//go:embed models.yaml
var ModelsYAML []byte
