//go:build cgo

package tray

import (
	"context"

	"fyne.io/systray"
)

// host stands the tray in the menu bar until ctx ends. macOS wants its loop on
// the main goroutine.
func (t *tray) host(ctx context.Context) error {
	systray.Run(func() {
		t.show(t.opts.State(ctx))
		t.opts.Shown()
		t.run(ctx)
		systray.Quit()
	}, nil)
	return nil
}
