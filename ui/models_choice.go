package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/ui/model"
	"pointsman/ui/part"
)

// modelChoices are which model answers, and which one when that fails.
type modelChoices struct {
	screen   *modelsScreen
	object   fyne.CanvasObject
	standard *modelChoice
	fallback *modelChoice
	on       *widget.Check
	onField  *formField
}

// modelChoice is a setting that names a model.
type modelChoice struct {
	path  []string // of the setting
	entry *widget.SelectEntry
	save  *widget.Button
	field *formField
	saved string
}

func newModelChoices(s *modelsScreen) *modelChoices {
	c := &modelChoices{screen: s}
	c.standard = c.choice("Default model", "Answers whoever names no model.", "default_model")
	c.fallback = c.choice("Fallback model", "Answers when the chosen model's provider cannot: it is down, slow, or has no room. Not when a request is wrong.", "fallback", "model")
	c.on = widget.NewCheck("Ask the fallback when a provider fails", nil)
	c.onField = newFormField("Fallback", "", c.on)
	c.object = container.NewVScroll(part.Inset(0.5, container.NewVBox(part.Gap(0.5),
		part.Card(part.Stack(part.Subheading("Default"), c.standard.field.row)),
		part.Gap(1),
		part.Card(part.Stack(part.Subheading("Fallback"), c.onField.row, c.fallback.field.row)))))
	return c
}

func (c *modelChoices) choice(label, hint string, path ...string) *modelChoice {
	m := &modelChoice{path: path, entry: widget.NewSelectEntry(nil)}
	m.save = widget.NewButton("Save", func() { c.onSave(m) })
	m.save.Disable()
	m.entry.OnChanged = func(text string) { setEnabled(m.save, text != m.saved && !m.entry.Disabled()) }
	m.entry.OnSubmitted = func(string) { c.onSave(m) }
	m.field = newFormField(label, hint, container.NewBorder(nil, nil, nil, m.save, m.entry))
	return m
}

// set shows the settings in force. What is being typed stays.
func (c *modelChoices) set(view modelsView) {
	cfg, names := view.settings.Config, model.ModelNames(view.models)
	c.standard.set(cfg.DefaultModel, names, view.settings.Set["default_model"])
	c.fallback.set(cfg.Fallback.Model, names, view.settings.Set["fallback.model"])
	c.on.OnChanged = nil
	c.on.SetChecked(cfg.Fallback.Enabled)
	c.on.OnChanged = c.onSwitch
	decided := view.settings.Set["fallback.enabled"]
	setEnabled(c.on, decided == "")
	c.onField.mark(model.Sentence(decided))
}

// set shows a value. decided says in words what decides it in the file's place,
// or "".
func (m *modelChoice) set(value string, names []string, decided string) {
	typing := m.entry.Text != m.saved
	m.saved = value
	m.entry.SetOptions(names)
	if !typing || decided != "" {
		m.entry.SetText(value)
	}
	setEnabled(m.entry, decided == "")
	setEnabled(m.save, m.entry.Text != m.saved && decided == "")
	m.field.mark(model.Sentence(decided))
}

func (c *modelChoices) onSave(m *modelChoice) {
	name := m.entry.Text
	if name == m.saved || m.entry.Disabled() {
		return
	}
	m.save.Disable()
	edit := config.Edit{Path: m.path, Value: name, Remove: name == ""}
	c.screen.change([]config.Edit{edit}, func() {
		m.saved = name
		c.set(c.screen.view)
		c.screen.bar.say(m.label() + " is " + model.Quoted(m.saved) + " now.")
	})
}

func (m *modelChoice) label() string {
	if len(m.path) > 1 {
		return "The fallback model"
	}
	return "The default model"
}

func (c *modelChoices) onSwitch(on bool) {
	c.screen.change([]config.Edit{{Path: []string{"fallback", "enabled"}, Value: on}}, func() { c.set(c.screen.view) })
}
