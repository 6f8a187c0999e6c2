package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/journal"
	"pointsman/ui/model"
	"pointsman/ui/part"
)

const (
	// runPage is how many past runs are read at a time.
	runPage = 200
	// runAhead is how many rows before the end of what was read more is read.
	runAhead = 50
)

// runList is the list of runs: what is active, then the past. It makes the rows
// in sight only, and reads the past as far as somebody looks.
type runList struct {
	screen *activityScreen
	split  *container.Split
	list   *widget.List
	rows   []model.ListRow
	chosen bool // by a person: what is shown first is not

	next    *journal.Cursor // where to read on; nil when all is read
	loading bool
	cancel  context.CancelFunc // of the reading that goes on
}

func newRunList(s *activityScreen) *runList {
	l := &runList{screen: s}
	l.list = widget.NewList(func() int { return len(l.rows) }, func() fyne.CanvasObject { return newRunRow() }, l.setRow)
	l.list.HideSeparators = true
	l.list.OnSelected = l.onSelected
	l.split = container.NewHSplit(l.list, container.NewStack())
	l.split.Offset = 0.38
	return l
}

func (l *runList) setRow(i widget.ListItemID, o fyne.CanvasObject) {
	if i >= len(l.rows)-runAhead && l.next != nil && !l.loading {
		l.load(l.next)
	}
	if i < len(l.rows) { // the list may ask for a row that has just gone
		o.(*runRow).set(l.rows[i], l.screen)
	}
}

func (l *runList) onSelected(i widget.ListItemID) {
	if l.rows[i].Run == nil {
		l.list.Unselect(i)
		return
	}
	l.chosen = true
	l.split.Trailing = l.screen.run.root
	l.split.Refresh()
	l.screen.run.open(l.rows[i].Run)
}

// restart reads the past from its beginning, instead of what goes on.
func (l *runList) restart() {
	if l.cancel != nil {
		l.cancel()
	}
	l.loading, l.next = false, nil
	l.load(nil)
}

// load reads the next page of the past.
func (l *runList) load(after *journal.Cursor) {
	ctx, cancel := context.WithCancel(l.screen.ctx)
	l.loading, l.cancel = true, cancel
	filter := l.screen.search.Filter(l.screen.now())
	filter.Limit = runPage
	type page struct {
		runs []journal.Run
		next *journal.Cursor
	}
	journalPage(ctx, l.screen.ui, func(ctx context.Context, r *journal.Reader) (page, error) {
		runs, next, err := r.RunsPage(ctx, filter, after)
		return page{runs, next}, err
	}, func(p page, err error) {
		cancel()
		l.loading, l.next = false, p.next
		if err != nil {
			l.screen.tell("Past runs cannot be shown: " + err.Error())
		}
		l.screen.state.AddPast(p.runs)
		l.screen.showState()
	})
}

// rebuild makes the rows anew: a run came, went or was read.
func (l *runList) rebuild() {
	l.rows = l.screen.state.Rows(l.screen.now())
	l.list.Refresh()
	l.reselect()
}

// reselect keeps the mark on the run that is shown, wherever its row is now.
func (l *runList) reselect() {
	shown := l.screen.run.id
	if !l.chosen && (shown == "" || l.activeFirst(shown)) {
		l.selectFirst()
		return
	}
	for i, row := range l.rows {
		if row.Run != nil && row.Run.ID == shown {
			l.mark(i)
			return
		}
	}
	l.list.UnselectAll()
}

// activeFirst reports whether a run is active now while the one that is shown
// is not.
func (l *runList) activeFirst(shown string) bool {
	if run := l.screen.state.Find(shown); run != nil && run.Active {
		return false
	}
	return len(l.rows) > 1 && l.rows[1].Run != nil && l.rows[1].Run.Active
}

// selectFirst shows the newest run to who has chosen none.
func (l *runList) selectFirst() {
	for i, row := range l.rows {
		if row.Run != nil {
			l.list.UnselectAll() // another run may have stood in this row
			l.list.Select(i)
			l.chosen = false
			return
		}
	}
}

// mark selects a row without opening its run again or scrolling to it.
func (l *runList) mark(i int) {
	offset := l.list.GetScrollOffset()
	l.list.OnSelected = nil
	l.list.Select(i)
	l.list.OnSelected = l.onSelected
	l.list.ScrollToOffset(offset)
}

// refreshActive shows the rows anew whose time runs.
func (l *runList) refreshActive() {
	for i, row := range l.rows {
		if row.Run != nil && row.Run.Active {
			l.list.RefreshItem(i)
		} else if row.Run != nil && !l.screen.state.Searched() {
			return // the active ones stand first
		}
	}
}

// runRow is one row of the list: a heading, or a run in two lines.
type runRow struct {
	widget.BaseWidget
	heading, title, took, below *widget.Label
	icon                        *widget.Icon
	run, top                    *fyne.Container
}

func newRunRow() *runRow {
	r := &runRow{heading: part.Muted(""), title: part.Muted(""), took: widget.NewLabel(""), below: part.Muted(""), icon: widget.NewIcon(nil)}
	r.heading.TextStyle.Bold = true
	r.title.Importance, r.title.TextStyle.Bold = widget.MediumImportance, true
	r.took.Importance = widget.LowImportance
	for _, small := range []*widget.Label{r.took, r.below} {
		small.SizeName = fynetheme.SizeNameCaptionText
	}
	icon := part.Sign(r.icon, 18)
	r.top = container.NewBorder(nil, nil, nil, container.NewCenter(r.took), r.title)
	lines := container.NewVBox(part.Tight(r.top), part.Tight(r.below))
	r.run = container.NewBorder(nil, nil, part.Inset(0.5, icon), nil, lines)
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer puts a run's lines and a heading in the same place.
func (r *runRow) CreateRenderer() fyne.WidgetRenderer {
	heading := container.NewBorder(nil, r.heading, nil, nil)
	return widget.NewSimpleRenderer(container.NewStack(heading, r.run))
}

func (r *runRow) set(row model.ListRow, s *activityScreen) {
	setShown(r.heading, row.Heading != "")
	setShown(r.run, row.Heading == "")
	if row.Run == nil {
		setText(r.heading, row.Heading)
		return
	}
	word, tone := row.Run.State()
	setIcon(r.icon, toneIcon(tone))
	setText(r.title, model.RunTitle(row.Run))
	setText(r.below, model.RunLine(row.Run, word, s.now()))
	if setText(r.took, model.Elapsed(row.Run.Elapsed(s.now()))) {
		layOut(r.top) // it may be wider now
	}
}

// layOut puts the parts of a container in their places again, without drawing
// each anew.
func layOut(c *fyne.Container) { c.Layout.Layout(c.Objects, c.Size()) }
