package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// dayChart is a bar for each day, beside each other. What a bar stands for is
// said where the pointer is.
type dayChart struct {
	widget.BaseWidget
	onPoint func(*model.Bar) // nil: at none
	bars    []model.Bar
	at      int // of the bar that is pointed at; -1 for none
}

var _ desktop.Hoverable = (*dayChart)(nil)

func newDayChart(onPoint func(*model.Bar)) *dayChart {
	c := &dayChart{onPoint: onPoint, at: -1}
	c.ExtendBaseWidget(c)
	return c
}

func (c *dayChart) set(bars []model.Bar) {
	c.bars, c.at = bars, -1
	c.Refresh()
}

// MouseIn follows the pointer.
func (c *dayChart) MouseIn(e *desktop.MouseEvent) { c.point(e.Position.X) }

// MouseMoved follows the pointer.
func (c *dayChart) MouseMoved(e *desktop.MouseEvent) { c.point(e.Position.X) }

// MouseOut ends what MouseIn began.
func (c *dayChart) MouseOut() { c.point(-1) }

// point points at the bar that stands at x.
func (c *dayChart) point(x float32) {
	at := -1
	if x >= 0 && len(c.bars) > 0 {
		at = min(int(x/(c.Size().Width/float32(len(c.bars)))), len(c.bars)-1)
	}
	if at == c.at {
		return
	}
	c.at = at
	if at < 0 {
		c.onPoint(nil)
	} else {
		c.onPoint(&c.bars[at])
	}
	c.Refresh()
}

// CreateRenderer draws the bars, on a line with the first day, the last, and one
// between them.
func (c *dayChart) CreateRenderer() fyne.WidgetRenderer {
	r := &dayChartRenderer{chart: c, ground: canvas.NewRectangle(color.Transparent)}
	for range 3 {
		r.labels = append(r.labels, canvas.NewText("", color.Transparent))
	}
	r.Refresh()
	return r
}

type dayChartRenderer struct {
	chart  *dayChart
	bars   []*canvas.Rectangle
	labels []*canvas.Text
	ground *canvas.Rectangle
}

func (r *dayChartRenderer) Destroy() {}

func (r *dayChartRenderer) MinSize() fyne.Size { return fyne.NewSize(30*theme.Step, 18*theme.Step) }

func (r *dayChartRenderer) Objects() []fyne.CanvasObject {
	all := []fyne.CanvasObject{r.ground}
	for _, b := range r.bars {
		all = append(all, b)
	}
	for _, l := range r.labels {
		all = append(all, l)
	}
	return all
}

func (r *dayChartRenderer) Refresh() {
	for len(r.bars) < len(r.chart.bars) {
		r.bars = append(r.bars, canvas.NewRectangle(color.Transparent))
	}
	r.bars = r.bars[:len(r.chart.bars)]
	for i, b := range r.bars {
		b.FillColor = theme.Color(fynetheme.ColorNamePrimary)
		if r.chart.at >= 0 && r.chart.at != i {
			b.FillColor = theme.Color(theme.ColorMuted)
		}
		b.CornerRadius = 2
	}
	r.ground.FillColor = theme.Color(theme.ColorLine)
	for i, l := range r.labels {
		l.Text, l.Color, l.TextSize = "", theme.Color(theme.ColorMuted), fynetheme.CaptionTextSize()
		if n := len(r.chart.bars); n > 0 {
			l.Text = r.chart.bars[i*(n-1)/2].Label
		}
	}
	r.Layout(r.chart.Size())
	canvas.Refresh(r.chart)
}

