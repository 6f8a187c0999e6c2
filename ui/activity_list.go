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
	// sessionPage is how many past sessions are read at a time.
	sessionPage = 200
	// sessionAhead is how many rows before the end of what was read more is read.
	sessionAhead = 50
)

// sessionList is the list of sessions: what is active, then the past. It makes the rows
// in sight only, and reads the past as far as somebody looks.
type sessionList struct {
	screen *activityScreen
	split  *container.Split
	list   *widget.List
	rows   []model.ListRow
	chosen bool // by a person: what is shown first is not

	next    *journal.SessionCursor // where to read on; nil when all is read
	loading bool
	cancel  context.CancelFunc // of the reading that goes on
}

func newSessionList(s *activityScreen) *sessionList {
	l := &sessionList{screen: s}
	l.list = widget.NewList(func() int { return len(l.rows) }, func() fyne.CanvasObject { return newSessionRow() }, l.setRow)
	l.list.HideSeparators = true
	l.list.OnSelected = l.onSelected
	l.split = container.NewHSplit(l.list, container.NewStack())
	l.split.Offset = 0.38
	return l
}

func (l *sessionList) setRow(i widget.ListItemID, o fyne.CanvasObject) {
	if i >= len(l.rows)-sessionAhead && l.next != nil && !l.loading {
		l.load(l.next)
	}
	if i < len(l.rows) { // the list may ask for a row that has just gone
		o.(*sessionRow).set(l.rows[i], l.screen)
	}
}

func (l *sessionList) onSelected(i widget.ListItemID) {
	if l.rows[i].Session == nil {
		l.list.Unselect(i)
		return
	}
	l.chosen = true
	l.split.Trailing = l.screen.view.root
	l.split.Refresh()
	l.screen.view.open(l.rows[i].Session)
}

// restart reads the past from its beginning, instead of what goes on.
func (l *sessionList) restart() {
	if l.cancel != nil {
		l.cancel()
	}
	l.loading, l.next = false, nil
	l.load(nil)
}

// load reads the next page of the past.
func (l *sessionList) load(after *journal.SessionCursor) {
	ctx, cancel := context.WithCancel(l.screen.ctx)
	l.loading, l.cancel = true, cancel
	filter := l.screen.search.Filter(l.screen.now())
	filter.Limit = sessionPage
	type page struct {
		sessions []journal.Session
		next     *journal.SessionCursor
	}
	journalPage(ctx, l.screen.ui, func(ctx context.Context, r *journal.Reader) (page, error) {
		sessions, next, err := r.SessionsPage(ctx, filter, after)
		return page{sessions, next}, err
	}, func(p page, err error) {
		cancel()
		l.loading, l.next = false, p.next
		if err != nil {
			l.screen.tell("What was recorded cannot be shown: " + err.Error())
		}
		l.screen.state.AddPast(p.sessions)
		l.screen.showState()
	})
}

// rebuild makes the rows anew: a session came, went or was read.
func (l *sessionList) rebuild() {
	l.rows = l.screen.state.Rows(l.screen.now())
	l.list.Refresh()
	l.reselect()
}

// reselect keeps the mark on the session that is shown, wherever its row is now.
func (l *sessionList) reselect() {
	shown := l.screen.view.key
	if !l.chosen && (shown == "" || l.activeFirst(shown)) {
		l.selectFirst()
		return
	}
	for i, row := range l.rows {
		if row.Session != nil && row.Session.Key == shown {
			l.mark(i)
			return
		}
	}
	l.list.UnselectAll()
}

// activeFirst reports whether something goes on now, and not in the session that
// is shown.
func (l *sessionList) activeFirst(shown string) bool {
	if s := l.screen.state.Find(shown); s != nil && s.Active() {
		return false
	}
	return len(l.rows) > 1 && l.rows[1].Session != nil && l.rows[1].Session.Active()
}

// selectFirst shows the newest session to who has chosen none.
func (l *sessionList) selectFirst() {
	for i, row := range l.rows {
		if row.Session != nil {
			l.list.UnselectAll() // another one may have stood in this row
			l.list.Select(i)
			l.list.ScrollToTop()
			l.chosen = false
			return
		}
	}
}

// mark selects a row without opening its session again or scrolling to it.
func (l *sessionList) mark(i int) {
	offset := l.list.GetScrollOffset()
	l.list.OnSelected = nil
	l.list.Select(i)
	l.list.OnSelected = l.onSelected
	l.list.ScrollToOffset(offset)
}

// refreshActive shows the rows anew whose time runs.
func (l *sessionList) refreshActive() {
	for i, row := range l.rows {
		if row.Session != nil && row.Session.Active() {
			l.list.RefreshItem(i)
		} else if row.Session != nil && !l.screen.state.Searched() {
			return // the active ones stand first
		}
	}
}

// sessionRow is one row of the list: a heading, or a session in two lines.
type sessionRow struct {
	widget.BaseWidget
	heading, title, took, below *widget.Label
	icon                        *widget.Icon
	session, top                *fyne.Container
}

func newSessionRow() *sessionRow {
	r := &sessionRow{heading: part.Muted(""), title: part.Muted(""), took: widget.NewLabel(""), below: part.Muted(""), icon: widget.NewIcon(nil)}
	r.heading.TextStyle.Bold = true
	r.title.Importance, r.title.TextStyle.Bold = widget.MediumImportance, true
	r.took.Importance = widget.LowImportance
	for _, small := range []*widget.Label{r.took, r.below} {
		small.SizeName = fynetheme.SizeNameCaptionText
	}
	icon := part.Sign(r.icon, 18)
	r.top = container.NewBorder(nil, nil, nil, container.NewCenter(r.took), r.title)
	lines := container.NewVBox(part.Tight(r.top), part.Tight(r.below))
	r.session = container.NewBorder(nil, nil, part.Inset(0.5, icon), nil, lines)
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer puts a session's lines and a heading in the same place.
func (r *sessionRow) CreateRenderer() fyne.WidgetRenderer {
	heading := container.NewBorder(nil, r.heading, nil, nil)
	return widget.NewSimpleRenderer(container.NewStack(heading, r.session))
}

func (r *sessionRow) set(row model.ListRow, s *activityScreen) {
	setShown(r.heading, row.Heading != "")
	setShown(r.session, row.Heading == "")
	if row.Session == nil {
		setText(r.heading, row.Heading)
		return
	}
	word, tone := row.Session.State()
	setIcon(r.icon, toneIcon(tone))
	setText(r.title, model.SessionTitle(row.Session))
	setText(r.below, model.SessionLine(row.Session, word, s.now()))
	if setText(r.took, model.Elapsed(row.Session.Elapsed(s.now()))) {
		layOut(r.top) // it may be wider now
	}
}

// layOut puts the parts of a container in their places again, without drawing
// each anew.
func layOut(c *fyne.Container) { c.Layout.Layout(c.Objects, c.Size()) }
