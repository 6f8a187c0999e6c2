package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// serverRow is a server in the list.
type serverRow struct {
	widget.BaseWidget
	sign  *widget.Icon
	text  *widget.RichText
	state *look
}

func newServerRow() *serverRow {
	r := &serverRow{sign: widget.NewIcon(nil), text: newTextBlock(), state: newLook()}
	r.set(model.ServerLine{Name: "name", About: "about", Word: "Connected", Icon: "done"}) // of the size that every row has
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer lays the row out: what kind it is, its name, its state.
func (r *serverRow) CreateRenderer() fyne.WidgetRenderer {
	sign := part.Sign(r.sign, 3*theme.Step)
	end := rowEnd(r.state, 18*theme.Step)
	return widget.NewSimpleRenderer(part.Inset(0.5, container.NewBorder(nil, nil, sign, end, clipped(r.text))))
}

// rowEnd is the end of a row that opens a page: a state, in a column of that
// width, and the sign that there is more.
func rowEnd(state *look, width float32) fyne.CanvasObject {
	next := part.Muted("›")
	next.Truncation = fyne.TextTruncateOff
	return container.NewHBox(container.NewCenter(container.NewGridWrap(fyne.NewSize(width, state.object.MinSize().Height), state.object)), container.NewCenter(next))
}

func (r *serverRow) set(line model.ServerLine) {
	icon := "local"
	if line.Remote {
		icon = "remote"
	}
	r.sign.SetResource(theme.Icon(icon, theme.ColorMuted))
	about, color := line.About, theme.ColorMuted
	if line.Error != "" {
		about, color = line.Error, theme.ColorDestructive
	}
	setLines(r.text, textLine(model.OneLine(line.Name), fynetheme.ColorNameForeground, fynetheme.SizeNameText, true),
		textLine(about, color, fynetheme.SizeNameCaptionText, false))
	r.state.setTone(line.Word, line.Icon, line.Tone)
}
