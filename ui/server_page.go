package ui

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// serverPage is one server: how it is, what can be done with it, and its tools.
type serverPage struct {
	screen *serversScreen
	name   string
	object fyne.CanvasObject

	state          *look
	about          *widget.Label
	fault          *widget.Label
	on             *widget.Check
	remove         *widget.Button
	power, restart *widget.Button
	rests          bool // it is stopped, or has failed: power starts it
	signIn         *signInCard
	trial          *formTrial
	search         *widget.Entry
	count          *widget.Label
	list           *widget.List
	empty          *widget.Label
	why            *whyMissing
	tools          []model.ServerTool
}

func newServerPage(s *serversScreen, name string) *serverPage {
	p := &serverPage{
		screen: s, name: name, state: newLook(), about: part.Muted(""), fault: newNotice(widget.DangerImportance),
		count: part.Muted(""), empty: part.Remark(""), trial: newFormTrial(s.ui),
	}
	p.fault.Selectable = true
	p.why = newWhyMissing(p)
	p.signIn = newSignInCard(s.ui, name, func() context.Context { return s.ctx })
	p.on = widget.NewCheck("Switched on", nil)
	p.search = newSearch("Search its tools", p.update)
	p.empty.Alignment = fyne.TextAlignCenter
	p.list = widget.NewList(func() int { return len(p.tools) }, func() fyne.CanvasObject { return newServerToolRow(p) },
		func(i widget.ListItemID, o fyne.CanvasObject) { o.(*serverToolRow).set(p.tools[i]) })
	p.list.OnSelected = func(widget.ListItemID) { p.list.UnselectAll() }
	back := widget.NewButton("‹ Servers", s.back)
	back.Importance = widget.LowImportance
	title := container.NewBorder(nil, nil, back, p.state.object, part.Heading(model.OneLine(name)))
	happens := widget.NewButtonWithIcon("Diagnostics", theme.Icon("activity", theme.ColorMuted), func() { s.diagnose(name) })
	happens.Importance = widget.LowImportance
	about := container.NewBorder(nil, nil, nil, happens, p.about)
	finder := container.NewBorder(nil, nil, nil, container.NewGridWrap(fyne.NewSize(15*theme.Step, 36), p.count), p.search)
	top := container.NewVBox(title, about, p.fault, p.actions(), p.signIn.object, p.trial.object, part.Gap(0.5), finder)
	p.object = container.NewBorder(top, nil, nil, nil, container.NewStack(p.list, container.NewVBox(part.Gap(6), p.empty, p.why.object)))
	return p
}

// actions are the buttons.
func (p *serverPage) actions() fyne.CanvasObject {
	s := p.screen
	edit := widget.NewButtonWithIcon("Edit", theme.Icon("write", theme.ColorMuted), func() {
		s.edit(model.OpenServer(s.view.settings.Config, p.name))
	})
	test := widget.NewButtonWithIcon("Test", theme.Icon("play", theme.ColorMuted), func() {
		tryServer(s, p.trial, p.name, model.ServerEntry(s.view.settings.Config, p.name), nil)
	})
	log := widget.NewButtonWithIcon("Output", theme.Icon("logs", theme.ColorMuted), p.onLog)
	p.remove = widget.NewButtonWithIcon("Remove", theme.Icon("remove", theme.ColorMuted), func() { s.remove(p.name) })
	p.power = widget.NewButton("", p.onPower)
	p.restart = widget.NewButtonWithIcon("Restart", theme.Icon("restart", theme.ColorMuted), func() { p.run(s.ui.client.RestartServer) })
	return container.NewHBox(p.on, edit, test, log, p.power, p.restart, p.remove)
}

// onPower stops the server, or starts one that rests. A stopped one stays
// stopped until somebody starts it, or the program begins again.
func (p *serverPage) onPower() {
	if p.rests {
		p.run(p.screen.ui.client.StartServer)
		return
	}
	p.run(p.screen.ui.client.StopServer)
}

// run starts or stops the server, and tells when that was refused.
func (p *serverPage) run(do func(context.Context, string) (servers.Status, error)) {
	p.power.Disable()
	p.restart.Disable()
	save(p.screen.ui, func(ctx context.Context) (servers.Status, error) { return do(ctx, p.name) }, func(_ servers.Status, err error) {
		p.update()
		if err != nil {
			tell(p.fault, model.Sentence(err.Error()))
		}
	})
}

