package ui

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// filesCard says where the user's files are, and opens their folders.
type filesCard struct {
	ui    *UI
	box   *fyne.Container
	lines []model.File
	list  *fyne.Container
}

func newFilesCard(u *UI) *filesCard {
	c := &filesCard{ui: u, list: container.NewVBox()}
	c.box = part.Stack(part.Subheading("Files"), c.list)
	return c
}

// show shows where the files are.
func (c *filesCard) show(now control.Settings, home config.Home) {
	files := model.Files(now, home)
	if slices.Equal(files, c.lines) {
		return
	}
	c.lines = files
	c.list.RemoveAll()
	for _, file := range files {
		path := widget.NewLabel(file.Path)
		path.TextStyle.Monospace, path.Wrapping, path.Selectable = true, fyne.TextWrapBreak, true
		open := widget.NewButtonWithIcon("Open folder", theme.Icon("folder", theme.ColorMuted), c.ui.act("opening a folder", func() { c.open(file.Folder) }))
		setEnabled(open, file.Folder != "")
		name := container.NewGridWrap(fyne.NewSize(15*theme.Step, path.MinSize().Height), widget.NewLabel(file.Name))
		c.list.Add(container.NewBorder(nil, nil, container.NewVBox(name), container.NewVBox(open), path))
	}
}

func (c *filesCard) open(folder string) {
	if err := c.ui.openFolder(folder); err != nil {
		dialog.ShowError(err, c.ui.main.window)
	}
}

// openFolder has the desktop show a folder.
func (u *UI) openFolder(folder string) error { return u.app.OpenURL(folderURL(folder)) }

// folderURL is a folder as the desktop is asked to open it.
func folderURL(folder string) *url.URL {
	path := filepath.ToSlash(folder)
	if !strings.HasPrefix(path, "/") { // of a drive
		path = "/" + path
	}
	return &url.URL{Scheme: "file", Path: path}
}
