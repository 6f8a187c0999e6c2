package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// navEntry is one line of the navigation.
type navEntry struct {
	widget.BaseWidget
	name, icon string
	onTap      func()

	selected, hovered, focused bool

	ground, mark *part.Surface
	sign         *widget.Icon
	label, count *widget.Label
}

var (
	_ fyne.Tappable     = (*navEntry)(nil)
	_ fyne.Focusable    = (*navEntry)(nil)
	_ desktop.Hoverable = (*navEntry)(nil)
)

func newNavEntry(name, icon string, onTap func()) *navEntry {
	e := &navEntry{
		name: name, icon: icon, onTap: onTap,
		ground: part.NewSurface(theme.ColorRail, "", theme.Step*3/4), mark: part.NewSurface(theme.ColorRail, "", 2),
		sign: widget.NewIcon(nil), label: widget.NewLabel(name), count: widget.NewLabel(""),
	}
	e.count.TextStyle.Bold = true
	e.ExtendBaseWidget(e)
	e.update()
	return e
}

// CreateRenderer lays the entry out: a mark, the icon, the name, a number.
func (e *navEntry) CreateRenderer() fyne.WidgetRenderer {
	mark := container.NewPadded(container.NewGridWrap(fyne.NewSize(3, 3*theme.Step), e.mark))
	sign := part.Sign(e.sign, part.SignSize)
	line := container.NewBorder(nil, nil, container.NewHBox(mark, sign), e.count, e.label)
	return widget.NewSimpleRenderer(container.NewStack(e.ground, line))
}

// update shows the state the entry is in.
func (e *navEntry) update() {
	color, ground := theme.ColorMuted, theme.ColorRail
	mark := ground
	switch {
	case e.selected:
		color, ground, mark = fynetheme.ColorNamePrimary, theme.ColorCard, fynetheme.ColorNamePrimary
	case e.hovered, e.focused:
		ground = fynetheme.ColorNameHover
	}
	e.label.TextStyle.Bold = e.selected
	e.ground.SetFill(ground)
	e.mark.SetFill(mark)
	e.sign.SetResource(theme.Icon(e.icon, color))
	e.label.Refresh()
}

func (e *navEntry) setSelected(selected bool) { e.selected = selected; e.update() }

// setCount puts a number at the end of the line; "" takes it away.
func (e *navEntry) setCount(count string) { e.count.SetText(count) }

// Tapped opens the screen.
func (e *navEntry) Tapped(*fyne.PointEvent) { e.onTap() }

// MouseIn follows the pointer.
func (e *navEntry) MouseIn(*desktop.MouseEvent) { e.hovered = true; e.update() }

// MouseMoved changes nothing.
func (e *navEntry) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends what MouseIn began.
func (e *navEntry) MouseOut() { e.hovered = false; e.update() }

// FocusGained shows that the keyboard is here.
func (e *navEntry) FocusGained() { e.focused = true; e.update() }

// FocusLost ends what FocusGained began.
func (e *navEntry) FocusLost() { e.focused = false; e.update() }

// TypedRune means nothing here.
func (e *navEntry) TypedRune(rune) {}

// TypedKey opens the screen with Enter or Space.
func (e *navEntry) TypedKey(key *fyne.KeyEvent) {
	if key.Name == fyne.KeyReturn || key.Name == fyne.KeyEnter || key.Name == fyne.KeySpace {
		e.onTap()
	}
}
