// Package assets holds the files that are part of the program: data a person
// can read and correct without reading Go.
package assets

import (
	"embed"
	"fmt"
)

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

// icons are the tray's pictures, drawn by scripts/icons.sh from the SVG files
// beside them.
//
//go:embed icons/*.png
var icons embed.FS

// TrayIcon returns the picture of that name as PNG, 22, 32 or 48 pixels wide, or
// nil when there is none.
func TrayIcon(name string, size int) []byte {
	data, err := icons.ReadFile(fmt.Sprintf("icons/tray-%s-%d.png", name, size))
	if err != nil { // it was not drawn: the reader shows nothing
		return nil
	}
	return data
}
