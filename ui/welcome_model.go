package ui

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/models/local"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// modelStep is the first step: who answers.
type modelStep struct {
	screen   *welcomeScreen
	box      fyne.CanvasObject
	provider *widget.Select
	key      *widget.Entry
	save     *widget.Button
	demo     *widget.Button
	told     *widget.Label
	models   *widget.Select // of the provider, once it has answered
	choose   *fyne.Container
	nearby   *localOffer
	showing  bool // what the widgets report comes from us
}

func newModelStep(s *welcomeScreen) *modelStep {
	step := &modelStep{screen: s, told: newNotice(widget.LowImportance)}
	step.key = widget.NewPasswordEntry()
	step.key.SetPlaceHolder("Paste its API key")
	step.key.OnChanged = func(string) { step.refresh() }
	step.key.OnSubmitted = func(string) { s.ui.safely("saving a key", step.onSave) }
	step.save = widget.NewButtonWithIcon("Save and test", theme.Icon("key", theme.ColorMuted), s.ui.act("saving a key", step.onSave))
	step.provider = widget.NewSelect(config.KnownProviders(), func(string) { step.refresh() })
	step.demo = widget.NewButtonWithIcon("Try the demo model", theme.Icon("play", theme.ColorMuted), s.ui.act("choosing the demo model", step.onDemo))
	step.models = widget.NewSelect(nil, func(chosen string) { s.ui.safely("choosing a model", func() { step.onModel(chosen) }) })
	step.choose = container.NewBorder(nil, nil, widget.NewLabel("Answers when none is named"), nil, step.models)
	step.choose.Hide()
	entry := container.NewBorder(nil, nil, container.NewGridWrap(fyne.NewSize(20*theme.Step, step.key.MinSize().Height), step.provider), step.save, step.key)
	step.provider.SetSelected(config.KnownProviders()[0])
	step.nearby = newLocalOffer(s.ui, step.onLocal)
	step.box = container.NewVBox(part.Card(part.Stack(part.Subheading("Choose who answers"),
		part.Words("The key goes into the keychain of this machine, not into a file."), entry, step.told, step.choose)),
		part.Gap(1),
		part.Card(part.Stack(part.Words("No key at hand? The demo model is scripted and answers without one, so that you can see a call wait for you."),
			beside(step.demo))), step.nearby.box)
	return step
}

// onLocal adds a model server of this machine, and asks it.
func (step *modelStep) onLocal(server local.Server) {
	step.tell("Saving …", widget.LowImportance)
	step.screen.edit(localEdits(server), func(err error) {
		step.nearby.look(step.screen.ui.ctx) // what was added is offered no more
		step.saved(model.LocalProvider(step.screen.now.Config, server), err)
	})
}

func (step *modelStep) refresh() {
	needsKey := model.NeedsKey(step.provider.Selected)
	setEnabled(step.key, needsKey)
	setEnabled(step.save, step.provider.Selected != "" && (!needsKey || strings.TrimSpace(step.key.Text) != ""))
}

// show says what is chosen.
func (step *modelStep) show(c *config.Config) {
	if c != nil && c.DefaultModel == model.DemoModel {
		step.tell("The demo model answers. Choose a provider whenever you like.", widget.SuccessImportance)
	}
}

func (step *modelStep) tell(text string, importance widget.Importance) {
	tellAs(step.told, importance, text)
}

// onSave keeps the key, and asks the provider.
func (step *modelStep) onSave() {
	name, key := step.provider.Selected, strings.TrimSpace(step.key.Text)
	if step.save.Disabled() {
		return
	}
	step.save.Disable()
	step.tell("Saving …", widget.LowImportance)
	ui := step.screen.ui
	ui.do(func(ctx context.Context) error {
		if !model.NeedsKey(name) {
			return nil
		}
		return ui.client.SetSecret(ctx, name, key)
	}, func(err error) {
		if err != nil {
			step.saved(name, err)
			return
		}
		step.screen.edit(func(c *config.Config) []config.Edit { return model.ProviderEdits(c, name) }, func(err error) { step.saved(name, err) })
	})
}

// saved goes on when the key and the provider are saved, or says why they are not.
func (step *modelStep) saved(name string, err error) {
	step.screen.fail(err)
	step.refresh()
	if err != nil {
		step.tell("", widget.LowImportance)
		return
	}
	step.key.SetText("")
	step.test(name)
}

// test asks the provider whether the key is right, and which models it has.
func (step *modelStep) test(name string) {
	step.tell("Saved. Asking "+name+" …", widget.LowImportance)
	ui := step.screen.ui
	provider := step.screen.now.Config.Providers[name]
	background(ui.ctx, ui, func(ctx context.Context) (control.ProviderTest, error) {
		ctx, cancel := context.WithTimeout(ctx, trialPatience)
		defer cancel()
		return ui.client.TestProvider(ctx, name, provider, "")
	}, func(answer control.ProviderTest, err error) {
		step.refresh()
		switch {
		case err != nil:
			step.tell("Saved, but "+name+" could not be asked: "+err.Error(), widget.DangerImportance)
		case !answer.OK:
			step.tell("Saved, but it does not work: "+answer.Message, widget.DangerImportance)
		default:
			step.tell("Saved. "+answer.Message, widget.SuccessImportance)
		}
		step.offer(name, answer)
	})
}

// offer lets one of the provider's models be the one that answers when none is
// named. The known default stays with the provider that has it.
func (step *modelStep) offer(name string, answer control.ProviderTest) {
	var names []string
	for _, m := range answer.Models {
		names = append(names, model.ModelOf(name, m))
	}
	current := step.screen.now.Config.DefaultModel
	step.showing = true
	step.models.SetOptions(append([]string{current}, names...))
	step.models.SetSelected(current)
	step.showing = false
	setShown(step.choose, len(names) > 0)
	if answer.OK && answer.Model != "" && model.ForeignDefault(step.screen.now.Config, name) {
		step.models.SetSelected(model.ModelOf(name, answer.Model))
	}
}

// onModel makes the chosen model the default.
func (step *modelStep) onModel(chosen string) {
	if step.showing || chosen == "" || chosen == step.screen.now.Config.DefaultModel {
		return
	}
	step.screen.edit(func(*config.Config) []config.Edit { return model.DefaultModelEdits(chosen) }, func(error) {})
}

func (step *modelStep) onDemo() {
	step.screen.edit(func(*config.Config) []config.Edit { return model.DefaultModelEdits(model.DemoModel) }, func(error) {})
}
