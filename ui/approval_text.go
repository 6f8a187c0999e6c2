package ui

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// textView shows any number of lines whole, broken to its width, and draws only
// those in sight. It never takes the keyboard.
type textView struct {
	widget.BaseWidget
	scroll  *container.Scroll
	rows    *textRows
	lines   []model.TextLine
	columns int
}

func newTextView() *textView {
	v := &textView{rows: newTextRows()}
	v.scroll = container.NewVScroll(v.rows)
	v.rows.scroll = v.scroll
	v.scroll.OnScrolled = func(fyne.Position) { v.rows.Refresh() }
	v.ExtendBaseWidget(v)
	return v
}

// SetLines replaces the lines, and stays where it is.
func (v *textView) SetLines(lines []model.TextLine) {
	v.lines = lines
	v.breakLines()
}

// Top goes to the first row.
func (v *textView) Top() { v.scroll.ScrollToTop() }

// GoTo goes to the heading of a section.
func (v *textView) GoTo(heading string) {
	for i, row := range v.rows.rows {
		if row.Kind == model.TextHeading && row.Text == heading {
			v.scroll.ScrollToOffset(fyne.NewPos(0, float32(i)*v.rows.height()))
			v.rows.Refresh()
			return
		}
	}
}

// ScrollBy moves as a key says, and reports whether it is one that does.
func (v *textView) ScrollBy(key fyne.KeyName) bool {
	row := v.rows.height()
	page := max(row, v.scroll.Size().Height-row)
	by := map[fyne.KeyName]float32{
		fyne.KeyUp: -row, fyne.KeyDown: row, fyne.KeyPageUp: -page, fyne.KeyPageDown: page,
		fyne.KeyHome: -v.scroll.Offset.Y, fyne.KeyEnd: v.rows.MinSize().Height,
	}[key]
	if by == 0 {
		return false
	}
	v.scroll.ScrollToOffset(fyne.NewPos(0, v.scroll.Offset.Y+by)) // no further than there is text
	v.rows.Refresh()
	return true
}

// Resize breaks the lines anew when another number of columns fits.
func (v *textView) Resize(size fyne.Size) {
	v.BaseWidget.Resize(size)
	if columns := v.rows.fitting(size.Width); columns != v.columns {
		v.columns = columns
		v.breakLines()
	}
}

func (v *textView) breakLines() {
	v.rows.rows = model.Rows(v.lines, v.columns)
	v.scroll.Refresh() // there may be less to scroll
	v.rows.Refresh()
}

// MinSize is a few rows.
func (v *textView) MinSize() fyne.Size { return fyne.NewSize(16*theme.Step, 3*v.rows.height()) }

// CreateRenderer draws the view.
func (v *textView) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(v.scroll) }

// textRows is the inside of a textView: as high as all rows, with objects for
// those in sight only.
type textRows struct {
	widget.BaseWidget
	scroll *container.Scroll // what shows them
	rows   []model.TextRow
}

func newTextRows() *textRows {
	r := &textRows{}
	r.ExtendBaseWidget(r)
	return r
}

// monospace is how the text of a call is written: nothing is judged by its width.
func monospace() fyne.TextStyle { return fyne.TextStyle{Monospace: true} }

// size is that of the text: the theme's, or a little more, so that underscores are
// in sight. Who judges a call must see the names that are there.
func (r *textRows) size() float32 {
	scale := float32(1)
	if shown := fyne.CurrentApp().Driver().CanvasForObject(r); shown != nil {
		scale = shown.Scale()
	}
	least := r.Theme().Size(fynetheme.SizeNameText)
	for size := least; size < least+2; size += 1.0 / 8 {
		if lost(size, scale) < 1.0/3 {
			return size
		}
	}
	return least
}

// lost is how much of the lowest pixel Fyne cuts off a line of text: it begins with
// a base line that is rounded up, and ends at a height that is rounded.
func lost(size, scale float32) float64 {
	line, base := fyne.CurrentApp().Driver().RenderedTextSize("0", size, monospace(), nil)
	below := float64((line.Height - base) * scale)
	return math.Ceil(float64(base*scale)) + below - math.Round(float64(line.Height*scale))
}

// cell is the width of one column.
func (r *textRows) cell() float32 { return fyne.MeasureText("0", r.size(), monospace()).Width }

func (r *textRows) height() float32 {
	return fyne.MeasureText("0", r.size(), monospace()).Height + theme.Step/4
}

// margin stands at either side of the text.
const margin = theme.Step * 1.5

// fitting returns how many columns fit.
func (r *textRows) fitting(width float32) int {
	bar := r.Theme().Size(fynetheme.SizeNameScrollBar)
	return int((width - 2*margin - bar) / r.cell())
}

func (r *textRows) CreateRenderer() fyne.WidgetRenderer { return &textRowsRenderer{view: r} }

// textRowsRenderer keeps one object for each row that fits in sight, and gives it
// another row when that one leaves.
type textRowsRenderer struct {
	view *textRows
	pool []*rowObjects
}

// MinSize is the height of all rows.
func (r *textRowsRenderer) MinSize() fyne.Size {
	return fyne.NewSize(1, float32(len(r.view.rows))*r.view.height()+theme.Step)
}

func (r *textRowsRenderer) Layout(fyne.Size) { r.Refresh() }
func (r *textRowsRenderer) Destroy()         {}

func (r *textRowsRenderer) Objects() []fyne.CanvasObject {
	var objects []fyne.CanvasObject
	for _, row := range r.pool {
		objects = append(objects, row.back, row.label, row.text)
	}
	return objects
}

func (r *textRowsRenderer) Refresh() {
	height := r.view.height()
	first := max(0, int(r.view.scroll.Offset.Y/height)-1)
	last := min(len(r.view.rows), first+int(r.view.scroll.Size().Height/height)+3)
	for len(r.pool) < last-first {
		r.pool = append(r.pool, newRowObjects())
	}
	r.pool = r.pool[:max(0, last-first)]
	place := rowPlace{cell: r.view.cell(), size: r.view.size(), height: height, width: r.view.Size().Width, look: r.view.Theme()}
	for i, row := range r.pool {
		place.top = float32(first+i) * height
		row.show(r.view.rows[first+i], place)
	}
	canvas.Refresh(r.view)
}
