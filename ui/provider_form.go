package ui

import (
	"slices"

	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// otherProvider is the choice of a provider that is none of the known ones.
const otherProvider = "Another one, by its address"

// providerForm is the page in which a provider's entry is made or changed.
type providerForm struct {
	*entryForm[config.Provider]
	screen *modelsScreen
	start  model.ProviderForm // what the form was opened with

	known          *widget.Select // nil: a saved provider keeps its name
	name, url, key *widget.Entry
	discover       *widget.Check
	named          map[string]*formField // by the names in model.Faults
	knownField     *formField
}

func newProviderForm(s *modelsScreen, start model.ProviderForm) *providerForm {
	f := &providerForm{screen: s, start: start}
	f.entryForm = newEntryForm(&s.pages, f, "provider", s.back)
	f.makeFields()
	f.fill()
	column := container.NewVBox(f.knownField.row, f.named[model.FieldName].row, f.named[model.FieldURL].row, f.named[model.FieldKey].row,
		newFormField("Its models", "", f.discover).row)
	if name := start.Was(); name == "" {
		f.build("Add a provider", column)
	} else {
		f.build("Edit "+model.OneLine(name), column,
			widget.NewButtonWithIcon("Remove", theme.Icon("remove", theme.ColorMuted), func() { f.trial.cancel(); s.remove(name) }))
	}
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
	f.named = map[string]*formField{
		model.FieldName: newFormField("Name", "Models of it are written NAME/model.", f.name),
		model.FieldURL:  newFormField("Base URL", "Its OpenAI-compatible address; for a known provider empty means the usual one.", f.url),
		model.FieldKey:  newFormField("API key", "Goes to the keychain; the file holds only a reference. Or name a variable: os.environ/NAME.", f.key),
	}
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
	f.named[model.FieldName].show(saved || f.known.Selected == otherProvider)
	f.named[model.FieldURL].show(saved || f.known.Selected != "")
}

func (f *providerForm) draft() model.ProviderDraft {
	form := f.start
	form.Name, form.URL, form.Key, form.Discover = f.name.Text, f.url.Text, f.key.Text, f.discover.Checked
	return form.Draft(f.pages.settings.Config)
}

func (f *providerForm) mark(faults model.Faults) {
	for name, field := range f.named {
		field.mark(faults[name])
	}
	f.knownField.mark("")
	if !f.named[model.FieldName].row.Visible() {
		f.knownField.mark(faults[model.FieldName])
	}
}

func (f *providerForm) faults(problems []config.Problem) model.Faults {
	faults := model.Faults{}
	faults.AddProvider(f.draft().Name, problems)
	return faults
}

func (f *providerForm) try(d model.ProviderDraft) {
	key := ""
	for _, typed := range d.Secrets { // there is no other than the key
		key = typed
	}
	tryProvider(f.screen, f.trial, d.Name, d.Entry, key)
}

func (f *providerForm) saved(c *config.Config, name string) (config.Provider, bool) {
	entry, there := c.Providers[name]
	return entry, there
}

func (f *providerForm) differences(d model.ProviderDraft, theirs config.Provider, there bool) []model.Difference {
	return model.ProviderDifferences(d, theirs, there)
}

func (f *providerForm) reopen(name string, entry config.Provider) {
	f.screen.edit(model.SavedProvider(name, entry))
}
