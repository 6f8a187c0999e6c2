package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// askConflict shows in what a form and the file differ, and asks which of them
// holds.
func askConflict(window fyne.Window, what string, differences []model.Difference, mine, theirs func()) {
	table := container.NewVBox()
	line := func(field, left, right string, bold bool) {
		cells := []fyne.CanvasObject{}
		for _, text := range []string{field, left, right} {
			cell := part.Words(text)
			cell.Wrapping = fyne.TextWrapBreak
			cell.TextStyle.Bold = bold
			cells = append(cells, cell)
		}
		table.Add(container.NewGridWithColumns(3, cells...))
	}
	line("", "In this form", "In the file now", true)
	for _, d := range differences {
		table.Add(widget.NewSeparator())
		line(d.Field, d.Mine, d.Theirs, false)
	}
	scroll := container.NewVScroll(table)
	scroll.SetMinSize(fyne.NewSize(64*theme.Step, 28*theme.Step))
	words := part.Words("The file was changed while this form was open, and " + what + " with it. Nothing is saved yet.")
	ask := dialog.NewCustomWithoutButtons("Changed meanwhile", container.NewBorder(words, nil, nil, nil, scroll), window)
	take := widget.NewButton("Take the file's", func() { ask.Hide(); theirs() })
	keep := widget.NewButton("Save mine", func() { ask.Hide(); mine() })
	keep.Importance = widget.WarningImportance
	ask.SetButtons([]fyne.CanvasObject{widget.NewButton("Go on editing", ask.Hide), layout.NewSpacer(), take, keep})
	ask.Resize(fyne.NewSize(84*theme.Step, 0))
	ask.Show()
}
