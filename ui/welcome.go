package ui

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// welcomeScreen is the first steps: a model, tools, and Copilot. Each can be
// skipped.
type welcomeScreen struct {
	ui    *UI
	now   control.Settings
	step  int
	cards []fyne.CanvasObject
	signs *fyne.Container
	page  *fyne.Container
	next  *widget.Button
	back  *widget.Button
	fault *widget.Label

	models  *modelStep
	servers *serverStep
	address *copyLine
	key     *copyLine
}

func newWelcomeScreen(u *UI) screen { return &welcomeScreen{ui: u} }

func (s *welcomeScreen) content() fyne.CanvasObject {
	s.step = 0
	s.models, s.servers = newModelStep(s), newServerStep(s)
	s.cards = []fyne.CanvasObject{s.models.box, container.NewVBox(s.servers.box), container.NewVBox(s.copilot())}
	s.signs, s.page = container.NewHBox(), container.NewStack()
	s.fault = newNotice(widget.DangerImportance)
	s.back = widget.NewButton("Back", s.ui.act("the step before", func() { s.turn(s.step - 1) }))
	s.next = widget.NewButton("", s.ui.act("the next step", func() { s.turn(s.step + 1) }))
	later := widget.NewButton("Skip all", s.ui.act("leaving the first steps", s.leave))
	later.Importance = widget.LowImportance
	foot := container.NewVBox(s.fault, container.NewBorder(nil, nil, later, part.Row(s.back, s.next)))
	head := container.NewVBox(part.Heading("Welcome to Pointsman"),
		part.Words("Any model, all your tools, and a person before every risky call. Three steps, each of which can be skipped."), s.signs, part.Gap(0.5))
	s.turn(0)
	return container.NewBorder(head, container.NewVBox(part.Gap(0.5), foot), nil, nil, scrolled(s.page))
}

// copilot is the last step.
func (s *welcomeScreen) copilot() fyne.CanvasObject {
	s.address = newCopyLine(s.ui, "Endpoint", "the base URL of any OpenAI client")
	s.key = newCopyLine(s.ui, "API key", "goes with it")
	programs := widget.NewButtonWithIcon("Set programs up …", theme.Icon("connect", theme.ColorMuted), s.ui.act("opening the programs", func() { s.ui.main.open(screenConnect) }))
	setShown(programs, s.ui.main.has(screenConnect))
	return part.Card(part.Stack(part.Subheading("Connect GitHub Copilot"),
		part.Words("The Connect page sets the Copilot CLI, VS Code and others up, and shows you each change first. Every other OpenAI client takes these two."),
		part.Row(programs), s.address.row, s.key.row))
}

func (s *welcomeScreen) enter(ctx context.Context) {
	background(ctx, s.ui, s.ui.key, s.key.setHidden)
	s.models.nearby.look(ctx)
}

// watch shows which steps are done.
func (s *welcomeScreen) watch(state model.State, now control.Settings) {
	s.now = now
	s.address.setEndpoint(state)
	s.models.show(now.Config)
	s.servers.show(state, now.Config)
	s.refresh()
}

// turn goes to a step; after the last one the screen is left.
func (s *welcomeScreen) turn(step int) {
	if step >= len(s.cards) {
		s.leave()
		return
	}
	s.step = step
	s.page.Objects = []fyne.CanvasObject{s.cards[step]}
	s.page.Refresh()
	s.refresh()
}

func (s *welcomeScreen) refresh() {
	steps := model.WelcomeSteps(s.now.Config)
	s.signs.RemoveAll()
	for i, step := range steps {
		icon, color := "pending", theme.ColorMuted
		switch {
		case step.Done:
			icon, color = "done", theme.ColorGood
		case i == s.step:
			color = fynetheme.ColorNamePrimary
		}
		title := widget.NewLabel(fmt.Sprintf("%d. %s", i+1, step.Title))
		title.TextStyle.Bold = i == s.step
		s.signs.Add(container.NewHBox(part.Sign(widget.NewIcon(theme.Icon(icon, color)), part.SignSize), title))
	}
	setShown(s.back, s.step > 0)
	s.next.Importance = widget.MediumImportance
	switch {
	case s.step == len(steps)-1:
		s.next.SetText("Finish")
		s.next.Importance = widget.HighImportance
	case steps[s.step].Done:
		s.next.SetText("Next")
		s.next.Importance = widget.HighImportance
	default:
		s.next.SetText("Skip this step")
	}
	s.next.Refresh()
}

// fail says what a step could not do; nil: nothing.
func (s *welcomeScreen) fail(err error) {
	if err == nil {
		tell(s.fault, "")
	} else {
		tell(s.fault, inWords(err))
	}
}

// leave ends the first steps for good.
func (s *welcomeScreen) leave() {
	if err := model.NoteWelcomed(s.ui.opts.Home); err != nil {
		s.ui.log.Warn("the first steps will be shown again", "error", err)
	}
	s.ui.main.open(places()[0].name)
}

// edit changes the configuration as it is when it comes to it.
func (s *welcomeScreen) edit(edits func(*config.Config) []config.Edit, done func(error)) {
	change(s.ui, edits, func(now control.Settings, err error) {
		s.fail(err)
		if err == nil {
			s.ui.main.configure(now)
		}
		done(err)
	})
}

// firstSteps is a button that leads to the first steps.
func (u *UI) firstSteps(text string) *widget.Button {
	button := widget.NewButton(text, u.act("opening the first steps", func() { u.main.open(screenWelcome) }))
	button.Importance = widget.LowImportance
	return button
}

// serverStep is the second step.
type serverStep struct {
	box     fyne.CanvasObject
	scratch *widget.Button
	told    *widget.Label
}

func newServerStep(s *welcomeScreen) *serverStep {
	step := &serverStep{told: newNotice(widget.SuccessImportance)}
	step.scratch = widget.NewButtonWithIcon("Add the scratch server", theme.Icon("local", theme.ColorMuted), s.ui.act("adding the scratch server", func() {
		step.scratch.Disable()
		s.edit(func(*config.Config) []config.Edit { return model.ScratchEdits() }, func(error) { step.show(s.ui.main.state, s.now.Config) })
	}))
	own := widget.NewButtonWithIcon("Add a server of your own …", theme.Icon("add", theme.ColorMuted), s.ui.act("opening the servers", func() { s.ui.main.open(screenServers) }))
	setShown(own, s.ui.main.has(screenServers))
	step.box = part.Card(part.Stack(part.Subheading("Add tools"),
		part.Words("An MCP server gives the model tools: files, issues, a database. The scratch server comes with Pointsman: four tools over one folder of its own, to try things out."),
		beside(step.scratch, own), step.told))
	return step
}

// show says which servers there are.
func (step *serverStep) show(state model.State, c *config.Config) {
	if c == nil {
		return
	}
	_, added := c.MCPServers["scratch"]
	setEnabled(step.scratch, !added)
	tell(step.told, model.ServersTold(len(c.MCPServers), state))
}
