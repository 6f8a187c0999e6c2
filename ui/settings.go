package ui

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/port"
	"pointsman/ui/theme"
)

// settingsScreen is the settings, each saved by itself as soon as it is entered.
type settingsScreen struct {
	ui    *UI
	form  *model.SettingsForm
	rows  map[string]*settingRow
	key   *keyCard
	files *filesCard
}

func newSettingsScreen(u *UI) screen {
	return &settingsScreen{ui: u, form: model.NewSettingsForm(), rows: map[string]*settingRow{}}
}

func (s *settingsScreen) content() fyne.CanvasObject {
	s.key, s.files = newKeyCard(s.ui), newFilesCard(s.ui)
	page := part.Stack(part.Heading("Settings"))
	for i, group := range model.SettingGroups() {
		card := part.Stack(part.Subheading(group.Title))
		for _, setting := range group.Settings {
			field := s.form.Field(setting.Path)
			row := newSettingRow(field, settingActs{
				safely: func(f func()) { s.ui.safely("the setting "+field.Label, f) },
				save:   func() { s.save(field) }, keep: func(mine bool) { s.keep(field, mine) }, repair: s.repair,
			})
			s.rows[setting.Path] = row
			card.Add(row.box)
		}
		if i == 0 { // the endpoint's own
			card.Add(s.key.box)
		}
		page.Add(part.Card(card))
	}
	page.Add(part.Card(s.files.box))
	first := s.ui.firstSteps("Show the first steps again")
	page.Add(container.NewHBox(first))
	return scrolled(page)
}

func (s *settingsScreen) enter(ctx context.Context) { s.key.load(ctx) }

// watch shows the program and its configuration as they are now.
func (s *settingsScreen) watch(state model.State, now control.Settings) {
	s.form.ShowState(state)
	if now.Config != nil {
		s.form.Show(now)
		s.files.show(now, s.ui.opts.Home)
	}
	s.refresh()
}

func (s *settingsScreen) refresh() {
	state := s.ui.main.state
	for path, row := range s.rows {
		row.show(path == model.PathLaunchAtLogin && state.LaunchOther)
	}
}

// save saves a field. A port is looked at before.
func (s *settingsScreen) save(field *model.SettingField) {
	revision, edit, ok := s.form.Edit(field)
	s.refresh()
	if !ok {
		return
	}
	address, isText := edit.Value.(string)
	if field.Path != model.PathListen || !isText || address == s.ui.main.state.Serving {
		s.send(field, revision, edit)
		return
	}
	entered := field.Text
	save(s.ui, func(ctx context.Context) (string, error) { return lookAtPort(ctx, address) }, func(next string, err error) {
		if err != nil && field.Text == entered {
			s.form.Taken(field, err, next)
			s.refresh()
			return
		}
		s.send(field, revision, edit)
	})
}

// lookAtPort says who has the port of an address, if somebody has, and which
// address is free instead. That it is not an address is the configuration's to say.
func lookAtPort(ctx context.Context, address string) (string, error) {
	err := port.Check(ctx, address)
	var taken *port.TakenError
	if !errors.As(err, &taken) {
		return "", nil
	}
	next, failure := port.NextFree(ctx, address)
	if failure != nil {
		return "", err // without an offer
	}
	return next, err
}

func (s *settingsScreen) send(field *model.SettingField, revision string, edit control.Edit) {
	entered := field.Text
	save(s.ui, func(ctx context.Context) (control.Settings, error) {
		return s.ui.client.Edit(ctx, revision, []control.Edit{edit})
	}, func(now control.Settings, err error) { s.sent(field, entered, now, err) })
}

// sent shows what came of saving a field.
func (s *settingsScreen) sent(field *model.SettingField, entered string, now control.Settings, err error) {
	var conflict *control.ConflictError
	var invalid *control.InvalidError
	switch {
	case errors.As(err, &conflict):
		s.ui.main.configure(conflict.Current)
		s.save(field) // unless the file's own change is to this field: then the person is asked
	case errors.As(err, &invalid):
		s.form.Refused(field, invalid.Problems, invalid.Message)
	case err != nil:
		s.form.Refused(field, nil, err.Error())
	default:
		s.form.Done(field, entered, now)
		s.ui.main.configure(now)
	}
	s.refresh()
}

func (s *settingsScreen) keep(field *model.SettingField, mine bool) {
	field.Keep(mine)
	s.save(field)
}

// repair has login start this program.
func (s *settingsScreen) repair() {
	s.ui.do(s.ui.client.RepairLaunch, func(err error) {
		if err != nil {
			s.form.Refused(s.form.Field(model.PathLaunchAtLogin), nil, err.Error())
		}
		s.refresh()
	})
}

// faceOf is the theme that a configuration chooses.
func faceOf(now control.Settings) theme.Choice {
	if now.Config == nil {
		return theme.System
	}
	return theme.Choice(now.Config.Desktop.Theme)
}
