package model

import (
	"net"
	"strings"

	"pointsman/gateway/config"
)

// SettingsForm is the settings with what a person has entered and not saved yet.
// Each field is saved by itself. What the file says wins over what the form said
// before, but never over what is being entered: then both are shown, and the
// person chooses.
type SettingsForm struct {
	fields []*SettingField
	now    config.Settings
	state  State
}

// SettingField is one field of the form.
type SettingField struct {
	Setting
	Text    string // what the field holds
	Fixed   string // why it cannot be changed; "" when it can
	Restart bool   // what it holds takes effect at the next start
	Problem string // what is wrong with what it holds; "" when nothing is
	Offer   string // a text that would be right; "" for none
	Saved   bool   // it has just been saved
	Theirs  string // what somebody else set meanwhile, as a person reads it
	Mine    string // what was entered here, as a person reads it
	// Conflict tells that Theirs and Mine are both there, and the person has to
	// choose.
	Conflict bool

	base   string // what the configuration said when Text was the same
	theirs string
}

// NewSettingsForm returns a form that knows nothing yet.
func NewSettingsForm() *SettingsForm {
	f := &SettingsForm{}
	for _, group := range SettingGroups() {
		for _, setting := range group.Settings {
			f.fields = append(f.fields, &SettingField{Setting: setting})
		}
	}
	return f
}

// Field returns the field of a path, or nil.
func (f *SettingsForm) Field(path string) *SettingField {
	for _, field := range f.fields {
		if field.Path == path {
			return field
		}
	}
	return nil
}

// Fields returns all fields, in order.
func (f *SettingsForm) Fields() []*SettingField { return f.fields }

// Now is the configuration that the form shows.
func (f *SettingsForm) Now() config.Settings { return f.now }

// Show takes in the configuration as it is now.
func (f *SettingsForm) Show(now config.Settings) {
	f.now = now
	for _, field := range f.fields {
		field.Fixed = decidedBy(now.Set, field.Path)
		field.Restart = restarts(now.Restart, field.Path)
		field.show(field.read(now.Config))
	}
	for _, field := range f.fields {
		if field.Fixed == "" && field.Under != "" && f.Field(field.Under).read(now.Config) == Off {
			field.Revert()
			field.Fixed = "while “" + f.Field(field.Under).Label + "” is off"
		}
	}
	f.showFaults(f.state)
}

// ShowState takes in the state of the program as it is now.
func (f *SettingsForm) ShowState(s State) {
	f.showFaults(s)
	f.state = s
}

// showFaults shows what has come of settings besides being saved.
func (f *SettingsForm) showFaults(s State) {
	launch := f.Field(PathLaunchAtLogin)
	if s.NoLaunchAtLogin != "" {
		launch.Fixed = s.NoLaunchAtLogin
	}
	launch.showFault(f.state.LaunchFault, s.LaunchFault)
	f.Field(PathOllama).showFault(f.state.OllamaFault, s.OllamaFault)
}

// showFault puts a fault in the place of the one before, unless the field has
// another problem.
func (s *SettingField) showFault(before, now string) {
	if s.Problem == "" || s.Problem == sentence(before) {
		s.Problem = sentence(now)
	}
}

// show takes in what the configuration says.
func (s *SettingField) show(theirs string) {
	switch {
	case !s.dirty() || s.Fixed != "" || theirs == s.Text:
		if s.Text != theirs {
			s.Saved = false
		}
		s.settle(theirs)
	case theirs != s.base:
		s.Conflict, s.theirs = true, theirs
		s.Theirs, s.Mine = s.label(theirs), s.label(s.Text)
	default: // the other's change was taken back
		s.Conflict = false
	}
}

// settle makes text what the field holds, and the configuration says.
func (s *SettingField) settle(text string) {
	if s.Text != text || s.dirty() {
		s.Problem, s.Offer = "", ""
	}
	s.Text, s.base, s.Conflict = text, text, false
}

// dirty reports whether the field holds something that is not saved.
func (s *SettingField) dirty() bool { return s.Text != s.base }

// Enter notes what a person has entered.
func (s *SettingField) Enter(text string) {
	if text == s.Text {
		return
	}
	if s.Conflict && text == s.theirs {
		s.base = text
	}
	s.Text, s.Saved, s.Problem, s.Offer = text, false, "", ""
	s.Mine = s.label(text)
	if !s.dirty() {
		s.Conflict = false
	}
}

// Revert takes back what was entered.
func (s *SettingField) Revert() {
	if s.Conflict {
		s.base = s.theirs
	}
	s.settle(s.base)
}

// Keep decides a conflict: for what was entered, or for what the file says. What
// was entered has still to be saved.
func (s *SettingField) Keep(mine bool) {
	if !s.Conflict {
		return
	}
	s.base, s.Conflict = s.theirs, false
	if !mine {
		s.Text = s.base
		s.Problem, s.Offer = "", ""
	}
}

// Edit is how a field is saved: what to change, in which revision of the file. It
// reports false when there is nothing to save, or it cannot be; the field says why.
func (f *SettingsForm) Edit(field *SettingField) (revision string, edit config.Edit, ok bool) {
	text := strings.TrimSpace(field.Text)
	if field.Fixed != "" || field.Conflict || !field.dirty() || f.now.Config == nil {
		return "", config.Edit{}, false
	}
	value, err := field.value(f.now.Config, text)
	if err != nil {
		field.Problem = sentence(err.Error())
		return "", config.Edit{}, false
	}
	return f.now.Revision, config.Edit{Path: strings.Split(field.Path, "."), Value: value}, true
}

// Done takes in that what a field held, text, was saved, and the configuration
// after it.
func (f *SettingsForm) Done(field *SettingField, text string, now config.Settings) {
	if field.Text == text {
		field.Text = field.read(now.Config) // as it is written there: " 5m " is 5m
	}
	field.base = field.read(now.Config)
	field.Saved = true
	f.Show(now)
}

// Refused takes in why a field was not saved. A text stays, to be mended; a switch
// goes back.
func (f *SettingsForm) Refused(field *SettingField, problems []config.Problem, message string) {
	if field.Kind != TextSetting {
		field.Text = field.base
	}
	field.Saved, field.Problem = false, sentence(message)
	for _, problem := range problems {
		if problem.Path == field.Path {
			field.Problem = sentence(problemWords(problem))
		}
	}
}

// Taken takes in that the port which a field holds is another's, and the address
// that is free instead; "" for none.
func (f *SettingsForm) Taken(field *SettingField, err error, free string) {
	field.Saved, field.Problem, field.Offer = false, sentence(err.Error()), ""
	if _, port, err := net.SplitHostPort(free); err == nil {
		field.Offer = port
	}
}
