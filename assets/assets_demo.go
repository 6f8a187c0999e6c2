package assets

import _ "embed"

// DemoYAML is the script of the demo model.
//
//go:embed demo.yaml
var DemoYAML []byte
