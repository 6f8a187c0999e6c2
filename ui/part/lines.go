package part

import (
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"golang.org/x/text/width"

	"pointsman/ui/theme"
)

// TextLine is one line of a Lines.
type TextLine struct {
	Text  string
	Color fyne.ThemeColorName // "": that of text
	Bold  bool
}

// Lines shows any number of lines of text in letters of one width. Long ones go
// on in the next row. It makes what is in sight only.
type Lines struct {
	widget.BaseWidget
	list *widget.List
	text []TextLine
	rows []TextLine // text in rows that fit
	cols int        // columns in a row; 0 until the widget has a size
}

// NewLines returns an empty Lines.
func NewLines() *Lines {
	l := &Lines{}
	l.list = widget.NewList(func() int { return len(l.rows) }, newTextRow, l.setRow)
	l.list.HideSeparators = true
	l.ExtendBaseWidget(l)
	return l
}

// Set shows other lines, from the first on.
func (l *Lines) Set(lines []TextLine) {
	l.text = lines
	l.wrap()
	l.list.ScrollToTop()
}

// Replace shows other lines and stays where it is, or at the end.
func (l *Lines) Replace(lines []TextLine, end bool) {
	l.text = lines
	l.wrap()
	if end {
		l.list.ScrollToBottom()
	}
}

// Add puts lines at the end, and goes there when asked to.
func (l *Lines) Add(lines []TextLine, end bool) {
	l.text = append(l.text, lines...)
	for _, line := range lines {
		l.rows = appendRows(l.rows, line, l.cols)
	}
	l.list.Refresh()
	if end {
		l.list.ScrollToBottom()
	}
}

// Text is all that is shown.
func (l *Lines) Text() string {
	var b strings.Builder
	for _, line := range l.text {
		b.WriteString(line.Text + "\n")
	}
	return b.String()
}

// CreateRenderer shows the list of rows.
func (l *Lines) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(l.list) }

// Resize breaks the lines anew for another width.
func (l *Lines) Resize(size fyne.Size) {
	l.BaseWidget.Resize(size)
	letter := fyne.MeasureText("m", textSize(), fyne.TextStyle{Monospace: true}).Width
	cols := int((size.Width - 3*fynetheme.Padding() - fynetheme.ScrollBarSize()) / letter)
	if cols = max(cols, 1); cols != l.cols {
		l.cols = cols
		l.wrap()
	}
}

func (l *Lines) wrap() {
	l.rows = nil
	for _, line := range l.text {
		l.rows = appendRows(l.rows, line, l.cols)
	}
	l.list.Refresh()
}

// appendRows adds a line in rows of at most cols columns; 0 is any number.
func appendRows(rows []TextLine, line TextLine, cols int) []TextLine {
	if cols == 0 || len(line.Text) <= cols {
		return append(rows, line)
	}
	rest, used := line.Text, 0
	for i, r := range line.Text {
		wide := columns(r)
		if used+wide > cols && used > 0 {
			cut := len(rest) - (len(line.Text) - i)
			rows = append(rows, TextLine{rest[:cut], line.Color, line.Bold})
			rest, used = rest[cut:], 0
		}
		used += wide
	}
	return append(rows, TextLine{rest, line.Color, line.Bold})
}

// columns is how many letters' room a character takes.
func columns(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

func textSize() float32 { return fynetheme.CaptionTextSize() }

// newTextRow is one row: plain text, without the room that a label puts around it.
func newTextRow() fyne.CanvasObject {
	text := canvas.NewText("", color.Transparent)
	text.TextStyle.Monospace = true
	return container.New(&rowLayout{}, text)
}

func (l *Lines) setRow(i widget.ListItemID, row fyne.CanvasObject) {
	text := row.(*fyne.Container).Objects[0].(*canvas.Text)
	line := l.rows[i]
	name := line.Color
	if name == "" {
		name = fynetheme.ColorNameForeground
	}
	text.Text, text.Color, text.TextSize, text.TextStyle.Bold = line.Text, theme.Color(name), textSize(), line.Bold
	text.Refresh()
}

// rowLayout gives a row the height of its letters and puts it a little off the
// edge. Its width is the list's: a row that is wider makes no list wider.
type rowLayout struct{}

func (*rowLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(1, fyne.MeasureText("Mg", textSize(), fyne.TextStyle{Monospace: true}).Height)
}

func (*rowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Move(fyne.NewPos(fynetheme.Padding(), 0))
	objects[0].Resize(size)
}

// Tight takes the room above and below a label away, so that lines stand as
// close as in a text.
func Tight(label fyne.CanvasObject) *fyne.Container { return container.New(tight{}, label) }

type tight struct{}

func (tight) room() float32 { return fynetheme.InnerPadding() - 2 }

func (t tight) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return objects[0].MinSize().SubtractWidthHeight(0, 2*t.room())
}

func (t tight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Move(fyne.NewPos(0, -t.room()))
	objects[0].Resize(size.AddWidthHeight(0, 2*t.room()))
}
