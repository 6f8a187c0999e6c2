package ui

import (
	"os"
	"strings"

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
	head := container.NewBorder(nil, nil, nil, copied, target)
	dialog.ShowCustom("Export servers", "Close", container.NewBorder(head, note, nil, nil, box), s.ui.main.window)
}

// exported is the document for a program, and what is to be known of it.
func (s *serversScreen) exported(target string) (text, note string) {
	cfg := s.view.settings.Config
	home, _ := os.UserHomeDir() // "" leaves out what refers to it, and says so
	folder := ""
	if len(cfg.Roots) > 0 {
		folder = cfg.Roots[0]
	}
	out, err := connect.Export(target, cfg.MCPServers, home, folder)
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
