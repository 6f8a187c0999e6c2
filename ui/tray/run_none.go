//go:build !(linux || freebsd || openbsd || netbsd || windows || (darwin && cgo))

package tray

import (
	"context"
	"fmt"
)

// Run says that this build has no tray.
func Run(context.Context, Options) error {
	return fmt.Errorf("%w in this build; it takes one with cgo", ErrNoTray)
}
