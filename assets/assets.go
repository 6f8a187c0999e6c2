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

// ShellYAML names the shell commands that only look, by which package shell
// judges a command line.
//
//go:embed shell.yaml
var ShellYAML []byte

// CopilotYAML names the tools that the Copilot CLI has itself, by which package
// hooks judges its calls.
//
//go:embed copilot.yaml
var CopilotYAML []byte

// ModelsYAML is the catalogue of models and providers known by name.
//
//go:embed models.yaml
var ModelsYAML []byte

// DemoYAML is the script of the demo model.
//
//go:embed demo.yaml
var DemoYAML []byte

// icons are the pictures of the tray and the program, drawn by scripts/icons.sh from the SVG files
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

// AppIcon is the program's own icon as PNG, 256 pixels wide.
func AppIcon() []byte {
	data, err := icons.ReadFile("icons/app-256.png")
	if err != nil { // it is embedded
		panic(err)
	}
	return data
}

// drawings are the icons of the windows, in one colour that the reader puts in
// the place of currentColor.
//
//go:embed icons/ui/*.svg
var drawings embed.FS

// Drawing returns the windows' icon of that name as SVG, or nil when there is
// none.
func Drawing(name string) []byte {
	data, err := drawings.ReadFile("icons/ui/" + name + ".svg")
	if err != nil { // it was not drawn: the reader shows nothing
		return nil
	}
	return data
}
