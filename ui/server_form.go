package ui

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// The kinds of a server.
const (
	kindCommand = "A command"
	kindURL     = "A URL"
)

// serverForm is the page in which a server's entry is made or changed.
type serverForm struct {
	*entryForm[config.MCPServer]
	screen *serversScreen
	start  model.ServerForm // what the form was opened with

	name, command, arguments, folder, url, timeout, tools *widget.Entry
	write, deny                                           *widget.Entry
	network                                               *widget.Check
	kind, offer, sandbox                                  *widget.RadioGroup
	env, headers                                          *formPairs
	named                                                 map[string]*formField // by the names in model.Faults
}

func newServerForm(s *serversScreen, start model.ServerForm) *serverForm {
	f := &serverForm{screen: s, start: start}
	f.entryForm = newEntryForm(&s.pages, f, "server", s.back)
	f.makeInputs()
	f.makeFields()
	f.fill(start)
	title := "Add a server"
	if start.Was() != "" || start.Builtin {
		title = "Edit " + model.OneLine(start.Name)
	}
	f.build(title, f.column())
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
	f.sandbox = widget.NewRadioGroup(model.SandboxWords(), func(string) { f.arrange() })
	f.network = widget.NewCheck("It may use the network (npx and uvx need it)", nil)
	f.write, f.deny = widget.NewMultiLineEntry(), widget.NewMultiLineEntry()
	for entry, example := range map[*widget.Entry]string{f.write: "${workspaceFolder}\n~/notes", f.deny: "~/private"} {
		entry.SetMinRowsVisible(2)
		entry.Wrapping = fyne.TextWrapOff
		entry.SetPlaceHolder(example)
	}
	for _, group := range []*widget.RadioGroup{f.kind, f.offer, f.sandbox} {
		group.Horizontal, group.Required = true, true
	}
}

func (f *serverForm) makeFields() {
	f.env = newFormPairs(model.FieldEnv, "Environment", "Secret values go to the keychain; the file holds only a reference.", "Add a variable")
	f.headers = newFormPairs(model.FieldHeaders, "Headers", "Secret values go to the keychain; the file holds only a reference.", "Add a header")
	f.named = map[string]*formField{
		model.FieldName:      newFormField("Name", "Its tools begin with this name.", f.name),
		model.FieldKind:      newFormField("Reached by", "", f.kind),
		model.FieldCommand:   newFormField("Command", "", f.withChooser(f.command, "File …", f.onChooseFile)),
		model.FieldArguments: newFormField("Arguments", "One per line, without quotes.", f.arguments),
		model.FieldFolder:    newFormField("Working directory", "", f.withChooser(f.folder, "Folder …", f.onChooseFolder)),
		model.FieldURL:       newFormField("URL", "", f.url),
		model.FieldTimeout:   newFormField("Time-out", "Seconds that a call may take without progress.", f.timeout),
		model.FieldTools:     newFormField("Tools offered", "", container.NewVBox(f.offer, f.tools)),
		model.FieldSandbox:   newFormField("Sandbox", "Confined: no credentials, no network, and it writes its working directory alone.", container.NewVBox(f.sandbox, f.network)),
		model.FieldWrite:     newFormField("May write", "Files and folders, one per line.", f.write),
		model.FieldDeny:      newFormField("May not read", "Files and folders, one per line.", f.deny),
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
		model.FieldFolder, model.FieldTimeout, model.FieldTools, model.FieldSandbox, model.FieldWrite, model.FieldDeny,
	} {
		column.Add(f.named[name].row)
	}
	return column
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
	f.network.SetChecked(form.Network)
	f.write.SetText(form.Write)
	f.deny.SetText(form.Deny)
	f.sandbox.SetSelected(model.SandboxWords()[form.Sandbox])
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
		f.named[name].show(!remote && !f.start.Builtin)
	}
	for _, name := range []string{model.FieldURL, model.FieldHeaders} {
		f.named[name].show(remote && !f.start.Builtin)
	}
	f.named[model.FieldKind].show(!f.start.Builtin)
	local, confined := !remote && !f.start.Builtin, f.sandbox.Selected == model.SandboxWords()[model.SandboxOn]
	f.named[model.FieldSandbox].show(local)
	f.named[model.FieldWrite].show(local && confined)
	f.named[model.FieldDeny].show(local && confined)
	setShown(f.network, confined)
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
	form.Offer = model.Offer(max(0, slices.Index(model.OfferWords(), f.offer.Selected)))
	form.Sandbox = model.Sandboxing(max(0, slices.Index(model.SandboxWords(), f.sandbox.Selected)))
	form.Network, form.Write, form.Deny = f.network.Checked, f.write.Text, f.deny.Text
	return form
}

func (f *serverForm) draft() model.ServerDraft { return f.form().Draft(f.pages.settings.Config) }

func (f *serverForm) mark(faults model.Faults) {
	for name, field := range f.named {
		field.mark(faults[name])
	}
	f.env.mark(faults)
	f.headers.mark(faults)
}

func (f *serverForm) faults(problems []config.Problem) model.Faults {
	faults := model.Faults{}
	faults.AddServer(f.form(), problems)
	return faults
}

func (f *serverForm) try(d model.ServerDraft) {
	tryServer(f.screen, f.trial, d.Name, d.Entry, d.Secrets)
}

func (f *serverForm) saved(c *config.Config, name string) (config.MCPServer, bool) {
	entry, there := c.MCPServers[name]
	return entry, there
}

func (f *serverForm) differences(d model.ServerDraft, theirs config.MCPServer, there bool) []model.Difference {
	return model.ServerDifferences(d, theirs, there)
}

func (f *serverForm) reopen(name string, entry config.MCPServer) {
	f.screen.edit(model.SavedServer(name, entry))
}
