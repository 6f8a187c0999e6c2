package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// formBar is a line over a page that says what was done, with a way back, or
// what went wrong. It stays until it is closed or has something else to say.
type formBar struct {
	object fyne.CanvasObject
	page   *fyne.Container // that the bar takes room of
	sign   *widget.Icon
	words  *widget.Label
	undo   *widget.Button
	back   func()
}

func newFormBar() *formBar {
	b := &formBar{sign: widget.NewIcon(nil), words: part.Words("")}
	b.undo = widget.NewButton("Undo", b.onUndo)
	end := container.NewHBox(container.NewCenter(b.undo), container.NewCenter(newIconButton(fynetheme.CancelIcon(), b.hide)))
	line := container.NewBorder(nil, nil, part.Sign(b.sign, part.SignSize), end, b.words)
	b.object = container.NewStack(part.NewSurface(theme.ColorRail, theme.ColorLine, theme.Step), part.Inset(0.5, line))
	b.object.Hide()
	return b
}

// in tells the bar which container it stands in, and returns that.
func (b *formBar) in(page *fyne.Container) *fyne.Container {
	b.page = page
	return page
}

// shown shows the bar, or hides it, and gives the page the room that is left.
func (b *formBar) shown(shown bool) {
	setShown(b.object, shown)
	if b.page != nil {
		layOut(b.page)
	}
}

// removed says that something is gone, and brings it back when asked to.
func (b *formBar) removed(what string, back func()) {
	b.undoable("Removed "+what+". Its keys stay in the keychain.", back)
}

// undoable says that something was done, and takes it back when asked to.
func (b *formBar) undoable(words string, back func()) {
	b.back = back
	b.show("done", theme.ColorMuted, words)
}

// fail says what went wrong.
func (b *formBar) fail(err error) {
	b.back = nil
	b.show("failed", theme.ColorDestructive, inWords(err))
}

// say says that something was done.
func (b *formBar) say(words string) {
	b.back = nil
	b.show("done", theme.ColorGood, words)
}

func (b *formBar) show(icon string, color fyne.ThemeColorName, words string) {
	b.sign.SetResource(theme.Icon(icon, color))
	b.words.SetText(words)
	setShown(b.undo, b.back != nil)
	b.shown(true)
}

func (b *formBar) hide() {
	b.back = nil
	b.shown(false)
}

func (b *formBar) onUndo() {
	back := b.back
	b.hide()
	if back != nil {
		back()
	}
}
