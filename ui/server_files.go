package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"

	"pointsman/ui/theme"
)

// chooserSize is the size of the dialogs for files and folders.
var chooserSize = fyne.NewSize(90*theme.Step, 60*theme.Step)

// onChooseFile lets the user choose the program.
func (f *serverForm) onChooseFile() {
	choose := dialog.NewFileOpen(func(file fyne.URIReadCloser, err error) {
		switch {
		case err != nil:
			f.say(inWords(err))
		case file != nil:
			f.command.SetText(file.URI().Path())
			_ = file.Close() // only its path was wanted
		}
	}, f.screen.ui.main.window)
	choose.Resize(chooserSize)
	choose.Show()
}

// onChooseFolder lets the user choose where the program is started.
func (f *serverForm) onChooseFolder() {
	choose := dialog.NewFolderOpen(func(folder fyne.ListableURI, err error) {
		switch {
		case err != nil:
			f.say(inWords(err))
		case folder != nil:
			f.folder.SetText(folder.Path())
		}
	}, f.screen.ui.main.window)
	if f.folder.Text != "" {
		if at, err := storage.ListerForURI(storage.NewFileURI(f.folder.Text)); err == nil { // one that is not there is no place to begin
			choose.SetLocation(at)
		}
	}
	choose.Resize(chooserSize)
	choose.Show()
}
