package ui

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/connect"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// serverImport is the page that takes servers from other programs' files, which
// it leaves as they are.
type serverImport struct {
	screen *serversScreen
	object fyne.CanvasObject
	rename *widget.Check
	fault  *widget.Label
	list   *fyne.Container
	needed *fyne.Container
	add    *widget.Button

	sources    []connect.Source
	candidates []connect.Candidate
	ticks      map[string]bool // by the name that the server would have
	wanted     []connect.Wanted
	values     map[string]string // typed, by the name in the keychain
}

func newServerImport(s *serversScreen) *serverImport {
	p := &serverImport{screen: s, fault: newNotice(widget.DangerImportance), list: container.NewVBox(), needed: container.NewVBox(), ticks: map[string]bool{}, values: map[string]string{}}
	p.rename = widget.NewCheck("Add a server whose name is taken under another name", func(bool) { p.plan() })
	p.add = widget.NewButton("Add", p.onAdd)
	p.add.Importance = widget.HighImportance
	p.add.Disable()
	words := part.Remark("Servers of VS Code, Copilot, Claude Desktop, Claude Code, Cursor and Codex. Their files stay as they are. What looks like a secret, and what you type below, goes to the keychain.")
	foot := container.NewBorder(nil, nil, nil, container.NewHBox(widget.NewButton("Cancel", s.back), p.add))
	top := container.NewVBox(part.Heading("Import servers"), words, p.rename, p.fault, part.Gap(0.5))
	p.object = container.NewBorder(top, container.NewVBox(part.Gap(0.5), foot), nil, nil, scrolled(container.NewVBox(p.list, p.needed)))
	return p
}

// read looks into the files; those of the workspace, too.
func (p *serverImport) read() {
	folder := p.screen.view.settings.Config.Workspace()
	background(p.screen.ctx, p.screen.ui, func(context.Context) ([]connect.Source, error) {
		machine, err := connect.ThisMachine(folder, os.Getenv)
		if err != nil {
			return nil, err
		}
		return connect.Read(machine), nil
	}, func(sources []connect.Source, err error) {
		if err != nil {
			tell(p.fault, inWords(err))
			return
		}
		p.sources = sources
		p.plan()
	})
}

// plan shows what each file has, and what would become of it.
func (p *serverImport) plan() {
	p.candidates = connect.Plan(p.sources, p.screen.view.settings.Config.MCPServers, p.rename.Checked)
	p.list.RemoveAll()
	var faults []string
	for _, s := range p.sources {
		if s.Fault != "" {
			faults = append(faults, model.OneLine(s.Path)+": "+model.OneLine(s.Fault))
		}
	}
	tell(p.fault, strings.Join(faults, "\n"))
	if len(p.candidates) == 0 {
		p.list.Add(part.Muted("No servers of other programs were found."))
	}
	for _, c := range p.candidates {
		p.list.Add(p.row(c))
	}
	p.choose()
}

// row is one server, to be ticked.
func (p *serverImport) row(c connect.Candidate) fyne.CanvasObject {
	text := newTextBlock()
	about := "From " + c.Source.Title + ", " + c.Source.Path
	if len(c.Also) > 0 {
		about += "; also in " + strings.Join(c.Also, ", ")
	}
	note, color := "", theme.ColorMuted
	switch {
	case c.Skip != "":
		note, color = "Not added: "+c.Skip, theme.ColorDestructive
	case len(c.Lost) > 0:
		note, color = "Without "+strings.Join(c.Lost, "; "), theme.ColorWrite
	}
	setLines(text, textLine(model.OneLine(c.As), fynetheme.ColorNameForeground, fynetheme.SizeNameText, true),
		textLine(model.Clipped(strings.Join(c.Runs(), " ")), theme.ColorMuted, fynetheme.SizeNameCaptionText, false),
		textLine(model.Clipped(about), theme.ColorMuted, fynetheme.SizeNameCaptionText, false),
		textLine(model.Clipped(note), color, fynetheme.SizeNameCaptionText, false))
	tick := widget.NewCheck("", func(on bool) {
		p.ticks[c.As] = on
		p.choose()
	})
	tick.Checked = c.Skip == "" && p.ticks[c.As]
	setEnabled(tick, c.Skip == "")
	return container.NewBorder(nil, nil, container.NewCenter(tick), nil, text)
}

