//go:build linux || freebsd || openbsd || netbsd

package tray

import (
	"context"
	"errors"
	"fmt"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"

	"pointsman/ui/model"
)

// watcher is the name that a panel with a tray has on the bus.
const watcher = "org.kde.StatusNotifierWatcher"

// awaitHost waits for a panel with a tray, and tells missing when there is none
// yet. It returns nil when ctx ends, and ErrNoTray when no panel can come.
func awaitHost(ctx context.Context, missing func(why string)) error {
	conn, err := sessionBus(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	owners := make(chan *dbus.Signal, 8)
	conn.Signal(owners)
	err = conn.AddMatchSignalContext(ctx, dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcher))
	if err != nil {
		return fmt.Errorf("watching for a panel with a tray: %w", err)
	}
	var there bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcher).Store(&there); err != nil {
		return fmt.Errorf("looking for a panel with a tray: %w", err)
	}
	if there {
		return nil
	}
	missing("no panel with a tray is running (no " + watcher + " on the bus)")
	for {
		select {
		case signal, ok := <-owners:
			if !ok {
				return fmt.Errorf("%w: the session bus has gone", ErrNoTray)
			}
			if cameUp(signal) {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// cameUp reports whether a NameOwnerChanged tells of a new owner of watcher.
func cameUp(signal *dbus.Signal) bool {
	if len(signal.Body) != 3 || signal.Body[0] != watcher {
		return false
	}
	owner, ok := signal.Body[2].(string)
	return ok && owner != ""
}

// sessionBus opens a connection to the session's bus. It starts no bus: where
// there is none, there is no panel.
func sessionBus(ctx context.Context) (*dbus.Conn, error) {
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("%w: there is no session bus: %w", ErrNoTray, err)
	}
	if err := conn.Auth(nil); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: the session bus does not let us in: %w", ErrNoTray, err), conn.Close())
	}
	if err := conn.Hello(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: the session bus does not answer: %w", ErrNoTray, err), conn.Close())
	}
	return conn, nil
}

// host stands the tray in the panel until ctx ends. All is shown before the
// tray goes on the bus, or after it is there: what is set meanwhile would be
// lost.
func (t *tray) host(ctx context.Context) error {
	if _, err := dbus.SessionBus(); err != nil { // the tray's own connection
		return fmt.Errorf("%w: the session bus has gone: %w", ErrNoTray, err)
	}
	systray.SetTitle(model.Name) // the item's id on the bus is taken from it
	t.show(t.opts.State(ctx))
	start, end := systray.RunWithExternalLoop(nil, nil)
	start()
	t.opts.Shown()
	t.run(ctx)
	end()
	return nil
}
