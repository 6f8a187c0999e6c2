package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// question is a dialog over the main window.
type question struct {
	title string
	body  fyne.CanvasObject
	width float32
	leave string // the button that changes nothing
}

// reply is another button of a question, and what it does.
type reply struct {
	text       string
	importance widget.Importance
	act        func()
}

// ask puts a question before the user, and does what is chosen.
func (u *UI) ask(q question, replies ...reply) {
	ask := dialog.NewCustomWithoutButtons(q.title, q.body, u.main.window)
	buttons := []fyne.CanvasObject{widget.NewButton(q.leave, ask.Hide), layout.NewSpacer()}
	for _, r := range replies {
		button := widget.NewButton(r.text, u.act("the button "+r.text, func() { ask.Hide(); r.act() }))
		button.Importance = r.importance
		buttons = append(buttons, button)
	}
	ask.SetButtons(buttons)
	ask.Resize(fyne.NewSize(q.width, 0))
	ask.Show()
}
