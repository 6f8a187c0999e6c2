//go:build headless

package main

import (
	"context"

	"pointsman/ui/cli"
)

// showWindows is nil: this build has no windows.
var showWindows func(context.Context, cli.Windows) error

// speak has nothing to do where nobody was silenced.
func speak() {}
