//go:build linux || freebsd || openbsd || netbsd

package tray

import (
	"context"
	"fmt"
	"html"
	"sync"

	"github.com/godbus/dbus/v5"

	"pointsman/ui/model"
)

const (
	notifications = "org.freedesktop.Notifications"
	critical      = byte(2) // it stays until it is closed
)

// Notifier shows notifications, one at a time. The zero value is ready; it is
// safe for concurrent use. Close ends it.
type Notifier struct {
	mu   sync.Mutex // guards the fields below
	conn *dbus.Conn // nil until something is shown
	id   uint32     // of what is shown, or 0
}

// Show shows a notice in the place of the one that is shown.
func (n *Notifier) Show(ctx context.Context, notice Notice) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn == nil || !n.conn.Connected() {
		conn, err := sessionBus(context.WithoutCancel(ctx)) // it outlives the call
		if err != nil {
			return fmt.Errorf("showing a notification: %w", err)
		}
		n.conn, n.id = conn, 0
	}
	hints := map[string]dbus.Variant{"urgency": dbus.MakeVariant(critical), "desktop-entry": dbus.MakeVariant("pointsman")}
	call := n.conn.Object(notifications, "/org/freedesktop/Notifications").CallWithContext(ctx, notifications+".Notify", 0,
		model.Name, n.id, "", notice.Title, html.EscapeString(notice.Body), []string{}, hints, int32(-1))
	if err := call.Store(&n.id); err != nil {
		return fmt.Errorf("showing a notification: %w", err)
	}
	return nil
}

// Hide takes back what is shown.
func (n *Notifier) Hide(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.id == 0 {
		return nil
	}
	id := n.id
	n.id = 0
	call := n.conn.Object(notifications, "/org/freedesktop/Notifications").CallWithContext(ctx, notifications+".CloseNotification", 0, id)
	if call.Err != nil {
		return fmt.Errorf("taking a notification back: %w", call.Err)
	}
	return nil
}

// Close ends the connection to the desktop.
func (n *Notifier) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn == nil {
		return nil
	}
	conn := n.conn
	n.conn, n.id = nil, 0
	return conn.Close()
}
