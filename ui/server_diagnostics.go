package ui

import (
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/servers/diagnostics"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// diagnosticsWait is how long one read of a server's records waits for more.
const diagnosticsWait = 30 * time.Second

// serverDiagnostics shows what is kept of what happens with one server, as it
// happens.
type serverDiagnostics struct {
	screen *serversScreen
	name   string
	object fyne.CanvasObject

	records model.Diagnostics
	level   diagnostics.Level // how much is kept, as the settings say
	keep    *widget.Select
	about   *widget.Select
	follow  *widget.Check
	note    *widget.Label
	lines   *part.Lines
	stop    context.CancelFunc // ends the reading; nil when nothing is read
}

func newServerDiagnostics(s *serversScreen, name string) *serverDiagnostics {
	d := &serverDiagnostics{screen: s, name: name, level: diagnostics.Off, note: newNotice(widget.MediumImportance), lines: part.NewLines()}
	levels, words := model.KeptLevels()
	d.keep = widget.NewSelect(words, nil)
	d.keep.SetSelectedIndex(0)
	d.keep.OnChanged = func(string) { d.onKeep(levels[d.keep.SelectedIndex()]) }
	categories, kinds := model.KeptCategories()
	d.about = widget.NewSelect(kinds, nil)
	d.about.SetSelectedIndex(0)
	d.about.OnChanged = func(string) {
		d.records.Narrow(categories[d.about.SelectedIndex()])
		d.show()
	}
	d.follow = widget.NewCheck("Follow", func(bool) { d.show() })
	d.follow.SetChecked(true)
	back := widget.NewButton("‹ Server", func() { s.open(name) })
	back.Importance = widget.LowImportance
	copied := widget.NewButtonWithIcon("Copy", theme.Icon("copy", theme.ColorMuted), d.onCopy)
	cleared := widget.NewButtonWithIcon("Clear", theme.Icon("remove", theme.ColorMuted), func() {
		d.records.Clear()
		d.show()
	})
	title := container.NewBorder(nil, nil, back, nil, part.Heading("What happens with "+model.OneLine(name)))
	bar := container.NewBorder(nil, nil, nil, container.NewHBox(d.follow, copied, cleared), container.NewGridWithColumns(2, d.keep, d.about))
	page := container.NewStack(part.NewSurface(theme.ColorCard, theme.ColorLine, theme.Step), part.Inset(0.5, d.lines))
	d.object = container.NewBorder(container.NewVBox(title, bar, d.note), nil, nil, nil, page)
	return d
}

// onKeep changes how much is kept of every server. Off takes away what there is.
func (d *serverDiagnostics) onKeep(level diagnostics.Level) {
	d.screen.changeBy(func(*config.Config) []config.Edit {
		return []config.Edit{{Path: []string{"diagnostics", "mcp"}, Value: string(level)}}
	}, func() {})
}

// update follows the settings.
func (d *serverDiagnostics) update() {
	view := d.screen.view
	level := diagnostics.Level(view.settings.Config.Diagnostics.MCP)
	if _, there := view.statusOf(d.name); !there {
		d.screen.back() // somebody has removed it
		return
	}
	levels, _ := model.KeptLevels()
	changed := d.keep.OnChanged
	d.keep.OnChanged = nil
	d.keep.SetSelectedIndex(max(slices.Index(levels, level), 0))
	d.keep.OnChanged = changed
	d.level = level
	switch {
	case level == diagnostics.Off:
		d.end()
		d.records.Clear()
	case d.stop == nil:
		d.read()
	}
	d.show()
}

// end ends the reading.
func (d *serverDiagnostics) end() {
	if d.stop != nil {
		d.stop()
		d.stop = nil
	}
}

// read reads from the oldest record that is kept, and goes on with what happens.
func (d *serverDiagnostics) read() {
	ctx, stop := context.WithCancel(d.screen.ctx)
	d.stop = stop
	d.records.Clear()
	u := d.screen.ui
	u.work.Go(func() {
		q := diagnostics.Query{Server: d.name, Max: diagnostics.MaxMax}
		for ctx.Err() == nil {
			page, err := u.client.Diagnostics(ctx, q)
			u.postWhile(ctx, "showing what happened with a server", func() { d.take(page, err) })
			if err != nil || page.Level == diagnostics.Off {
				return
			}
			q.Cursor, q.Wait = page.Cursor, diagnosticsWait
		}
	})
}

// take takes in a page, the last when nothing is kept any more.
func (d *serverDiagnostics) take(page diagnostics.Page, err error) {
	if err != nil {
		d.end()
		tell(d.note, "What happens cannot be read: "+err.Error())
		return
	}
	if page.Level == diagnostics.Off {
		d.end()
	}
	d.records.Take(page)
	d.show()
}

func (d *serverDiagnostics) show() {
	tell(d.note, d.records.Notice(d.level))
	var lines []part.TextLine
	for _, l := range d.records.Lines() {
		lines = append(lines, part.TextLine{Text: l.Text, Color: recordColor(l.Level)})
	}
	d.lines.Replace(lines, d.follow.Checked)
}

func recordColor(level diagnostics.Level) fyne.ThemeColorName {
	switch level {
	case diagnostics.Error:
		return theme.ColorDestructive
	case diagnostics.Warning:
		return theme.ColorWrite
	case diagnostics.Debug, diagnostics.Trace:
		return theme.ColorMuted
	}
	return ""
}

func (d *serverDiagnostics) onCopy() { d.screen.ui.app.Clipboard().SetContent(d.lines.Text()) }
