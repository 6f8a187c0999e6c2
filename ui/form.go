package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// formField is an input beside its label, with room for what is wrong with it.
type formField struct {
	row   *fyne.Container
	fault *widget.Label
	sign  fyne.CanvasObject
}

// labelWidth is how wide the labels of a form are.
const labelWidth = 17 * theme.Step

// newFormField puts an input into a line of a form. hint may be "".
func newFormField(label, hint string, input fyne.CanvasObject) *formField {
	f := &formField{fault: part.Words("")}
	f.fault.Importance = widget.DangerImportance
	f.sign = container.NewBorder(nil, nil, container.NewPadded(part.Picture(theme.Icon("failed", theme.ColorDestructive), 20)), nil, f.fault)
	f.sign.Hide()
	name := widget.NewLabel(label)
	name.Alignment, name.Truncation = fyne.TextAlignTrailing, fyne.TextTruncateEllipsis
	column := container.NewVBox(input)
	if hint != "" {
		words := part.Remark(hint)
		words.SizeName = fynetheme.SizeNameCaptionText
		column.Add(part.Tight(words))
	}
	column.Add(f.sign)
	left := container.NewVBox(container.NewGridWrap(fyne.NewSize(labelWidth, name.MinSize().Height), name))
	f.row = container.NewBorder(nil, nil, left, nil, column)
	return f
}

// mark says what is wrong with the field; "" says that nothing is.
func (f *formField) mark(reason string) {
	f.fault.SetText(reason)
	setShown(f.sign, reason != "")
}

// show shows the field, or hides it.
func (f *formField) show(shown bool) { setShown(f.row, shown) }
