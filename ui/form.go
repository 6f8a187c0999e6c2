package ui

import (
	"context"
	"errors"
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// savePatience bounds a change of the settings or of the keychain, which may wait
// for a person to unlock it.
const savePatience = 30 * time.Second

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
		words := part.Words(hint)
		words.Importance, words.SizeName = widget.LowImportance, fynetheme.SizeNameCaptionText
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

// inWords is an error as a screen shows it.
func inWords(err error) string { return model.Sentence(err.Error()) }

// follow calls show with what fetch gets, now and after every change of what
// there is to see, until ctx ends.
func follow[T any](ctx context.Context, u *UI, fetch func(context.Context) (T, error), show func(T, error)) {
	u.work.Go(func() {
		_ = u.client.Changes(ctx, func() { // that the resident goes ends the windows: see obey
			v, err := fetch(ctx)
			u.post(func() {
				if ctx.Err() == nil {
					u.safely("showing what has changed", func() { show(v, err) })
				}
			})
		})
	})
}

// change makes edits of the settings as they are when it comes to it, and not as
// a screen has seen them: a list that somebody else has changed meanwhile keeps
// that change.
func change(ctx context.Context, u *UI, edits func(*config.Config) []config.Edit, done func(control.Settings, error)) {
	background(ctx, u, func(ctx context.Context) (control.Settings, error) {
		ctx, cancel := context.WithTimeout(ctx, savePatience)
		defer cancel()
		settings, err := u.client.Settings(ctx)
		var conflict *control.ConflictError
		for tries := 0; err == nil && tries < 5; tries++ {
			var changed control.Settings
			changed, err = u.client.Edit(ctx, settings.Revision, edits(settings.Config))
			if !errors.As(err, &conflict) {
				return changed, err
			}
			settings, err = conflict.Current, nil
		}
		if err == nil {
			err = errors.New("the settings change all the time; try again in a moment")
		}
		return settings, err
	}, done)
}
