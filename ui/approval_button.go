package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/theme"
)

// approveButton is the one thing in our windows that approves. Unlike Fyne's
// buttons it cannot have the keyboard, so no key presses it. It decides nothing:
// it tells what the pointer does.
type approveButton struct {
	widget.BaseWidget
	pressed  func() // the button went down on it
	released func() // it went up, or the pointer left
	clicked  func() // a press began and ended on it

	text    string
	fill    fyne.ThemeColorName // when it is ready
	ready   bool
	down    bool    // the pointer presses it
	held    bool    // it shows a ring
	holding float32 // how much of the ring is filled, from 0 to 1
	hovered bool
}

func newApproveButton() *approveButton {
	b := &approveButton{fill: fynetheme.ColorNamePrimary}
	b.ExtendBaseWidget(b)
	return b
}

// Tapped comes after the whole of a click.
func (b *approveButton) Tapped(*fyne.PointEvent) { b.clicked() }

// MouseDown begins a press.
func (b *approveButton) MouseDown(e *desktop.MouseEvent) {
	if e.Button == desktop.MouseButtonPrimary {
		b.down = true
		b.pressed()
	}
}

// MouseUp ends it.
func (b *approveButton) MouseUp(*desktop.MouseEvent) { b.release() }

// MouseIn shows that the pointer is over the button.
func (b *approveButton) MouseIn(*desktop.MouseEvent) { b.hover(true) }

// MouseMoved tells nothing new.
func (b *approveButton) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends a press, too.
func (b *approveButton) MouseOut() {
	b.hover(false)
	b.release()
}

func (b *approveButton) release() {
	if b.down {
		b.down = false
		b.released()
	}
}

func (b *approveButton) hover(over bool) {
	b.hovered = over
	b.Refresh()
}

// Cursor is a hand when a click would count.
func (b *approveButton) Cursor() desktop.Cursor {
	if b.ready {
		return desktop.PointerCursor
	}
	return desktop.DefaultCursor
}

// CreateRenderer draws the button.
func (b *approveButton) CreateRenderer() fyne.WidgetRenderer {
	r := &approveRenderer{
		button: b,
		back:   canvas.NewRectangle(color.Transparent),
		over:   canvas.NewRectangle(color.Transparent),
		track:  canvas.NewArc(0, 360, ringHole, color.Transparent),
		ring:   canvas.NewArc(0, 0, ringHole, color.Transparent),
		text:   canvas.NewText("", color.Transparent),
	}
	r.text.TextStyle = fyne.TextStyle{Bold: true}
	r.Refresh()
	return r
}

const (
	ringHole         = 0.66 // how much of the ring is hole
	ringSize float32 = 2.25 * theme.Step
)

type approveRenderer struct {
	button      *approveButton
	back, over  *canvas.Rectangle
	track, ring *canvas.Arc
	text        *canvas.Text
}

func (r *approveRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.back, r.over, r.track, r.ring, r.text}
}

func (r *approveRenderer) Destroy() {}

func (r *approveRenderer) MinSize() fyne.Size {
	size := r.text.MinSize().Add(fyne.NewSize(4*theme.Step, 2*theme.Step))
	if r.button.held {
		size.Width += ringSize + theme.Step
	}
	return size
}

func (r *approveRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	r.over.Resize(size)
	text := r.text.MinSize()
	left := (size.Width - text.Width) / 2
	if r.button.held {
		left += (ringSize + theme.Step) / 2
	}
	r.text.Move(fyne.NewPos(left, (size.Height-text.Height)/2))
	r.text.Resize(text)
	for _, arc := range []*canvas.Arc{r.track, r.ring} {
		arc.Resize(fyne.NewSquareSize(ringSize))
		arc.Move(fyne.NewPos(left-ringSize-theme.Step, (size.Height-ringSize)/2))
	}
}

func (r *approveRenderer) Refresh() {
	b := r.button
	look, variant := b.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	fill, ink := fynetheme.ColorNameDisabledButton, fynetheme.ColorNameDisabled
	if b.ready {
		fill, ink = b.fill, fynetheme.ColorNameForegroundOnPrimary
	}
	radius := look.Size(fynetheme.SizeNameInputRadius)
	r.back.FillColor, r.back.CornerRadius = look.Color(fill, variant), radius
	r.over.FillColor, r.over.CornerRadius = color.Transparent, radius
	if b.ready && b.hovered {
		r.over.FillColor = look.Color(fynetheme.ColorNameHover, variant)
	}
	r.text.Text, r.text.TextSize, r.text.Color = b.text, look.Size(fynetheme.SizeNameText), look.Color(ink, variant)
	r.ring.FillColor, r.ring.EndAngle = r.text.Color, 360*b.holding
	r.track.FillColor = faded(r.text.Color)
	r.ring.Hidden, r.track.Hidden = !b.held || b.holding == 0, !b.held
	r.Layout(b.Size())
	canvas.Refresh(b)
}

// faded is a colour that is hardly there.
func faded(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 0x50}
}

// keyedButton is a button for everything but approving. While it has the
// keyboard the digits still go where they count.
type keyedButton struct {
	widget.Button
	keys *approvalKeys
}

func newKeyedButton(text string, keys *approvalKeys, tapped func()) *keyedButton {
	b := &keyedButton{keys: keys}
	b.Text, b.OnTapped = text, tapped
	b.ExtendBaseWidget(b)
	return b
}

// TypedRune hands a character on.
func (b *keyedButton) TypedRune(r rune) { b.keys.rune(r) }

// TypedKey presses the button with Space, as Fyne does, and hands on the rest.
func (b *keyedButton) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		b.Button.TypedKey(e)
		return
	}
	b.keys.key(e)
}

// approvalKeys are the keys that are typed while no entry has the keyboard.
type approvalKeys struct {
	rune func(rune)
	key  func(*fyne.KeyEvent)
}
