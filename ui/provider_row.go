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

// providerRow is a provider in the list.
type providerRow struct {
	widget.BaseWidget
	text *widget.RichText
	key  *look
}

func newProviderRow() *providerRow {
	r := &providerRow{text: newTextBlock(), key: newLook()}
	r.set(model.ProviderLine{Name: "name", Address: "address", Key: model.KeyLook{Word: "Key", Icon: "key"}})
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer lays the row out: its name and address, how it is with its key.
func (r *providerRow) CreateRenderer() fyne.WidgetRenderer {
	sign := part.Sign(widget.NewIcon(theme.Icon("models", theme.ColorMuted)), 3*theme.Step)
	end := rowEnd(r.key, 25*theme.Step)
	return widget.NewSimpleRenderer(part.Inset(0.5, container.NewBorder(nil, nil, sign, end, clipped(r.text))))
}

func (r *providerRow) set(line model.ProviderLine) {
	about, color := line.Address, theme.ColorMuted
	if line.Answer != "" {
		about += " · " + line.Answer
	}
	if line.Failed {
		color = theme.ColorDestructive
	}
	setLines(r.text, textLine(model.OneLine(line.Name), fynetheme.ColorNameForeground, fynetheme.SizeNameText, true),
		textLine(about, color, fynetheme.SizeNameCaptionText, false))
	r.key.setTone(line.Key.Word, line.Key.Icon, line.Key.Tone)
}