// chosen are the candidates that are ticked.
func (p *serverImport) chosen() []connect.Candidate {
	var all []connect.Candidate
	for _, c := range p.candidates {
		if c.Skip == "" && p.ticks[c.As] {
			all = append(all, c)
		}
	}
	return all
}

// choose asks for what the ticked servers need.
func (p *serverImport) choose() {
	chosen := p.chosen()
	p.add.SetText("Add " + model.CountOf(len(chosen), "server"))
	setEnabled(p.add, len(chosen) > 0)
	p.wanted = connect.Inputs(chosen, func(name string) bool { return model.KeyUsed(p.screen.view.settings.Config, name) })
	p.needed.RemoveAll()
	for _, w := range p.wanted {
		p.needed.Add(part.Words(model.Clipped(w.Description + " (for " + w.Of + ")")))
		p.needed.Add(p.entry(w))
	}
}

// entry takes the value of an input. What is chosen from a list can be typed, too.
func (p *serverImport) entry(w connect.Wanted) fyne.CanvasObject {
	if len(w.Options) > 0 {
		pick := widget.NewSelectEntry(w.Options)
		pick.SetText(p.typed(w))
		pick.OnChanged = func(text string) { p.values[w.Name] = text }
		return pick
	}
	entry := widget.NewEntry()
	entry.Password = w.Secret
	entry.SetPlaceHolder("Goes to the keychain")
	entry.SetText(p.typed(w))
	entry.OnChanged = func(text string) { p.values[w.Name] = text }
	return entry
}

// typed is what was typed for an input, or its default.
func (p *serverImport) typed(w connect.Wanted) string {
	if _, ok := p.values[w.Name]; !ok {
		p.values[w.Name] = w.Default
	}
	return p.values[w.Name]
}

// onAdd adds the ticked servers, all in one change.
func (p *serverImport) onAdd() {
	entries, secrets := map[string]config.MCPServer{}, map[string]string{}
	for _, c := range p.chosen() {
		entry, ok := c.With(p.wanted, p.values)
		if !ok {
			tell(p.fault, "“"+model.OneLine(c.As)+"” needs a value: type it below, or untick it.")
			return
		}
		entries[c.As] = entry
	}
	for _, w := range p.wanted {
		secrets[w.Name] = p.values[w.Name]
	}
	var edits []config.Edit
	for _, line := range model.PastedLines(entries, p.screen.view.settings.Config) {
		if line.Fault != "" {
			tell(p.fault, "“"+model.OneLine(line.Form.Name)+"”: "+line.Fault)
			return
		}
		maps.Copy(secrets, line.Draft.Secrets)
		edits = append(edits, line.Draft.Edits()...)
	}
	p.add.Disable()
	saveEntries(p.screen.ui, p.screen.view.settings.Revision, secrets, edits, func(settings control.Settings, err error) { p.added(len(edits), settings, err) })
}

func (p *serverImport) added(n int, settings control.Settings, err error) {
	p.add.Enable()
	var conflict *control.ConflictError
	switch {
	case errors.As(err, &conflict):
		p.screen.view.settings = conflict.Current
		p.plan() // which names are taken may have changed
		tell(p.fault, "The file was changed meanwhile. Look at the list again, and add once more.")
	case err != nil:
		tell(p.fault, inWords(err))
	default:
		p.screen.back()
		p.screen.saved(settings, "Added "+model.CountOf(n, "server")+".")
	}
}
