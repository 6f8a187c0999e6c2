package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// sessionVariable names the test that runs inside a session of its own.
const sessionVariable = "POINTSMAN_E2E_SESSION"

// sessionPatience bounds a whole test in a session.
const sessionPatience = 3 * time.Minute

// inSession reports whether the test runs in a desktop session of its own. When
// it does not, it runs the test again in one, and passes on what came of it.
func inSession(t *testing.T, env ...string) bool {
	t.Helper()
	return inSessionOf(t, nil, env...)
}

// cutOff is inSession for a test whose programs reach nothing but each other: it
// has a network of its own, where loopback is all there is.
func cutOff(t *testing.T) bool {
	t.Helper()
	own := []string{"unshare", "--map-root-user", "--net", "sh", "-ec", `ip link set lo up; exec "$@"`, "sh"}
	if out, err := exec.CommandContext(t.Context(), own[0], append(own[1:], "true")...).CombinedOutput(); err != nil && os.Getenv(sessionVariable) == "" {
		t.Skipf("there can be no network that has only loopback: %v: %s", err, out)
	}
	return inSessionOf(t, own)
}

// inSessionOf has the session be started by another command.
func inSessionOf(t *testing.T, by []string, env ...string) bool {
	t.Helper()
	if os.Getenv(sessionVariable) == t.Name() {
		return true
	}
	for _, program := range []string{"Xvfb", "openbox", "xfce4-panel", "dbus-run-session", "gnome-keyring-daemon", "gdbus"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no desktop to test with: %v; `make deps` installs one", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), sessionPatience)
	defer cancel()
	command := append(slices.Clone(by), "../scripts/session.sh", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), sessionVariable+"="+t.Name()), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("in its session: %v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP: "+t.Name()+" ") {
		t.Skipf("%s", out)
	}
	return false
}

// sessionEnv lets a program take part in the session. The race detector stays
// silent about the races of libraries that testdata/races.txt names.
func sessionEnv(t *testing.T) []string {
	t.Helper()
	races, err := filepath.Abs("testdata/races.txt")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"GORACE=atexit_sleep_ms=0 suppressions=" + races}
	for _, name := range []string{"DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"} {
		env = append(env, name+"="+os.Getenv(name))
	}
	return env
}

// bus is the session's bus, as a desktop uses it.
type bus struct {
	*dbus.Conn
	notes chan []any // the arguments of each Notify
	taken chan uint32
}

func newBus(t *testing.T) *bus {
	t.Helper()
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	b := &bus{Conn: conn, notes: make(chan []any, 100), taken: make(chan uint32, 100)}
	if err := conn.Export(b, "/org/freedesktop/Notifications", notifications); err != nil {
		t.Fatal(err)
	}
	reply, err := conn.RequestName(notifications, dbus.NameFlagReplaceExisting)
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("standing in for the desktop's notifications: %v, %v", reply, err)
	}
	return b
}

const notifications = "org.freedesktop.Notifications"

// Notify is org.freedesktop.Notifications.Notify.
func (b *bus) Notify(app string, replaces uint32, icon, title, body string, actions []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	b.notes <- []any{app, replaces, icon, title, body, actions}
	return 7, nil
}

// CloseNotification is org.freedesktop.Notifications.CloseNotification.
func (b *bus) CloseNotification(id uint32) *dbus.Error {
	b.taken <- id
	return nil
}

// receive takes what comes next.
func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("waited %s for %s in vain", patience, what)
	}
	return *new(T) // Fatalf has ended the test
}

// trayItem is the tray item of a process.
type trayItem struct {
	bus   *bus
	owner string
}

// trayItem waits until a process stands in the panel.
func (b *bus) trayItem(t *testing.T, pid int) *trayItem {
	t.Helper()
	item := &trayItem{bus: b}
	await(t, "the tray item", func() bool { item.owner = b.trayOwner(t, pid); return item.owner != "" })
	return item
}

