// Package part is what the screens are put together from: headings, cards,
// badges and what stands where there is nothing yet. It starts no goroutine; all
// of it runs on the UI goroutine.
package part

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/theme"
)

// Heading is the title of a screen.
func Heading(text string) *widget.Label {
	return &widget.Label{Text: text, SizeName: sizeHeading, TextStyle: fyne.TextStyle{Bold: true}, Truncation: fyne.TextTruncateEllipsis}
}

// Subheading is the title of a part of a screen.
func Subheading(text string) *widget.Label {
	return &widget.Label{Text: text, SizeName: sizeSubheading, TextStyle: fyne.TextStyle{Bold: true}, Truncation: fyne.TextTruncateEllipsis}
}

// Muted is a line beside the point. It ends in an ellipsis where there is no
// room.
func Muted(text string) *widget.Label {
	return &widget.Label{Text: text, Importance: widget.LowImportance, Truncation: fyne.TextTruncateEllipsis}
}

// Words is text of any length, broken into lines.
func Words(text string) *widget.Label {
	return &widget.Label{Text: text, Wrapping: fyne.TextWrapWord}
}

// Remark is text of any length beside the point, broken into lines.
func Remark(text string) *widget.Label {
	return &widget.Label{Text: text, Importance: widget.LowImportance, Wrapping: fyne.TextWrapWord}
}

// Inset puts room of so many steps around an object.
func Inset(steps float32, content fyne.CanvasObject) *fyne.Container {
	room := steps * theme.Step
	return container.New(layout.NewCustomPaddedLayout(room, room, room, room), content)
}

// Gap is room of so many steps between two things.
func Gap(steps float32) fyne.CanvasObject {
	gap := canvas.NewRectangle(color.Transparent)
	gap.SetMinSize(fyne.NewSquareSize(steps * theme.Step))
	return gap
}

// Stack puts things above each other, a step apart.
func Stack(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedVBoxLayout(theme.Step), objects...)
}

// Row puts things beside each other, a step apart.
func Row(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedHBoxLayout(theme.Step), objects...)
}