// update shows the server as it is now.
func (p *serverPage) update() {
	view := p.screen.view
	entry, there := view.settings.Config.MCPServers[p.name]
	status, known := view.statusOf(p.name)
	if !there && !(known && status.Transport == "builtin") {
		p.screen.back() // somebody has removed it
		return
	}
	line := model.ServerLineOf(status)
	p.state.setTone(line.Word, line.Icon, line.Tone)
	p.about.SetText(line.About)
	tell(p.fault, model.Sentence(status.Live.Error))
	p.showPower(status)
	p.signIn.update(status)
	setEnabled(p.remove, there) // what comes with the program can only be switched off
	p.on.OnChanged = nil
	p.on.SetChecked(!entry.Disabled)
	p.on.OnChanged = p.onSwitch
	p.updateTools()
}

// showPower has the buttons say what they would do now.
func (p *serverPage) showPower(status servers.Status) {
	p.rests = status.Live.Status == servers.Stopped || status.Live.Status == servers.Failed
	word, icon := "Stop", "stop"
	if p.rests {
		word, icon = "Start", "play"
	}
	p.power.SetIcon(theme.Icon(icon, theme.ColorMuted))
	p.power.SetText(word)
	setEnabled(p.power, status.Enabled)
	setEnabled(p.restart, status.Enabled && !p.rests)
}

func (p *serverPage) updateTools() {
	view := p.screen.view
	all := model.ServerTools(view.settings.Config, p.name, view.tools, "")
	p.tools = model.ServerTools(view.settings.Config, p.name, view.tools, p.search.Text)
	p.count.SetText(fmt.Sprintf("%d of %d", len(p.tools), len(all)))
	missing := ""
	if len(p.tools) == 0 {
		missing = p.search.Text
	}
	p.why.offer(missing)
	switch {
	case len(all) == 0:
		p.empty.SetText("Its tools are shown here while it is connected.")
	case len(p.tools) == 0:
		p.empty.SetText("No tool of it has this in its name or description.")
	default:
		p.empty.SetText("")
	}
	p.list.Refresh()
}

func (p *serverPage) onSwitch(on bool) {
	p.screen.changeBy(func(cfg *config.Config) []config.Edit {
		return model.PartEdits(cfg, p.name, config.Edit{Path: []string{"mcpServers", p.name, "disabled"}, Value: !on, Remove: on})
	}, func() {})
}

// onOffer lets a tool be offered, or not.
func (p *serverPage) onOffer(t model.ServerTool, on bool) {
	rows := p.screen.view.tools
	p.screen.changeBy(func(cfg *config.Config) []config.Edit {
		return model.OfferEdits(cfg, rows, t.Row, on)
	}, func() {})
}

// onAsk says when a call of a tool comes before a person.
func (p *serverPage) onAsk(t model.ServerTool, ask model.Ask) {
	rows := p.screen.view.tools
	p.screen.changeBy(func(cfg *config.Config) []config.Edit { return model.AskEdits(cfg, rows, t.Row, ask) }, func() {})
}

// onLog shows what the server wrote to its standard error last.
func (p *serverPage) onLog() {
	u := p.screen.ui
	background(p.screen.ctx, u, func(ctx context.Context) ([]string, error) { return u.client.ServerLog(ctx, p.name) }, func(lines []string, err error) {
		if err != nil {
			p.screen.bar.fail(err)
			return
		}
		text := strings.Join(lines, "\n")
		if text == "" {
			text = "It has written nothing to its standard error."
		}
		dialog.ShowCustom("What "+model.OneLine(p.name)+" wrote last", "Close", outputBox(text, 80*theme.Step, 44*theme.Step), u.main.window)
	})
}

// outputBox shows what a program wrote, to scroll and to copy from.
func outputBox(text string, width, height float32) fyne.CanvasObject {
	words := widget.NewLabel(model.Printed(text))
	words.TextStyle.Monospace, words.Wrapping, words.Selectable = true, fyne.TextWrapBreak, true
	words.SizeName = fynetheme.SizeNameCaptionText
	scroll := container.NewVScroll(words)
	scroll.SetMinSize(fyne.NewSize(width, height))
	return container.NewStack(part.NewSurface(theme.ColorRail, theme.ColorLine, theme.Step), scroll)
}