// trayOwner is the name on the bus of a process that stands in the panel, or "".
func (b *bus) trayOwner(t *testing.T, pid int) string {
	t.Helper()
	watcher := b.Object("org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher")
	var items []string
	if err := watcher.StoreProperty("org.kde.StatusNotifierWatcher.RegisteredStatusNotifierItems", &items); err != nil {
		return "" // there is no panel
	}
	for _, item := range items {
		name, _, _ := strings.Cut(item, "/")
		var owner int
		if b.BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, name).Store(&owner) == nil && owner == pid {
			return name
		}
	}
	return ""
}

// property reads a property of the item.
func (i *trayItem) property(t *testing.T, name string, v any) {
	t.Helper()
	if err := i.bus.Object(i.owner, "/StatusNotifierItem").StoreProperty("org.kde.StatusNotifierItem."+name, v); err != nil {
		t.Fatalf("reading %s of the tray item: %v", name, err)
	}
}

// title is what the panel calls the item.
func (i *trayItem) title(t *testing.T) string {
	t.Helper()
	var title string
	i.property(t, "Title", &title)
	return title
}

// tooltip is what is seen when the pointer is on the item.
func (i *trayItem) tooltip(t *testing.T) string {
	t.Helper()
	var tip struct {
		Icon  string
		Icons []struct {
			Width, Height int32
			Pixels        []byte
		}
		Title, Body string
	}
	i.property(t, "ToolTip", &tip)
	return tip.Title
}

// pixels is the item's picture.
func (i *trayItem) pixels(t *testing.T) string {
	t.Helper()
	var pictures []struct {
		Width, Height int32
		Pixels        []byte
	}
	i.property(t, "IconPixmap", &pictures)
	if len(pictures) != 1 || pictures[0].Width < 16 {
		t.Fatalf("the item has %d pictures", len(pictures))
	}
	return string(pictures[0].Pixels)
}

// menuLine is one line of the item's menu.
type menuLine struct {
	id      int32
	label   string
	enabled bool
	ticked  bool
}

// layout is com.canonical.dbusmenu's.
type layout struct {
	ID         int32
	Properties map[string]dbus.Variant
	Children   []dbus.Variant
}

// menu reads the item's menu.
func (i *trayItem) menu(t *testing.T) []menuLine {
	t.Helper()
	var revision uint32
	var root layout
	call := i.bus.Object(i.owner, "/StatusNotifierItem/menu").Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{})
	if err := call.Store(&revision, &root); err != nil {
		t.Fatalf("reading the menu: %v", err)
	}
	var lines []menuLine
	for _, child := range root.Children {
		var l layout
		if err := dbus.Store([]any{child.Value()}, &l); err != nil {
			t.Fatalf("reading a line of the menu: %v", err)
		}
		line := menuLine{id: l.ID}
		line.label, _ = l.Properties["label"].Value().(string)
		line.enabled, _ = l.Properties["enabled"].Value().(bool)
		state, _ := l.Properties["toggle-state"].Value().(int32)
		line.ticked = state == 1
		lines = append(lines, line)
	}
	return lines
}

// line waits for a line of the menu whose label begins so.
func (i *trayItem) line(t *testing.T, label string) menuLine {
	t.Helper()
	var found menuLine
	await(t, "the line "+label, func() bool {
		for _, line := range i.menu(t) {
			if strings.HasPrefix(line.label, label) {
				found = line
				return true
			}
		}
		return false
	})
	return found
}

// click chooses a line, as a panel does.
func (i *trayItem) click(t *testing.T, label string) {
	t.Helper()
	line := i.line(t, label)
	if !line.enabled {
		t.Errorf("%q cannot be chosen", line.label)
	}
	call := i.bus.Object(i.owner, "/StatusNotifierItem/menu").Call("com.canonical.dbusmenu.Event", 0, line.id, "clicked", dbus.MakeVariant(0), uint32(0))
	if call.Err != nil {
		t.Fatalf("choosing %s: %v", label, call.Err)
	}
}
