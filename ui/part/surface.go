package part

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/theme"
)

const (
	sizeHeading    = fynetheme.SizeNameHeadingText
	sizeSubheading = fynetheme.SizeNameSubHeadingText
)

// Surface is a plain area in a colour of the theme, with round corners where
// asked for. It follows the theme.
type Surface struct {
	widget.BaseWidget
	fill, line fyne.ThemeColorName
	radius     float32
}

// NewSurface returns a surface. line may be "": then there is none.
func NewSurface(fill, line fyne.ThemeColorName, radius float32) *Surface {
	s := &Surface{fill: fill, line: line, radius: radius}
	s.ExtendBaseWidget(s)
	return s
}

// SetFill gives the surface another colour.
func (s *Surface) SetFill(fill fyne.ThemeColorName) {
	s.fill = fill
	s.Refresh()
}

// CreateRenderer draws the surface.
func (s *Surface) CreateRenderer() fyne.WidgetRenderer {
	r := &surfaceRenderer{surface: s, rectangle: canvas.NewRectangle(color.Transparent)}
	r.Refresh()
	return r
}

type surfaceRenderer struct {
	surface   *Surface
	rectangle *canvas.Rectangle
}

func (r *surfaceRenderer) Layout(size fyne.Size)        { r.rectangle.Resize(size) }
func (r *surfaceRenderer) MinSize() fyne.Size           { return fyne.Size{} }
func (r *surfaceRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.rectangle} }
func (r *surfaceRenderer) Destroy()                     {}

func (r *surfaceRenderer) Refresh() {
	r.rectangle.FillColor = theme.Color(r.surface.fill)
	r.rectangle.CornerRadius = r.surface.radius
	r.rectangle.StrokeWidth = 0
	if r.surface.line != "" {
		r.rectangle.StrokeWidth, r.rectangle.StrokeColor = 1, theme.Color(r.surface.line)
	}
	canvas.Refresh(r.rectangle)
}

// Card puts content on a surface of its own.
func Card(content fyne.CanvasObject) *fyne.Container {
	return container.NewStack(NewSurface(theme.ColorCard, theme.ColorLine, theme.Step), Inset(1.5, content))
}

// Picture is an icon of so many units in width and height.
func Picture(icon fyne.Resource, size float32) fyne.CanvasObject {
	return container.NewGridWrap(fyne.NewSquareSize(size), widget.NewIcon(icon))
}

// SignSize is the size of a Sign beside a line of text.
const SignSize = 20

// Sign puts an icon, which may change, beside a line: so many units in width and
// height, in the middle of what height there is.
func Sign(icon fyne.CanvasObject, size float32) fyne.CanvasObject {
	return container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(size), icon))
}

// Empty stands where there is nothing yet, and says what to do. action may be
// nil.
func Empty(icon fyne.Resource, title, text string, action fyne.CanvasObject) fyne.CanvasObject {
	heading := Subheading(title)
	heading.Alignment, heading.Truncation = fyne.TextAlignCenter, fyne.TextTruncateOff
	words := Remark(text)
	words.Alignment = fyne.TextAlignCenter
	column := container.NewVBox(container.NewCenter(Picture(icon, 6*theme.Step)), heading, words)
	if action != nil {
		column.Add(Gap(1))
		column.Add(container.NewCenter(action))
	}
	return container.NewCenter(container.New(&narrow{width: 52 * theme.Step}, column))
}

// narrow gives its one object a width of its own.
type narrow struct{ width float32 }

func (n *narrow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	for _, o := range objects {
		o.Resize(fyne.NewSize(n.width, o.Size().Height)) // so that wrapped text knows its height
	}
	return fyne.NewSize(n.width, objects[0].MinSize().Height)
}

func (n *narrow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(fyne.NewSize(n.width, size.Height))
	}
}
