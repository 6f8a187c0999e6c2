//go:build linux || freebsd || openbsd || netbsd

package tray

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"

	"pointsman/ui/model"
)

const (
	// watcher is the name that a panel with a tray has on the bus.
	watcher = "org.kde.StatusNotifierWatcher"
	// itemPath is where the tray's item is on our connection.
	itemPath = "/StatusNotifierItem"
	// settle is how long a panel that came up gets to see our item by itself.
	settle = 300 * time.Millisecond
)

// host stands the tray in the panel until ctx ends. All is shown before the
// tray goes on the bus, or after it is there: what is set meanwhile would be
// lost.
func (t *tray) host(ctx context.Context) error {
	p, err := watchPanels(ctx)
	if err != nil {
		return err
	}
	defer p.conn.Close()
	if err := p.await(ctx, t.opts.Missing); err != nil || ctx.Err() != nil {
		return err
	}
	shared, err := dbus.SessionBus() // the tray's own connection
	if err != nil {
		return fmt.Errorf("%w: the session bus has gone: %w", ErrNoTray, err)
	}
	systray.SetTitle(model.Name) // the item's id on the bus is taken from it
	t.show(t.opts.State(ctx))
	start, end := systray.RunWithExternalLoop(nil, nil)
	start()
	t.opts.Shown()
	var staying sync.WaitGroup
	staying.Go(func() { p.stay(ctx, shared, t.opts) })
	t.run(ctx)
	staying.Wait()
	end()
	return nil
}

// panels watches the panels that come and go, on a connection of its own.
type panels struct {
	conn   *dbus.Conn
	owners chan *dbus.Signal
}

func watchPanels(ctx context.Context) (*panels, error) {
	conn, err := sessionBus(ctx)
	if err != nil {
		return nil, err
	}
	p := &panels{conn: conn, owners: make(chan *dbus.Signal, 8)}
	conn.Signal(p.owners)
	err = conn.AddMatchSignalContext(ctx, dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcher))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watching for a panel with a tray: %w", err), conn.Close())
	}
	return p, nil
}

// await waits for a panel, and tells missing when there is none yet. It returns
// nil when ctx ends, and ErrNoTray when no panel can come.
func (p *panels) await(ctx context.Context, missing func(why string)) error {
	var there bool
	if err := p.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcher).Store(&there); err != nil {
		return fmt.Errorf("looking for a panel with a tray: %w", err)
	}
	if there {
		return nil
	}
	missing("no panel with a tray is running (no " + watcher + " on the bus)")
	if !p.next(ctx) && ctx.Err() == nil {
		return fmt.Errorf("%w: the session bus has gone", ErrNoTray)
	}
	return nil
}

// next waits for the next panel that comes up. It returns false when ctx ends or
// the bus goes.
func (p *panels) next(ctx context.Context) bool {
	for {
		select {
		case signal, ok := <-p.owners:
			if !ok || cameUp(signal) {
				return ok
			}
		case <-ctx.Done():
			return false
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

// stay makes every panel that comes up show the item. The system's tray does so
// too, but gives up after any short signal on the connection that it shares with
// the keychain.
func (p *panels) stay(ctx context.Context, shared *dbus.Conn, opts Options) {
	for p.next(ctx) {
		select {
		case <-time.After(settle):
		case <-ctx.Done():
			return
		}
		if err := p.register(ctx, shared); err != nil && ctx.Err() == nil {
			opts.Logger.Warn("standing in the new panel", "error", err)
		}
	}
}

// register registers the item with the panel, unless it is there.
func (p *panels) register(ctx context.Context, shared *dbus.Conn) error {
	var items []string
	panel := shared.Object(watcher, "/StatusNotifierWatcher")
	if err := panel.StoreProperty(watcher+".RegisteredStatusNotifierItems", &items); err != nil {
		return fmt.Errorf("asking the panel for its items: %w", err)
	}
	ours := func(item string) bool {
		name, _, _ := strings.Cut(item, "/")
		return slices.Contains(shared.Names(), name)
	}
	if slices.ContainsFunc(items, ours) {
		return nil
	}
	return panel.CallWithContext(ctx, watcher+".RegisterStatusNotifierItem", 0, itemPath).Err
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
