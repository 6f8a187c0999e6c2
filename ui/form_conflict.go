package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// askConflict shows in what a form and the file differ, and asks which of them
// holds.
func (u *UI) askConflict(what string, differences []model.Difference, mine, theirs func()) {
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
	u.ask(question{title: "Changed meanwhile", width: 84 * theme.Step, leave: "Go on editing", body: container.NewBorder(words, nil, nil, nil, scroll)},
		reply{"Take the file's", widget.MediumImportance, theirs}, reply{"Save mine", widget.WarningImportance, mine})
}
