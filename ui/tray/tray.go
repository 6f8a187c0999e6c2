// Package tray is the icon in the desktop's panel, its menu, and notifications.
// It runs inside the resident, without a window toolkit, and sleeps while
// nothing changes: whoever has the state tells that it changed, and the tray
// then takes a fresh look.
//
// Run owns the tray's goroutines and ends them, but for those of the system's
// tray itself, which are one per process and end with it: Run can be called
// once in a process.
package tray

import (
	"context"
	"errors"
	"log/slog"

	"pointsman/ui/model"
)

// ErrNoTray says that there is no tray here, and that none can come.
var ErrNoTray = errors.New("no tray")

// Options are what a tray shows and does. State and Act are required.
type Options struct {
	// State is called whenever Changed receives, when the menu is opened, and at
	// the start.
	State   func(context.Context) model.State
	Changed <-chan struct{}
	// Act does what was chosen in the menu. Each call has a goroutine of its own,
	// which Run waits for; ctx ends with the tray.
	Act func(context.Context, model.Action)
	// Shown is called when there is a panel to stand in, the first time. May be
	// nil.
	Shown func()
	// Missing is called when there is no panel to stand in, with the reason; the
	// tray appears when one comes. May be nil.
	Missing func(why string)
	Logger  *slog.Logger
}

func (o *Options) complete() {
	if o.Shown == nil {
		o.Shown = func() {}
	}
	if o.Missing == nil {
		o.Missing = func(string) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}
