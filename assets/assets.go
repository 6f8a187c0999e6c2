// Package assets holds the files that are part of the program: data a person
// can read and correct without reading Go.
package assets

import _ "embed"

// RiskYAML is the vocabulary by which package tools judges how dangerous a tool
// is.
//
//go:embed risk.yaml
var RiskYAML []byte

// ModelsYAML is the catalogue of models and providers known by name.
//
//go:embed models.yaml
var ModelsYAML []byte

// DemoYAML is the script of the demo model.
//
//go:embed demo.yaml
var DemoYAML []byte
