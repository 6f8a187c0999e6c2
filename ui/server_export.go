package ui

import (
	"context"
	"errors"
	"os"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/connect"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// onExport shows the servers as another program has them, to be copied.
func (s *serversScreen) onExport() {
	if !s.seen {
		return
	}
	text, note := "", part.Remark("")
	box := container.NewStack()
	show := func(target string) {
		text, note.Text = s.exported(target)
		note.Refresh()
		box.Objects = nil
		box.Add(outputBox(text, 80*theme.Step, 36*theme.Step))
	}
	titles := map[string]string{"Copilot": "copilot", "VS Code": "vscode"}
	target := widget.NewSelect([]string{"Copilot", "VS Code"}, func(title string) { show(titles[title]) })
	target.SetSelectedIndex(0)
	copied := widget.NewButtonWithIcon("Copy", theme.Icon("copy", theme.ColorMuted), func() { s.ui.app.Clipboard().SetContent(text) })
	saved := widget.NewButtonWithIcon("Save", theme.Icon("export", theme.ColorMuted), func() {
		ask := dialog.NewFileSave(func(file fyne.URIWriteCloser, err error) {
			if file != nil { // nil: nothing was chosen
				s.writeExport(file, text, note)
			} else if err != nil {
				note.SetText("The file cannot be written: " + err.Error())
			}
		}, s.ui.main.window)
		ask.SetFileName("mcp.json")
		ask.Resize(s.ui.main.window.Canvas().Size())
		ask.Show()
	})
	head := container.NewBorder(nil, nil, nil, container.NewHBox(copied, saved), target)
	dialog.ShowCustom("Export servers", "Close", container.NewBorder(head, note, nil, nil, box), s.ui.main.window)
}

// writeExport writes a document to a file, off the UI goroutine, and says in note
// what came of it.
func (s *serversScreen) writeExport(file fyne.URIWriteCloser, text string, note *widget.Label) {
	name := file.URI().Path()
	background(s.ui.ctx, s.ui, func(context.Context) (int, error) {
		n, err := file.Write([]byte(text))
		return n, errors.Join(err, file.Close())
	}, func(_ int, err error) {
		if err != nil {
			note.SetText("Writing has failed, and " + name + " is not complete: " + err.Error())
			return
		}
		note.SetText("It is in " + name)
	})
}

// exported is the document for a program, and what is to be known of it.
func (s *serversScreen) exported(target string) (text, note string) {
	cfg := s.view.settings.Config
	home, _ := os.UserHomeDir() // "" leaves out what refers to it, and says so
	out, err := connect.Export(target, cfg.MCPServers, home, cfg.Workspace())
	if err != nil {
		return "", inWords(err)
	}
	notes := out.Needs
	for _, lost := range out.Lost {
		notes = append(notes, "Left out: "+lost)
	}
	const most = 6 // lines
	if len(notes) > most {
		notes = append(notes[:most], "…")
	}
	return string(out.Document), strings.Join(notes, "\n")
}
