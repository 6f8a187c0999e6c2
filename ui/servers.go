package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/control"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// serversScreen shows the MCP servers, and on further pages one server with its
// tools, the form of an entry, and the box for pasted ones.
type serversScreen struct {
	pages
	ctx  context.Context // while the screen is before the user
	view serversView
	seen bool // view has been fetched

	list    *widget.List
	lines   []model.ServerLine
	empty   *fyne.Container
	page    *serverPage        // the server that is shown; nil: none
	form    *serverForm        // what was opened last; nil: nothing
	imports *serverImport      // what was opened last; nil: nothing
	notes   *serverDiagnostics // of the server whose records are shown; nil: none
}

// serversView is what the screen shows, all of one moment.
type serversView struct {
	settings control.Settings
	status   []servers.Status
	tools    []tools.Row
}

func newServersScreen(u *UI) screen {
	s := &serversScreen{}
	s.pages = newPages(u, &s.view.settings)
	s.changed = s.updatePage // a switch goes back to what is true
	return s
}

func (s *serversScreen) content() fyne.CanvasObject {
	add := widget.NewButtonWithIcon("Add server", theme.Icon("add", theme.ColorMuted), func() { s.edit(model.ServerForm{}) })
	paste := widget.NewButtonWithIcon("Paste", theme.Icon("paste", theme.ColorMuted), s.onPaste)
	imported := widget.NewButtonWithIcon("Import", theme.Icon("folder", theme.ColorMuted), s.onImport)
	export := widget.NewButtonWithIcon("Export", theme.Icon("export", theme.ColorMuted), s.onExport)
	s.list = widget.NewList(func() int { return len(s.lines) }, func() fyne.CanvasObject { return newServerRow() },
		func(i widget.ListItemID, o fyne.CanvasObject) { o.(*serverRow).set(s.lines[i]) })
	s.list.OnSelected = func(i widget.ListItemID) {
		s.list.UnselectAll()
		s.open(s.lines[i].Name)
	}
	s.empty = container.NewStack()
	head := container.NewBorder(nil, nil, nil, container.NewCenter(part.Row(export, imported, paste, add)), part.Heading("Servers"))
	return s.build(container.NewBorder(container.NewVBox(head, part.Gap(0.5)), nil, nil, nil, container.NewStack(s.list, s.empty)))
}

func (s *serversScreen) enter(ctx context.Context) {
	s.ctx = ctx
	if s.notes != nil { // what was read before ended with the screen
		s.notes.end()
	}
	follow(ctx, s.ui, s.fetch, s.set)
}

func (s *serversScreen) fetch(ctx context.Context) (serversView, error) {
	var view serversView
	var err error
	if err = s.ui.client.Get(ctx, "/servers", &view.status); err != nil {
		return view, err
	}
	if view.tools, err = s.ui.client.Tools(ctx); err != nil {
		return view, err
	}
	view.settings, err = s.ui.client.Settings(ctx) // last: what is listed above is in them, unless it is gone
	return view, err
}

// set shows what there is.
func (s *serversScreen) set(view serversView, err error) {
	if err != nil {
		s.bar.fail(err)
		return
	}
	s.view, s.seen = view, true
	s.lines = model.ServerLines(view.status)
	s.empty.Objects = nil
	if len(view.settings.Config.MCPServers) == 0 { // what comes with the program is none of the user's
		s.empty.Objects = []fyne.CanvasObject{s.nothing()}
	}
	s.empty.Refresh()
	s.list.Refresh()
	s.updatePage()
}

func (s *serversScreen) updatePage() {
	if s.page != nil {
		s.page.update()
	}
	if s.notes != nil {
		s.notes.update()
	}
}

// leave forgets the page that is shown.
func (s *serversScreen) leave() {
	s.page = nil
	if s.notes != nil {
		s.notes.end()
		s.notes = nil
	}
}

// diagnose shows what happens with a server.
func (s *serversScreen) diagnose(name string) {
	s.leave()
	s.notes = newServerDiagnostics(s, name)
	s.turn(s.notes.object)
	s.notes.update()
}

func (s *serversScreen) nothing() fyne.CanvasObject {
	add := widget.NewButton("Add a server", func() { s.edit(model.ServerForm{}) })
	add.Importance = widget.HighImportance
	return part.Empty(theme.Icon("servers", theme.ColorMuted), "No servers yet",
		"An MCP server gives models tools: files, a browser, a database. Paste the block that its README shows, or fill the form.",
		part.Row(s.ui.firstSteps("First steps"), widget.NewButton("Paste a block", s.onPaste), add))
}

// statusOf is how a server is.
func (v serversView) statusOf(name string) (servers.Status, bool) {
	for _, status := range v.status {
		if status.Name == name {
			return status, true
		}
	}
	return servers.Status{}, false
}

// back shows the list again.
func (s *serversScreen) back() {
	s.leave()
	s.turn(s.front)
}

// open shows one server.
func (s *serversScreen) open(name string) {
	s.leave()
	s.page = newServerPage(s, name)
	s.turn(s.page.object)
	s.page.update()
}

// edit opens a form. What was there comes back after it.
func (s *serversScreen) edit(f model.ServerForm) {
	if !s.seen {
		return
	}
	s.leave()
	s.form = newServerForm(s, f)
	s.turn(s.form.object)
	if !f.Builtin {
		s.ui.main.window.Canvas().Focus(s.form.name) // who opens a form types
	}
}

func (s *serversScreen) onPaste() {
	if s.seen {
		s.leave()
		s.turn(newServerPaste(s).object)
	}
}

func (s *serversScreen) onImport() {
	if s.seen {
		s.leave()
		s.imports = newServerImport(s)
		s.turn(s.imports.object)
		s.imports.read()
	}
}

// remove takes a server out of the file, and offers a way back.
func (s *serversScreen) remove(name string) {
	s.pages.remove("mcpServers", name, s.view.settings.Config.MCPServers[name], s.back)
}
