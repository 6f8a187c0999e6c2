package ui

import (
	"context"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// screen is one page of the main window. Its methods are called on the UI
// goroutine.
type screen interface {
	// content is the page. It is called once, when the page is first shown.
	content() fyne.CanvasObject
	// enter tells that the page is before the user, until ctx ends.
	enter(ctx context.Context)
}

// watcher is a screen that shows the program's state or its configuration.
type watcher interface {
	// watch tells what they are, and each change while the page is before the
	// user. now.Config is nil while it is not known.
	watch(state model.State, now control.Settings)
}

// The screens by their names in the navigation.
const (
	screenActivity  = "Activity"
	screenApprovals = "Approvals"
	screenServers   = "Servers"
	screenModels    = "Models"
	screenUsage     = "Usage"
	screenConnect   = "Connect"
	screenSettings  = "Settings"
	screenLogs      = "Logs"
	screenWelcome   = "Welcome" // in no navigation
)

// place is one entry of the navigation.
type place struct {
	name, icon string
	make       func(*UI) screen
}

// places are the entries of the navigation, in its order.
func places() []place {
	return []place{
		{screenActivity, "activity", newActivityScreen},
		{screenApprovals, "approvals", newRulesScreen},
		{screenServers, "servers", newServersScreen},
		{screenModels, "models", newModelsScreen},
		{screenUsage, "usage", newUsageScreen},
		{screenConnect, "connect", newConnectScreen},
		{screenSettings, "settings", newSettingsScreen},
		{screenLogs, "logs", newLogsScreen},
	}
}

var (
	mainSize = fyne.NewSize(1080, 700) // at first
	railSize = fyne.NewSize(23*theme.Step, 0)
)

// mainWindow is the window with the screens.
type mainWindow struct {
	ui      *UI
	window  fyne.Window
	visible bool

	entries map[string]*navEntry
	screens map[string]screen
	built   map[string]fyne.CanvasObject
	current string             // name of the screen before the user
	leave   context.CancelFunc // ends enter's context; nil while the window is hidden
	close   context.CancelFunc // ends what the window follows while it is visible

	page    *fyne.Container
	banners *bannerBox
	status  *widget.Label
	state   model.State
	now     control.Settings
	greet   bool // the first steps come up when nothing turns out to be configured
}

func newMainWindow(u *UI) *mainWindow {
	m := &mainWindow{
		ui: u, entries: map[string]*navEntry{}, screens: map[string]screen{}, built: map[string]fyne.CanvasObject{},
		page: container.NewStack(), status: part.Remark("Starting …"),
	}
	m.banners = newBannerBox(u, m.open)
	return m
}

// open brings the window up with a screen; "" is the one it had.
func (m *mainWindow) open(name string) {
	if m.window == nil {
		m.build()
	}
	if !m.visible {
		m.setVisible(true)
		m.greet = name == "" // who asked for a screen gets that
		m.follow()
		m.banners.lookAtKeychain()
	}
	m.turnTo(name)
	m.window.Show()
	m.window.RequestFocus()
	m.ui.leaveLater()
	m.ui.restLater()
}

func (m *mainWindow) build() {
	m.window = m.ui.app.NewWindow(model.Name)
	rail := container.NewVBox(part.Inset(1, part.Subheading(model.Name)))
	for _, p := range places() {
		m.entries[p.name] = newNavEntry(p.name, p.icon, func() { m.turnTo(p.name) })
		m.screens[p.name] = p.make(m.ui)
		rail.Add(m.entries[p.name])
	}
	m.screens[screenWelcome] = newWelcomeScreen(m.ui)
	side := container.NewBorder(nil, m.status, nil, nil, rail)
	width := container.NewGridWrap(railSize)
	body := container.NewBorder(m.banners.box, nil, nil, nil, part.Inset(2, m.page))
	m.window.SetContent(container.NewBorder(nil, nil,
		container.NewStack(part.NewSurface(theme.ColorRail, "", 0), width, part.Inset(1, side)), nil, body))
	m.window.SetPadded(false)
	m.window.Resize(mainSize)
	m.window.SetCloseIntercept(m.onClose)
}

// turnTo puts a screen before the user.
func (m *mainWindow) turnTo(name string) {
	if name == "" {
		name = m.current
	}
	if m.screens[name] == nil {
		name = places()[0].name
	}
	if name == m.current && m.leave != nil {
		return
	}
	if m.leave != nil {
		m.leave()
	}
	m.current = name
	m.ui.restLater()
	for other, entry := range m.entries {
		entry.setSelected(other == name)
	}
	ctx, leave := context.WithCancel(m.ui.ctx)
	m.leave = leave
	m.ui.safely("opening "+name, func() {
		if m.built[name] == nil {
			m.built[name] = m.screens[name].content()
		}
		m.page.Objects = []fyne.CanvasObject{m.built[name]}
		m.page.Refresh()
		m.screens[name].enter(ctx)
		m.tell()
	})
}

// failed shows that a part of the current screen has panicked.
func (m *mainWindow) failed(doing string) {
	delete(m.built, m.current) // it is built anew the next time
	m.page.Objects = []fyne.CanvasObject{part.Empty(theme.Icon("failed", theme.ColorDestructive), "This screen has failed",
		"The fault was in "+doing+". It is in the log, and nothing else is touched: the gateway runs on. Choose the screen again to try once more.", nil)}
	m.page.Refresh()
	if m.leave != nil { // else the window is hidden, or this is the second panic
		m.leave()
		m.leave = nil
	}
}

// seen is what the window follows, all of about the same moment.
type seen struct {
	state    model.State
	settings control.Settings
	err      error // why settings are not known
}

// follow keeps the state and the configuration before the user up to date while
// the window is visible.
func (m *mainWindow) follow() {
	ctx, stop := context.WithCancel(m.ui.ctx)
	m.close = stop
	m.ui.work.Go(func() {
		_ = m.ui.client.Changes(ctx, func() { // obey sees the resident go
			var s seen
			if err := m.ui.client.Get(ctx, "/state", &s.state); err != nil {
				return
			}
			s.settings, s.err = m.ui.client.Settings(ctx)
			m.ui.postWhile(ctx, "showing the state", func() { m.set(s) })
		})
	})
}

// set shows what was seen.
func (m *mainWindow) set(s seen) {
	m.state = s.state
	at := s.state
	at.Fault = "" // a banner has it
	m.status.SetText(strings.ReplaceAll(model.StatusLine(at), " · ", "\n"))
	if entry := m.entries[screenApprovals]; entry != nil {
		count := ""
		if s.state.Waiting > 0 {
			count = strconv.Itoa(s.state.Waiting)
		}
		entry.setCount(count)
	}
	if s.err != nil {
		m.ui.log.Error("reading the settings", "error", s.err)
		m.configure(m.now)
		return
	}
	m.configure(s.settings)
}

// configure shows the configuration.
func (m *mainWindow) configure(now control.Settings) {
	m.now = now
	m.ui.heed(now)
	m.banners.set(m.state, now)
	if m.greet && now.Config != nil {
		m.greet = false
		if model.FirstStart(now.Config) && !model.Welcomed(m.ui.opts.Home) {
			m.turnTo(screenWelcome)
			return
		}
	}
	m.tell()
}

// has reports whether there is such a screen.
func (m *mainWindow) has(name string) bool { return m.screens[name] != nil }

// tell tells the screen before the user what is.
func (m *mainWindow) tell() {
	if w, ok := m.screens[m.current].(watcher); ok && m.leave != nil {
		w.watch(m.state, m.now)
	}
}

// setVisible notes whether the window is open, and tells the resident, which opens
// it again should this process fail.
func (m *mainWindow) setVisible(visible bool) {
	m.visible = visible
	if m.ui.opts.Parent != nil {
		m.ui.opts.Parent.Open(visible)
	}
}

// tellFailed says that an earlier process of the windows has failed.
func (m *mainWindow) tellFailed(why string) {
	dialog.ShowInformation("The windows had to start again", "They failed: "+approvals.Visible(model.Shorten(why, longestWhy))+
		".\nMore is in the log. The gateway was not touched, and nothing was approved.", m.window)
}

// longestWhy is how many columns of a failure are shown.
const longestWhy = 200

// onClose hides the window; without a tray it asks what that means.
func (m *mainWindow) onClose() {
	if m.state.NoTray == "" {
		m.hide()
		return
	}
	m.ui.ask(question{title: "Keep Pointsman running?", width: 60 * theme.Step, leave: "Cancel", body: part.Words(
		"There is no tray here (" + m.state.NoTray + "), so nothing would show that Pointsman runs. Risky calls would still bring up a window. Start pointsman again to open this one."),
	}, reply{"Quit Pointsman", widget.DangerImportance, m.quit}, reply{"Keep running", widget.MediumImportance, m.hide})
}

func (m *mainWindow) quit() {
	m.ui.do(m.ui.client.Quit, func(err error) {
		if err != nil {
			dialog.ShowError(err, m.window)
		}
	})
}

func (m *mainWindow) hide() {
	m.setVisible(false)
	if m.leave != nil {
		m.leave()
		m.leave = nil
	}
	m.close()
	m.window.Hide()
	m.ui.leaveLater()
	m.ui.restLater()
}
