package wake

import (
	"context"
	"fmt"

	"github.com/godbus/dbus/v5"
)

const (
	manager = "org.freedesktop.login1.Manager"
	member  = "PrepareForSleep" // true before the machine sleeps, false when it wakes
)

// Watch calls woke, on its own goroutine, each time the machine has woken, until
// ctx ends. Its error is ErrUntold, wrapped, when nobody tells.
func Watch(ctx context.Context, woke func()) error {
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("%w: connecting to the system bus: %w", ErrUntold, err)
	}
	defer conn.Close()
	signals := make(chan *dbus.Signal, 8)
	conn.Signal(signals)
	err = conn.AddMatchSignalContext(ctx, dbus.WithMatchSender("org.freedesktop.login1"),
		dbus.WithMatchObjectPath("/org/freedesktop/login1"), dbus.WithMatchInterface(manager), dbus.WithMatchMember(member))
	if err != nil {
		return fmt.Errorf("%w: listening on the system bus: %w", ErrUntold, err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case signal, open := <-signals:
			if !open && ctx.Err() == nil {
				return fmt.Errorf("%w any more: the system bus has gone", ErrUntold)
			}
			if open && wakes(signal) {
				woke()
			}
		}
	}
}

// wakes reports whether a signal says that the machine has woken.
func wakes(signal *dbus.Signal) bool {
	if signal.Name != manager+"."+member || len(signal.Body) != 1 {
		return false
	}
	sleeping, ok := signal.Body[0].(bool)
	return ok && !sleeping
}
