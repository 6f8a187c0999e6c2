package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	fynetheme "fyne.io/fyne/v2/theme"

	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// rowObjects draw one row of a call's text.
type rowObjects struct {
	back        *canvas.Rectangle
	label, text *canvas.Text
}

func newRowObjects() *rowObjects {
	row := &rowObjects{
		back:  canvas.NewRectangle(color.Transparent),
		label: canvas.NewText("", color.Transparent),
		text:  canvas.NewText("", color.Transparent),
	}
	row.label.TextStyle = fyne.TextStyle{Monospace: true, Bold: true}
	return row
}

// rowPlace is where a row goes, and what it looks like there.
type rowPlace struct {
	top, height, width float32
	cell, size         float32
	look               fyne.Theme
}

func (p rowPlace) color(name fyne.ThemeColorName) color.Color {
	return p.look.Color(name, fyne.CurrentApp().Settings().ThemeVariant())
}

// show makes the objects those of row.
func (o *rowObjects) show(row model.TextRow, p rowPlace) {
	o.back.FillColor = color.Transparent
	if name := backOf(row.Kind); name != "" {
		o.back.FillColor = p.color(name)
	}
	o.back.Move(fyne.NewPos(0, p.top))
	o.back.Resize(fyne.NewSize(p.width, p.height))

	o.label.Text, o.label.Color = row.Label, p.color(fynetheme.ColorNamePrimary)
	p.fit(o.label, margin)

	o.text.Text, o.text.Color, o.text.TextStyle = row.Text, p.color(inkOf(row.Kind)), styleOf(row.Kind)
	p.fit(o.text, margin+float32(row.Indent)*p.cell)
}

// fit puts a text at left. One that is wider than there is room, for some scripts
// are, is drawn smaller: nothing may stand outside the window.
func (p rowPlace) fit(text *canvas.Text, left float32) {
	text.TextSize = p.size
	room := p.width - left - margin/2
	if wide := text.MinSize().Width; wide > room && room > 0 {
		text.TextSize = p.size * room / wide
	}
	text.Move(fyne.NewPos(left, p.top+(p.height-text.MinSize().Height)/2))
	text.Resize(text.MinSize())
}

func backOf(kind model.TextKind) fyne.ThemeColorName {
	switch kind {
	case model.TextAdded:
		return theme.ColorAdded
	case model.TextRemoved:
		return theme.ColorRemoved
	case model.TextHeading:
		return fynetheme.ColorNameHeaderBackground
	default:
		return ""
	}
}

func inkOf(kind model.TextKind) fyne.ThemeColorName {
	switch kind {
	case model.TextNote, model.TextHunk, model.TextHeading:
		return theme.ColorMuted
	case model.TextWarning:
		return fynetheme.ColorNameWarning
	default:
		return fynetheme.ColorNameForeground
	}
}

// styleOf tells what is ours from what is the call's.
func styleOf(kind model.TextKind) fyne.TextStyle {
	switch kind {
	case model.TextHeading, model.TextWarning:
		return fyne.TextStyle{Bold: true}
	case model.TextNote:
		return fyne.TextStyle{Italic: true}
	default:
		return monospace()
	}
}