func (r *dayChartRenderer) Layout(size fyne.Size) {
	foot := r.labels[0].MinSize().Height + theme.Step/2
	height := size.Height - foot
	r.ground.Move(fyne.NewPos(0, height))
	r.ground.Resize(fyne.NewSize(size.Width, 1))
	if len(r.bars) > 0 {
		slot := size.Width / float32(len(r.bars))
		gap := max(slot*0.2, slot-7*theme.Step)
		for i, b := range r.bars {
			tall := height * float32(r.chart.bars[i].Share)
			if r.chart.bars[i].Share > 0 {
				tall = max(tall, 2) // little is not nothing
			}
			b.Move(fyne.NewPos(float32(i)*slot+gap/2, height-tall))
			b.Resize(fyne.NewSize(slot-gap, tall))
		}
	}
	for i, l := range r.labels {
		width := l.MinSize().Width
		l.Move(fyne.NewPos((size.Width-width)*float32(i)/2, size.Height-l.MinSize().Height))
		l.Resize(l.MinSize())
	}
}

// barRow is one bar in a row: its name, its length, its amount.
type barRow struct {
	widget.BaseWidget
	bar     model.Bar
	onPoint func(*model.Bar)
	over    bool
}

var _ desktop.Hoverable = (*barRow)(nil)

func newBarRow(bar model.Bar, onPoint func(*model.Bar)) *barRow {
	r := &barRow{bar: bar, onPoint: onPoint}
	r.ExtendBaseWidget(r)
	return r
}

// MouseIn follows the pointer.
func (r *barRow) MouseIn(*desktop.MouseEvent) { r.over = true; r.onPoint(&r.bar); r.Refresh() }

// MouseMoved changes nothing.
func (r *barRow) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends what MouseIn began.
func (r *barRow) MouseOut() { r.over = false; r.onPoint(nil); r.Refresh() }

// CreateRenderer draws the row.
func (r *barRow) CreateRenderer() fyne.WidgetRenderer {
	name := widget.NewLabel(r.bar.Label)
	name.Truncation = fyne.TextTruncateEllipsis
	value := widget.NewLabel(r.bar.Value)
	value.Alignment = fyne.TextAlignTrailing
	p := &barRowRenderer{row: r, name: name, value: value, track: canvas.NewRectangle(color.Transparent), length: canvas.NewRectangle(color.Transparent)}
	p.Refresh()
	return p
}

type barRowRenderer struct {
	row           *barRow
	name, value   *widget.Label
	track, length *canvas.Rectangle
}

func (p *barRowRenderer) Destroy() {}

func (p *barRowRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{p.track, p.length, p.name, p.value}
}

func (p *barRowRenderer) MinSize() fyne.Size {
	return fyne.NewSize(24*theme.Step, p.name.MinSize().Height-theme.Step)
}

func (p *barRowRenderer) Refresh() {
	p.track.FillColor = theme.Color(theme.ColorLine)
	p.length.FillColor = theme.Color(fynetheme.ColorNamePrimary)
	if p.row.over {
		p.length.FillColor = theme.Color(fynetheme.ColorNameForeground)
	}
	p.track.CornerRadius, p.length.CornerRadius = theme.Step/2, theme.Step/2
	canvas.Refresh(p.row)
}

// Layout gives the name a third, the amount what it needs, the bar the rest.
func (p *barRowRenderer) Layout(size fyne.Size) {
	height := p.name.MinSize().Height
	up := -(height - size.Height) / 2
	third := size.Width * 0.34
	amount := max(p.value.MinSize().Width, 11*theme.Step)
	p.name.Move(fyne.NewPos(0, up))
	p.name.Resize(fyne.NewSize(third, height))
	p.value.Move(fyne.NewPos(size.Width-amount, up))
	p.value.Resize(fyne.NewSize(amount, height))
	width := max(size.Width-third-amount-theme.Step, 0)
	at := fyne.NewPos(third+theme.Step/2, (size.Height-theme.Step)/2)
	p.track.Move(at)
	p.track.Resize(fyne.NewSize(width, theme.Step))
	p.length.Move(at)
	long := width * float32(p.row.bar.Share)
	if p.row.bar.Share > 0 {
		long = max(long, theme.Step) // little is not nothing
	}
	p.length.Resize(fyne.NewSize(long, theme.Step))
}
