package ui

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/journal"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

const (
	// mostBars is how many bars a card has. All are in the table.
	mostBars = 8
	// pointHint stands where a bar is explained that somebody points at.
	pointHint = "Point at a bar for its numbers. All of them are in the table below."
)

// usageScreen shows what was used over some days.
type usageScreen struct {
	ui  *UI
	now func() time.Time
	ctx context.Context // of enter

	days    int
	measure model.Measure
	usage   *journal.Usage

	spans, measures, tables *segments
	page                    *fyne.Container
	note                    *widget.Label
	figures                 *fyne.Container
	chart                   *dayChart
	title, hint             *widget.Label
	models, servers         *fyne.Container
	answers                 *fyne.Container
	table                   *widget.List
	rows                    []model.Bar
	scroll                  *container.Scroll
}

func newUsageScreen(u *UI) screen { return newUsage(u, time.Now) }

func newUsage(u *UI, now func() time.Time) *usageScreen {
	return &usageScreen{ui: u, now: now, days: model.UsageDays()[0], measure: model.MeasureCalls}
}

func (s *usageScreen) content() fyne.CanvasObject {
	var spans, measures []string
	for _, n := range model.UsageDays() {
		spans = append(spans, fmt.Sprintf("%d days", n))
	}
	for _, m := range model.Measures() {
		measures = append(measures, string(m))
	}
	s.spans = newSegments(spans, func(i int) { s.days = model.UsageDays()[i]; s.load() })
	s.measures = newSegments(measures, func(i int) { s.measure = model.Measures()[i]; s.show() })
	s.tables = newSegments([]string{"Days", "Models", "Servers"}, func(int) { s.showTable() })
	s.note = part.Muted("")
	s.note.Hide()
	s.figures = container.NewGridWithColumns(5)
	s.hint = part.Muted(pointHint)
	s.title = part.Subheading("")
	s.chart = newDayChart(s.point)
	s.models, s.servers, s.answers = container.NewVBox(), container.NewVBox(), container.NewVBox()
	s.table = widget.NewList(func() int { return len(s.rows) + 1 }, func() fyne.CanvasObject { return newTableRow() }, s.setRow)
	tall := container.NewGridWrap(fyne.NewSize(1, 36*theme.Step))
	numbers := part.Subheading("The numbers")
	numbers.Truncation = fyne.TextTruncateOff
	s.scroll = scrolled(part.Stack(
		part.Card(s.figures),
		part.Card(container.NewBorder(container.NewBorder(nil, nil, nil, s.measures.row, s.title), s.hint, nil, nil, s.chart)),
		container.NewGridWithColumns(2, part.Card(s.models), part.Card(s.servers)),
		part.Card(s.answers),
		part.Card(container.NewBorder(container.NewBorder(nil, nil, numbers, s.tables.row), nil, nil, nil, container.NewStack(tall, s.table))),
	))
	s.page = container.NewStack()
	head := container.NewBorder(nil, nil, nil, s.spans.row, part.Heading(screenUsage))
	return container.NewBorder(container.NewVBox(head, s.note), nil, nil, nil, s.page)
}

func (s *usageScreen) enter(ctx context.Context) {
	s.ctx = ctx
	s.load()
}

// load sums the days up.
func (s *usageScreen) load() {
	until := s.now()
	since := until.AddDate(0, 0, 1-s.days)
	journalPage(s.ctx, s.ui, func(ctx context.Context, r *journal.Reader) (*journal.Usage, error) {
		return r.Usage(ctx, since, until)
	}, func(usage *journal.Usage, err error) {
		tell(s.note, "")
		if err != nil {
			tell(s.note, "Usage cannot be shown: "+err.Error())
		}
		if s.usage = usage; usage == nil {
			s.usage = &journal.Usage{}
		}
		s.show()
	})
}

// show shows what was summed up.
func (s *usageScreen) show() {
	if s.usage == nil {
		return // it is being read
	}
	shown := fyne.CanvasObject(s.scroll)
	if s.usage.Total == (journal.Tally{}) {
		shown = part.Empty(theme.Icon("usage", theme.ColorMuted), fmt.Sprintf("Nothing was used in these %d days", s.days),
			"Runs, tokens, cost and time stand here as soon as a program has asked a model through Pointsman. The journal keeps them.",
			widget.NewButton("Connect a program", func() { s.ui.main.turnTo(screenConnect) }))
	}
	s.showFigures()
	s.title.SetText(string(s.measure) + " by day")
	s.hint.SetText(pointHint)
	s.chart.set(model.DayBars(s.usage, s.measure))
	s.fill(s.models, string(s.measure)+" by model", "No model was asked.", model.ModelBars(s.usage, s.measure))
	s.fill(s.servers, s.serverTitle(), s.serverNone(), s.serverBars())
	s.fill(s.answers, "Approvals", "", model.AnswerBars(s.usage.Answers))
	s.answers.Add(part.Words(model.AnswersLine(s.usage.Answers)))
	s.showTable()
	s.page.Objects = []fyne.CanvasObject{shown}
	s.page.Refresh()
}

