package ui

import (
	"errors"
	"maps"

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

// serverPaste is the page that takes servers as READMEs publish them.
type serverPaste struct {
	screen *serversScreen
	object fyne.CanvasObject
	text   *widget.Entry
	fault  *widget.Label
	found  *fyne.Container // several servers, to choose from
	next   *widget.Button
	all    *widget.Button
	pasted []model.PastedLine
}

const pasteExample = `{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "<YOUR_TOKEN>"}
    }
  }
}`

func newServerPaste(s *serversScreen) *serverPaste {
	p := &serverPaste{screen: s, text: widget.NewMultiLineEntry(), fault: newNotice(widget.DangerImportance), found: container.NewVBox()}
	p.text.SetPlaceHolder(pasteExample)
	p.text.TextStyle.Monospace = true
	p.text.OnChanged = func(string) { p.onChanged() }
	p.next = widget.NewButton("Next", p.onNext)
	p.next.Importance = widget.HighImportance
	p.all = widget.NewButton("Add all", p.onAll)
	p.all.Importance = widget.HighImportance
	p.all.Hide()
	words := part.Remark("Paste the JSON block that a server's README shows, for Claude, Cursor, VS Code or Copilot. Secret values of its environment and headers go to the keychain; what stands in arguments and addresses stays there.")
	foot := container.NewBorder(nil, nil, nil, container.NewHBox(widget.NewButton("Cancel", s.back), p.next, p.all))
	p.object = container.NewBorder(container.NewVBox(part.Heading("Paste servers"), words, part.Gap(0.5)),
		container.NewVBox(p.fault, p.found, part.Gap(0.5), foot), nil, nil, p.text)
	return p
}

func (p *serverPaste) say(words string) { tell(p.fault, words) }

// onChanged forgets what was found in another text.
func (p *serverPaste) onChanged() {
	p.say("")
	p.found.RemoveAll()
	p.next.Show()
	p.all.Hide()
}

// onNext fills the form with the one server, or shows the several.
func (p *serverPaste) onNext() {
	found, err := config.ParseServers(p.text.Text)
	if err != nil {
		p.say(inWords(err))
		return
	}
	p.pasted = model.PastedLines(found, p.screen.view.settings.Config)
	if len(p.pasted) == 1 {
		p.screen.edit(p.pasted[0].Form)
		return
	}
	p.found.RemoveAll()
	lines := container.NewVBox()
	for _, line := range p.pasted {
		lines.Add(p.line(line))
	}
	scroll := scrolled(lines)
	scroll.SetMinSize(fyne.NewSize(0, min(float32(len(p.pasted)), 4)*6*theme.Step))
	p.found.Add(part.Card(scroll))
	whole := model.Whole(p.pasted)
	p.all.SetText("Add " + model.CountOf(len(whole), "server"))
	setEnabled(p.all, len(whole) > 0)
	p.all.Show()
	p.next.Hide()
}

// line is one of several servers: to be added with the others, or looked at in
// the form.
func (p *serverPaste) line(line model.PastedLine) fyne.CanvasObject {
	text, color := newTextBlock(), theme.ColorMuted
	about := line.About
	if line.Fault != "" {
		about, color = line.Fault, theme.ColorDestructive
	}
	setLines(text, textLine(model.OneLine(line.Form.Name), fynetheme.ColorNameForeground, fynetheme.SizeNameText, true), textLine(about, color, fynetheme.SizeNameCaptionText, false))
	open := widget.NewButton("Open in the form", func() { p.screen.edit(line.Form) })
	return container.NewBorder(nil, nil, nil, container.NewCenter(open), text)
}

// onAll adds the servers with which nothing is wrong, all in one change.
func (p *serverPaste) onAll() {
	whole := model.Whole(p.pasted)
	revision := p.screen.view.settings.Revision
	p.all.Disable()
	var edits []config.Edit
	secrets := map[string]string{}
	for _, line := range whole {
		maps.Copy(secrets, line.Draft.Secrets) // no two lines keep one under the same name
		edits = append(edits, line.Draft.Edits()...)
	}
	saveEntries(p.screen.ui, revision, secrets, edits, func(settings control.Settings, err error) { p.added(len(whole), settings, err) })
}

func (p *serverPaste) added(n int, settings control.Settings, err error) {
	p.all.Enable()
	var conflict *control.ConflictError
	switch {
	case errors.As(err, &conflict):
		p.screen.view.settings = conflict.Current
		p.onNext() // which names are taken may have changed
		p.say("The file was changed meanwhile. Look at the list again, and add once more.")
	case err != nil:
		p.say(inWords(err))
	default:
		p.screen.back()
		p.screen.saved(settings, "Added "+model.CountOf(n, "server")+".")
	}
}
