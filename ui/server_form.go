package ui

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// The kinds of a server.
const (
	kindCommand = "A command"
	kindURL     = "A URL"
)

// serverForm is the page in which a server's entry is made or changed.
type serverForm struct {
	screen   *serversScreen
	start    model.ServerForm // what the form was opened with
	revision string           // of the file it was made from
	object   fyne.CanvasObject

	name, command, arguments, folder, url, timeout, tools *widget.Entry
	kind, offer                                           *widget.RadioGroup
	env, headers                                          *formPairs
	fields                                                map[string]*formField // by the names in model.Faults
	trial                                                 *formTrial
	save, test                                            *widget.Button
	fault                                                 *widget.Label // what belongs to no field
	scroll                                                *container.Scroll
}

func newServerForm(s *serversScreen, start model.ServerForm) *serverForm {
	f := &serverForm{screen: s, start: start, revision: s.view.settings.Revision, trial: newFormTrial(s.ui), fault: newNotice(widget.DangerImportance)}
	f.makeInputs()
	f.makeFields()
	f.fill(start)
	f.scroll = scrolled(f.column())
	f.object = container.NewBorder(f.head(), container.NewVBox(f.trial.object, f.fault, f.foot()), nil, nil, f.scroll)
	return f
}

func (f *serverForm) makeInputs() {
	f.name, f.command, f.folder, f.url, f.timeout = widget.NewEntry(), widget.NewEntry(), widget.NewEntry(), widget.NewEntry(), widget.NewEntry()
	f.arguments, f.tools = widget.NewMultiLineEntry(), widget.NewMultiLineEntry()
	f.arguments.SetMinRowsVisible(3)
	f.tools.SetMinRowsVisible(3)
	f.arguments.Wrapping, f.tools.Wrapping = fyne.TextWrapOff, fyne.TextWrapOff
	f.name.SetPlaceHolder("github")
	f.command.SetPlaceHolder("npx")
	f.arguments.SetPlaceHolder("-y\n@modelcontextprotocol/server-github")
	f.folder.SetPlaceHolder("where Pointsman runs")
	f.url.SetPlaceHolder("https://example.com/mcp")
	f.timeout.SetPlaceHolder("60")
	f.tools.SetPlaceHolder("one name per line")
	f.kind = widget.NewRadioGroup([]string{kindCommand, kindURL}, func(string) { f.arrange() })
	f.offer = widget.NewRadioGroup(model.OfferWords(), func(string) { f.arrange() })
	for _, group := range []*widget.RadioGroup{f.kind, f.offer} {
		group.Horizontal, group.Required = true, true
	}
}

func (f *serverForm) makeFields() {
	f.env = newFormPairs(model.FieldEnv, "Environment", "Secret values go to the keychain; the file holds only a reference.", "Add a variable")
	f.headers = newFormPairs(model.FieldHeaders, "Headers", "Secret values go to the keychain; the file holds only a reference.", "Add a header")
	f.fields = map[string]*formField{
		model.FieldName:      newFormField("Name", "Its tools begin with this name.", f.name),
		model.FieldKind:      newFormField("Reached by", "", f.kind),
		model.FieldCommand:   newFormField("Command", "", f.withChooser(f.command, "File …", f.onChooseFile)),
		model.FieldArguments: newFormField("Arguments", "One per line, without quotes.", f.arguments),
		model.FieldFolder:    newFormField("Working directory", "", f.withChooser(f.folder, "Folder …", f.onChooseFolder)),
		model.FieldURL:       newFormField("URL", "", f.url),
		model.FieldTimeout:   newFormField("Time-out", "Seconds that a call may take without progress.", f.timeout),
		model.FieldTools:     newFormField("Tools offered", "", container.NewVBox(f.offer, f.tools)),
		model.FieldEnv:       f.env.field,
		model.FieldHeaders:   f.headers.field,
	}
}

func (f *serverForm) withChooser(entry *widget.Entry, word string, choose func()) fyne.CanvasObject {
	return container.NewBorder(nil, nil, nil, widget.NewButtonWithIcon(word, theme.Icon("folder", theme.ColorMuted), choose), entry)
}

// column is the fields in their order.
func (f *serverForm) column() fyne.CanvasObject {
	column := container.NewVBox()
	for _, name := range []string{
		model.FieldName, model.FieldKind, model.FieldCommand, model.FieldArguments, model.FieldURL, model.FieldHeaders, model.FieldEnv,
		model.FieldFolder, model.FieldTimeout, model.FieldTools,
	} {
		column.Add(f.fields[name].row)
	}
	return column
}

func (f *serverForm) head() fyne.CanvasObject {
	title := "Add a server"
	if f.start.Was() != "" || f.start.Builtin {
		title = "Edit " + model.OneLine(f.start.Name)
	}
	return container.NewVBox(part.Heading(title), part.Gap(0.5))
}