// ofServers reports whether servers have the measure: calls and time. Tokens and
// cost are a model's.
func (s *usageScreen) ofServers() bool {
	return s.measure == model.MeasureCalls || s.measure == model.MeasureTime
}

func (s *usageScreen) serverTitle() string { return string(s.measure) + " by server" }

func (s *usageScreen) serverNone() string {
	if !s.ofServers() {
		return "Tokens and cost are a model's: a server has calls and time."
	}
	return "No server was called."
}

func (s *usageScreen) serverBars() []model.Bar {
	if !s.ofServers() {
		return nil
	}
	return model.ServerBars(s.usage, s.measure)
}

func (s *usageScreen) showFigures() {
	s.figures.RemoveAll()
	for _, figure := range model.UsageFigures(s.usage) {
		number := part.Subheading(figure[0])
		number.Alignment = fyne.TextAlignCenter
		what := part.Muted(figure[1])
		what.Alignment = fyne.TextAlignCenter
		s.figures.Add(container.NewVBox(part.Tight(number), part.Tight(what)))
	}
}

// fill puts the greatest bars into a card.
func (s *usageScreen) fill(card *fyne.Container, title, none string, bars []model.Bar) {
	card.Objects = []fyne.CanvasObject{part.Subheading(title)}
	for _, bar := range bars[:min(len(bars), mostBars)] {
		card.Objects = append(card.Objects, newBarRow(bar, s.point))
	}
	switch {
	case len(bars) > mostBars:
		card.Objects = append(card.Objects, part.Muted(fmt.Sprintf("and %d more in the table", len(bars)-mostBars)))
	case len(bars) == 0:
		card.Objects = append(card.Objects, part.Remark(none))
	}
	card.Refresh()
}

// point says what a bar stands for.
func (s *usageScreen) point(bar *model.Bar) {
	if bar == nil {
		s.hint.SetText(pointHint)
		return
	}
	s.hint.SetText(bar.Hint)
}

func (s *usageScreen) showTable() {
	switch s.tables.chosen {
	case 1:
		s.rows = model.ModelBars(s.usage, s.measure)
	case 2:
		s.rows = model.ServerBars(s.usage, s.measure)
	default:
		s.rows = model.DayBars(s.usage, s.measure)
	}
	s.table.Refresh()
}

func (s *usageScreen) setRow(i widget.ListItemID, o fyne.CanvasObject) {
	row := o.(*fyne.Container)
	cells := append([]string{s.tables.names[s.tables.chosen]}, model.UsageColumns()...)
	if i > 0 {
		cells = append([]string{s.rows[i-1].Label}, s.rows[i-1].Cells...)
	}
	for c, o := range row.Objects {
		label := o.(*fyne.Container).Objects[0].(*widget.Label)
		label.TextStyle.Bold = i == 0
		label.SetText(cells[c])
	}
}

// newTableRow is a row of the table: a name, in about a third of the width, and
// its numbers.
func newTableRow() fyne.CanvasObject {
	weights := []float32{2}
	for range model.UsageColumns() {
		weights = append(weights, 1)
	}
	row := container.New(&shares{weights: weights, end: fynetheme.ScrollBarSize()})
	for range weights {
		label := widget.NewLabel("")
		label.Truncation = fyne.TextTruncateEllipsis
		label.Alignment = fyne.TextAlignTrailing
		row.Add(part.Tight(label))
	}
	row.Objects[0].(*fyne.Container).Objects[0].(*widget.Label).Alignment = fyne.TextAlignLeading
	return row
}

// segments is a choice of one of a few, all of which are in sight.
type segments struct {
	row     *fyne.Container
	names   []string
	chosen  int
	buttons []*widget.Button
}

func newSegments(names []string, onChosen func(int)) *segments {
	s := &segments{names: names, row: container.NewHBox()}
	for i, name := range names {
		button := widget.NewButton(name, func() { s.choose(i); onChosen(i) })
		s.buttons = append(s.buttons, button)
		s.row.Add(button)
	}
	s.choose(0)
	return s
}

func (s *segments) choose(chosen int) {
	s.chosen = chosen
	for i, b := range s.buttons {
		b.Importance = widget.LowImportance
		if i == chosen {
			b.Importance = widget.HighImportance
		}
		b.Refresh()
	}
}
