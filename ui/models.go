package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/control"
	"pointsman/gateway/models"
	"pointsman/gateway/models/local"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// modelsScreen shows the providers, which model answers, and the catalogue; and
// on a further page the form of a provider.
type modelsScreen struct {
	pages
	ctx  context.Context // while the screen is before the user
	view modelsView
	seen bool                            // view has been fetched
	last map[string]model.ProviderAnswer // of the providers that were tried out, by name

	providers *widget.List
	lines     []model.ProviderLine
	empty     *fyne.Container
	fault     *widget.Label // of the keychain
	nearby    *localOffer
	choices   *modelChoices
	catalogue *modelCatalogue
	health    *modelHealth
}

// modelsView is what the screen shows, all of one moment.
type modelsView struct {
	settings control.Settings
	models   []model.CatalogueRow
	health   []models.DeploymentHealth
	keys     model.Keychain
}

func newModelsScreen(u *UI) screen {
	s := &modelsScreen{last: map[string]model.ProviderAnswer{}}
	s.pages = newPages(u, &s.view.settings)
	return s
}

func (s *modelsScreen) content() fyne.CanvasObject {
	add := widget.NewButtonWithIcon("Add provider", theme.Icon("add", theme.ColorMuted), func() { s.edit(model.ProviderForm{}) })
	s.choices, s.catalogue = newModelChoices(s), newModelCatalogue()
	s.health = newModelHealth()
	tabs := container.NewAppTabs(
		container.NewTabItem("Providers", s.providerTab()),
		container.NewTabItem("Default and fallback", s.choices.object),
		container.NewTabItem("Catalogue", s.catalogue.object),
		container.NewTabItem("Health", s.health.object),
	)
	head := container.NewBorder(nil, nil, nil, container.NewCenter(add), part.Heading("Models"))
	return s.build(container.NewBorder(head, nil, nil, nil, tabs))
}

func (s *modelsScreen) providerTab() fyne.CanvasObject {
	s.providers = widget.NewList(func() int { return len(s.lines) }, func() fyne.CanvasObject { return newProviderRow() },
		func(i widget.ListItemID, o fyne.CanvasObject) { o.(*providerRow).set(s.lines[i]) })
	s.providers.OnSelected = func(i widget.ListItemID) {
		s.providers.UnselectAll()
		s.open(s.lines[i].Name)
	}
	s.empty = container.NewStack()
	s.fault = newNotice(widget.WarningImportance)
	s.nearby = newLocalOffer(s.ui, s.addLocal)
	return container.NewBorder(s.fault, s.nearby.box, nil, nil, container.NewStack(s.providers, s.empty))
}

// addLocal adds a model server of this machine, and looks again.
func (s *modelsScreen) addLocal(server local.Server) {
	s.changeBy(localEdits(server), func() { s.bar.say(model.LocalAdded(server)) })
}

func (s *modelsScreen) enter(ctx context.Context) {
	s.ctx = ctx
	follow(ctx, s.ui, s.fetch, s.set)
	s.nearby.look(ctx)
	s.changed = func() { s.nearby.look(ctx) } // what was added is offered no more, and what has gone is offered again
}

func (s *modelsScreen) fetch(ctx context.Context) (modelsView, error) {
	var view modelsView
	var err error
	if view.settings, err = s.ui.client.Settings(ctx); err != nil {
		return view, err
	}
	if err = s.ui.client.Get(ctx, "/models", &view.models); err != nil {
		return view, err
	}
	if err = s.ui.client.Get(ctx, "/health", &view.health); err != nil {
		return view, err
	}
	bounded, cancel := context.WithTimeout(ctx, savePatience)
	defer cancel()
	if view.keys.Has, err = s.ui.client.HasSecret(bounded, model.ProviderKeys(view.settings.Config)); err != nil {
		view.keys.Fault = inWords(err) // the rest is worth showing without it
	}
	return view, nil
}

// set shows what there is.
func (s *modelsScreen) set(view modelsView, err error) {
	if err != nil {
		s.bar.fail(err)
		return
	}
	s.view, s.seen = view, true
	tell(s.fault, view.keys.Fault)
	s.lines = model.ProviderLines(view.settings.Config, view.keys, s.last)
	s.empty.Objects = nil
	if len(s.lines) == 0 {
		s.empty.Objects = []fyne.CanvasObject{s.nothing()}
	}
	s.empty.Refresh()
	s.providers.Refresh()
	s.choices.set(view)
	s.catalogue.set(view.models, view.health)
	s.health.set(view.health)
}

func (s *modelsScreen) nothing() fyne.CanvasObject {
	add := widget.NewButton("Add a provider", func() { s.edit(model.ProviderForm{}) })
	add.Importance = widget.HighImportance
	return part.Empty(theme.Icon("models", theme.ColorMuted), "No provider yet",
		"A provider answers: OpenAI, DeepSeek, an Ollama on this machine, or any other with an OpenAI-compatible address. All that most need is a key.", part.Row(s.ui.firstSteps("First steps"), add))
}

// open shows the form of a saved provider.
func (s *modelsScreen) open(name string) {
	s.edit(model.SavedProvider(name, s.view.settings.Config.Providers[name]))
}

// edit opens a form.
func (s *modelsScreen) edit(f model.ProviderForm) {
	if s.seen {
		s.turn(newProviderForm(s, f).object)
	}
}

func (s *modelsScreen) back() { s.turn(s.front) }

// answered notes how a provider did that was tried out.
func (s *modelsScreen) answered(name string, answer model.ProviderAnswer) {
	s.last[name] = answer
	s.set(s.view, nil)
}

// remove takes a provider out of the file, and offers a way back.
func (s *modelsScreen) remove(name string) {
	s.pages.remove("providers", name, s.view.settings.Config.Providers[name], s.back)
}