func (f *serverForm) foot() fyne.CanvasObject {
	f.save = widget.NewButton("Save", f.onSave)
	f.save.Importance = widget.HighImportance
	f.test = widget.NewButtonWithIcon("Test", theme.Icon("play", theme.ColorMuted), f.onTest)
	return container.NewVBox(part.Gap(0.5), container.NewBorder(nil, nil, f.test, container.NewHBox(widget.NewButton("Cancel", f.leave), f.save)))
}

// fill shows an entry.
func (f *serverForm) fill(form model.ServerForm) {
	f.name.SetText(form.Name)
	f.command.SetText(form.Command)
	f.arguments.SetText(form.Arguments)
	f.folder.SetText(form.Folder)
	f.url.SetText(form.URL)
	f.timeout.SetText(form.Timeout)
	f.tools.SetText(form.Tools)
	f.env.set(form.Env)
	f.headers.set(form.Headers)
	f.offer.SetSelected(model.OfferWords()[form.Offer])
	kind := kindCommand
	if form.Remote {
		kind = kindURL
	}
	f.kind.SetSelected(kind)
	f.arrange()
}

// arrange shows the fields that the kind of server has.
func (f *serverForm) arrange() {
	remote := f.kind.Selected == kindURL
	for _, name := range []string{model.FieldCommand, model.FieldArguments, model.FieldFolder, model.FieldEnv} {
		f.fields[name].show(!remote && !f.start.Builtin)
	}
	for _, name := range []string{model.FieldURL, model.FieldHeaders} {
		f.fields[name].show(remote && !f.start.Builtin)
	}
	f.fields[model.FieldKind].show(!f.start.Builtin)
	setShown(f.tools, f.offer.Selected == model.OfferWords()[model.OfferNamed])
	if f.start.Builtin {
		f.name.Disable()
	}
}

// form is what the fields hold.
func (f *serverForm) form() model.ServerForm {
	form := f.start
	form.Name, form.Remote, form.Command, form.Arguments = f.name.Text, f.kind.Selected == kindURL, f.command.Text, f.arguments.Text
	form.Folder, form.URL, form.Timeout, form.Tools = f.folder.Text, f.url.Text, f.timeout.Text, f.tools.Text
	form.Env, form.Headers = f.env.pairs(), f.headers.pairs()
	for i, word := range model.OfferWords() {
		if word == f.offer.Selected {
			form.Offer = model.Offer(i)
		}
	}
	return form
}

// draft is what the fields come to; ok is false, and the fields say why, when it
// cannot be saved.
func (f *serverForm) draft() (d model.ServerDraft, ok bool) {
	d = f.form().Draft(f.screen.view.settings.Config)
	f.mark(d.Faults)
	return d, len(d.Faults) == 0
}

func (f *serverForm) mark(faults model.Faults) {
	for name, field := range f.fields {
		field.mark(faults[name])
	}
	f.env.mark(faults)
	f.headers.mark(faults)
	f.say("")
	if len(faults) > 0 {
		f.say("Some fields need another look; each says why.")
	}
}

// say says what belongs to no field; "" says nothing.
func (f *serverForm) say(words string) { tell(f.fault, words) }

func (f *serverForm) onTest() {
	if d, ok := f.draft(); ok {
		tryServer(f.screen, f.trial, d.Name, d.Entry, d.Secrets)
	}
}

func (f *serverForm) onSave() {
	d, ok := f.draft()
	if !ok {
		return
	}
	f.save.Disable()
	u := f.screen.ui
	save(u, func(ctx context.Context) (control.Settings, error) {
		for name, value := range d.Secrets { // first, for the server is started with them
			if err := u.client.SetSecret(ctx, name, value); err != nil {
				return control.Settings{}, err
			}
		}
		return u.client.Edit(ctx, f.revision, d.Edits())
	}, func(settings control.Settings, err error) { f.saved(d, settings, err) })
}

// saved leaves the form, or says why nothing was saved.
func (f *serverForm) saved(d model.ServerDraft, settings control.Settings, err error) {
	f.save.Enable()
	var conflict *control.ConflictError
	var invalid *control.InvalidError
	switch {
	case err == nil:
		f.leave()
		f.screen.saved(settings, model.Quoted(d.Name)+" is saved.")
	case errors.As(err, &conflict):
		f.onConflict(d, conflict.Current)
	case errors.As(err, &invalid):
		faults := model.Faults{}
		faults.AddServer(f.form(), invalid.Problems)
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
func (f *serverForm) onConflict(d model.ServerDraft, now control.Settings) {
	f.revision, f.screen.view.settings = now.Revision, now
	name := d.Was
	if name == "" {
		name = d.Name
	}
	theirs, there := now.Config.MCPServers[name]
	if d.Untouched(theirs, there, f.start.Base()) {
		f.onSave()
		return
	}
	f.screen.ui.askConflict("this server", model.ServerDifferences(d, theirs, there), f.onSave, func() {
		if there {
			f.screen.edit(model.SavedServer(name, theirs))
		} else {
			f.leave()
		}
	})
}

// leave goes back to the list.
func (f *serverForm) leave() {
	f.trial.cancel()
	f.screen.back()
}
