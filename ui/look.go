package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// toneColor is the colour of what a state means.
func toneColor(tone model.Tone) fyne.ThemeColorName {
	switch tone {
	case model.Busy:
		return fynetheme.ColorNamePrimary
	case model.Asking:
		return theme.ColorWrite
	case model.Good:
		return theme.ColorGood
	case model.Bad:
		return theme.ColorDestructive
	default:
		return theme.ColorMuted
	}
}

// toneIcon is the sign of what a state means: its colour never stands alone.
func toneIcon(tone model.Tone) fyne.Resource {
	drawing := "skipped"
	switch tone {
	case model.Busy:
		drawing = "running"
	case model.Asking:
		drawing = "waiting"
	case model.Good:
		drawing = "done"
	case model.Bad:
		drawing = "failed"
	}
	return theme.Icon(drawing, toneColor(tone))
}

// look is a sign and a word in one colour, which can change.
type look struct {
	object fyne.CanvasObject
	sign   *widget.Icon
	words  *widget.RichText
}

func newLook() *look {
	l := &look{sign: widget.NewIcon(nil), words: widget.NewRichText(&widget.TextSegment{})}
	l.object = container.NewHBox(part.Sign(l.sign, part.SignSize), container.NewCenter(l.words))
	return l
}

func (l *look) set(word string, icon fyne.Resource, color fyne.ThemeColorName) {
	l.sign.SetResource(icon)
	l.words.Segments = []widget.RichTextSegment{&widget.TextSegment{Text: word, Style: widget.RichTextStyle{
		ColorName: color, Inline: true, TextStyle: fyne.TextStyle{Bold: true},
	}}}
	l.words.Refresh()
}

// setTone shows a state: its word and its drawing, in the colour of its tone.
func (l *look) setTone(word, drawing string, tone model.Tone) {
	color := toneColor(tone)
	l.set(word, theme.Icon(drawing, color), color)
}

// setClass shows a risk class.
func (l *look) setClass(class approvals.Class) {
	l.set(model.WordsOf(class).Word, theme.ClassIcon(class), theme.ClassColor(class))
}

// textLine is a line of a textBlock.
func textLine(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName, bold bool) widget.RichTextSegment {
	return &widget.TextSegment{Text: text, Style: widget.RichTextStyle{ColorName: color, SizeName: size, TextStyle: fyne.TextStyle{Bold: bold}}}
}

func setLines(block *widget.RichText, lines ...widget.RichTextSegment) {
	block.Segments = lines
	block.Refresh()
}

// newTextBlock is several lines as one, each of which ends in an ellipsis where
// there is no room.
func newTextBlock() *widget.RichText {
	block := widget.NewRichText()
	block.Truncation = fyne.TextTruncateEllipsis
	return block
}

// clipped keeps a block's lines to its place: text with characters that no font
// has is wider than it is measured.
func clipped(block *widget.RichText) fyne.CanvasObject {
	room := canvas.NewRectangle(color.Transparent)
	room.SetMinSize(fyne.NewSize(1, block.MinSize().Height))
	return container.NewStack(room, container.NewClip(block))
}
