//go:build !(linux || freebsd || openbsd || netbsd)

package tray

import (
	"context"
	"errors"
)

// Notifier shows nothing on this system: its notifications need the windows.
type Notifier struct{}

// Show says that nothing can be shown.
func (*Notifier) Show(context.Context, Notice) error {
	return errors.New("notifications are shown by the windows on this system")
}

// Hide does nothing: nothing is shown.
func (*Notifier) Hide(context.Context) error { return nil }

// Close does nothing.
func (*Notifier) Close() error { return nil }
