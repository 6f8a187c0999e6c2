package ui

import (
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// otherProvider is the choice of a provider that is none of the known ones.
const otherProvider = "Another one, by its address"

// providerForm is the page in which a provider's entry is made or changed.
type providerForm struct {
	screen   *modelsScreen
	start    model.ProviderForm // what the form was opened with
	revision string             // of the file it was made from
	object   fyne.CanvasObject

	known          *widget.Select // nil: a saved provider keeps its name
	name, url, key *widget.Entry
	discover       *widget.Check
	fields         map[string]*formField
	knownField     *formField
	trial          *formTrial
	save           *widget.Button
	fault          *widget.Label // what belongs to no field
}

func newProviderForm(s *modelsScreen, start model.ProviderForm) *providerForm {
	f := &providerForm{screen: s, start: start, revision: s.view.settings.Revision, trial: newFormTrial(s.ui), fault: newNotice(widget.DangerImportance)}
	f.makeFields()
	f.fill()
	title := "Add a provider"
	if start.Was() != "" {
		title = "Edit " + model.OneLine(start.Was())
	}
	column := container.NewVBox(f.knownField.row, f.fields[model.FieldName].row, f.fields[model.FieldURL].row, f.fields[model.FieldKey].row,
		newFormField("Its models", "", f.discover).row)
	f.object = container.NewBorder(container.NewVBox(part.Heading(title), part.Gap(0.5)), container.NewVBox(f.trial.object, f.fault, f.foot()), nil, nil,
		scrolled(column))
	f.arrange()
	return f
}

func (f *providerForm) makeFields() {
	f.name, f.url, f.key = widget.NewEntry(), widget.NewEntry(), widget.NewEntry()
	f.key.Password = true
	f.discover = widget.NewCheck("Ask the provider which models it has", nil)
	f.known = widget.NewSelect(append(config.KnownProviders(), otherProvider), func(string) { f.onKnown() })
	f.known.PlaceHolder = "Choose one"
	f.name.SetPlaceHolder("my-company")
	f.url.SetPlaceHolder("https://example.com/v1")
	f.knownField = newFormField("Provider", "", f.known)
	f.fields = map[string]*formField{
		model.FieldName: newFormField("Name", "Models of it are written NAME/model.", f.name),
		model.FieldURL:  newFormField("Base URL", "Its OpenAI-compatible address; for a known provider empty means the usual one.", f.url),
		model.FieldKey:  newFormField("API key", "Goes to the keychain; the file holds only a reference. Or name a variable: os.environ/NAME.", f.key),
	}
}

func (f *providerForm) foot() fyne.CanvasObject {
	f.save = widget.NewButton("Save", f.onSave)
	f.save.Importance = widget.HighImportance
	test := widget.NewButtonWithIcon("Test", theme.Icon("play", theme.ColorMuted), f.onTest)
	left := container.NewHBox(test)
	if name := f.start.Was(); name != "" {
		left.Add(widget.NewButtonWithIcon("Remove", theme.Icon("remove", theme.ColorMuted), func() { f.trial.cancel(); f.screen.remove(name) }))
	}
	return container.NewVBox(part.Gap(0.5), container.NewBorder(nil, nil, left, container.NewHBox(widget.NewButton("Cancel", f.leave), f.save)))
}

func (f *providerForm) fill() {
	f.name.SetText(f.start.Name)
	f.url.SetText(f.start.URL)
	f.key.SetText(f.start.Key)
	f.discover.SetChecked(f.start.Discover)
	if words := f.start.KeptWords(); words != "" {
		f.key.SetPlaceHolder(words)
	} else {
		f.key.SetPlaceHolder("sk-…")
	}
}

// onKnown takes the name that was chosen.
func (f *providerForm) onKnown() {
	if f.known.Selected == otherProvider {
		if slices.Contains(config.KnownProviders(), f.name.Text) {
			f.name.SetText("")
		}
	} else {
		f.name.SetText(f.known.Selected)
	}
	f.arrange()
}

// arrange shows the fields that are to be filled.
func (f *providerForm) arrange() {
	saved := f.start.Was() != ""
	f.knownField.show(!saved)
	f.fields[model.FieldName].show(saved || f.known.Selected == otherProvider)
	f.fields[model.FieldURL].show(saved || f.known.Selected != "")
}

func (f *providerForm) draft() (d model.ProviderDraft, ok bool) {
	form := f.start
	form.Name, form.URL, form.Key, form.Discover = f.name.Text, f.url.Text, f.key.Text, f.discover.Checked
	d = form.Draft(f.screen.view.settings.Config)
	f.mark(d.Faults)
	return d, len(d.Faults) == 0
}

func (f *providerForm) mark(faults model.Faults) {
	for name, field := range f.fields {
		field.mark(faults[name])
	}
	f.knownField.mark("")
	if reason := faults[model.FieldName]; !f.fields[model.FieldName].row.Visible() {
		f.knownField.mark(reason)
	}
	f.say("")
}

func (f *providerForm) say(words string) { tell(f.fault, words) }

func (f *providerForm) onTest() {
	if d, ok := f.draft(); ok {
		tryProvider(f.screen, f.trial, d.Name, d.Entry, d.Key)
	}
}

func (f *providerForm) onSave() {
	d, ok := f.draft()
	if !ok {
		return
	}
	f.save.Disable()
	u := f.screen.ui
	save(u, func(ctx context.Context) (control.Settings, error) {
		if d.Key != "" {
			if err := u.client.SetSecret(ctx, d.KeyAs, d.Key); err != nil {
				return control.Settings{}, err
			}
		}
		return u.client.Edit(ctx, f.revision, d.Edits())
	}, func(settings control.Settings, err error) { f.saved(d, settings, err) })
}

// saved leaves the form, or says why nothing was saved.
func (f *providerForm) saved(d model.ProviderDraft, settings control.Settings, err error) {
	f.save.Enable()
	var conflict *control.ConflictError
	var invalid *control.InvalidError
	switch {
	case err == nil:
		f.leave()
		f.screen.view.settings = settings
		f.screen.bar.say(model.Quoted(d.Name) + " is saved.")
	case errors.As(err, &conflict):
		f.onConflict(d, conflict.Current)
	case errors.As(err, &invalid):
		faults := model.Faults{}
		faults.AddProvider(d.Name, invalid.Problems)
		f.mark(faults)
		if len(faults) == 0 {
			f.say(inWords(err))
		}
	default:
		f.say(inWords(err))
	}
}

// onConflict saves over a file in which this entry is as it was; otherwise the
// user says whose holds.
func (f *providerForm) onConflict(d model.ProviderDraft, now control.Settings) {
	f.revision, f.screen.view.settings = now.Revision, now
	name := d.Was
	if name == "" {
		name = d.Name
	}
	theirs, there := now.Config.Providers[name]
	if d.Untouched(theirs, there, f.start.Base()) {
		f.onSave()
		return
	}
	f.screen.ui.askConflict("this provider", model.ProviderDifferences(d, theirs, there), f.onSave, func() {
		if there {
			f.screen.edit(model.SavedProvider(name, theirs))
		} else {
			f.leave()
		}
	})
}

// leave goes back to the list.
func (f *providerForm) leave() {
	f.trial.cancel()
	f.screen.back()
}
