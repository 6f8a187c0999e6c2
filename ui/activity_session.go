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
	"pointsman/ui/theme"
)

// sessionView shows one session: what it is, its plan, its turns and calls in
// order of time, and one of these whole.
type sessionView struct {
	screen *activityScreen
	root   fyne.CanvasObject
	key    string // of the session that is shown; "" for none
	row    string // id of the row that is shown whole; "" for none
	read   bool   // its rows were read from the journal
	follow bool   // it goes on: what comes last is to be in sight, when it has been read
	rows   []model.Row
	cancel context.CancelFunc

	title, line, place, reason *widget.Label
	why, where                 *fyne.Container // reason, place
	icon                       *widget.Icon
	stop                       *widget.Button
	plan                       *planView
	timeline                   *widget.List
	body                       *fyne.Container
	both                       *container.Split // the timeline, and one row of it whole
	detail                     *callView

	made []*timelineRow // all rows there are
	turn int            // counts calm
}

func newSessionView(s *activityScreen) *sessionView {
	v := &sessionView{screen: s, title: part.Subheading(""), line: part.Muted(""), place: part.Muted(""), reason: part.Words(""), icon: widget.NewIcon(nil)}
	v.reason.Importance = widget.DangerImportance
	v.why, v.where = part.Tight(v.reason), part.Tight(v.place)
	v.stop = widget.NewButtonWithIcon("Stop", theme.Icon("stop", theme.ColorDestructive), v.onStop)
	v.plan = newPlanView()
	v.timeline = widget.NewList(func() int { return len(v.rows) }, v.newRow, v.setRow)
	v.timeline.HideSeparators = true
	v.timeline.OnSelected = v.onSelected
	v.detail = newCallView(v)
	v.both = container.NewVSplit(v.timeline, v.detail.root)
	v.both.Offset = 0.35
	v.body = container.NewStack(v.timeline)
	icon := part.Sign(v.icon, part.SignSize)
	head := container.NewBorder(nil, nil, part.Inset(0.5, icon), container.NewCenter(v.stop),
		container.NewVBox(part.Tight(v.title), part.Tight(v.line), v.where))
	v.root = part.Inset(1, container.NewBorder(container.NewVBox(head, v.why, v.plan.root), nil, nil, nil, v.body))
	return v
}

// session is the session that is shown; nil for none.
func (v *sessionView) session() *model.Session { return v.screen.state.Find(v.key) }

// open shows a session.
func (v *sessionView) open(s *model.Session) {
	if v.key == s.Key {
		return
	}
	v.key, v.read, v.follow, v.rows = s.Key, false, s.Active(), nil
	v.screen.state.Show(s.Key)
	v.close()
	v.stop.SetText("Stop")
	v.stop.Enable()
	v.show()
	v.timeline.ScrollToTop()
	v.reload()
}

// reload reads the session's rows from the journal: they tell what no event did.
func (v *sessionView) reload() {
	s := v.session()
	if s == nil {
		return
	}
	if v.cancel != nil {
		v.cancel()
	}
	ctx, cancel := context.WithCancel(v.screen.ctx)
	v.cancel = cancel
	v.screen.readSession(ctx, s, func() {
		cancel()
		v.read = true
		v.show()
		v.follow = false
	})
}

// show shows all of the session as it is now.
func (v *sessionView) show() {
	s := v.session()
	if s == nil {
		return
	}
	follow := v.follow || v.atEnd()
	v.rows = s.Timeline()
	v.title.SetText(model.SessionTitle(s))
	v.showElapsed()
	v.place.SetText(model.SessionPlace(s))
	v.where.Hidden = v.place.Text == ""
	v.reason.SetText(model.SessionReason(s))
	v.why.Hidden = v.reason.Text == ""
	v.stop.Hidden = len(s.ActiveRuns()) == 0
	v.plan.set(s.Planned(), v.row == "")
	v.keepSelected()
	v.calm()
	v.root.Refresh()
	if follow {
		v.timeline.ScrollToBottom()
	}
}

// atEnd reports whether the end of the timeline is in sight, and nothing else is
// looked at.
func (v *sessionView) atEnd() bool {
	if v.row != "" || len(v.made) == 0 || len(v.rows) == 0 {
		return false
	}
	each := v.made[0].MinSize().Height + fynetheme.Padding()
	return v.timeline.GetScrollOffset()+v.timeline.Size().Height >= float32(len(v.rows)-1)*each
}

// showElapsed shows how the session is, and for how long.
func (v *sessionView) showElapsed() {
	if s := v.session(); s != nil {
		word, tone := s.State()
		setIcon(v.icon, toneIcon(tone))
		setText(v.line, model.SessionDetail(s, word, v.screen.now()))
	}
}

// changed shows what events have changed.
func (v *sessionView) changed(c shownChange) {
	s := v.session()
	if s == nil || !c.session {
		return
	}
	if c.whole {
		v.show()
	} else {
		if c.plan {
			v.plan.set(s.Planned(), v.row == "")
		}
		follow := v.atEnd()
		v.rows = s.Timeline()
		v.keepSelected()
		v.timeline.Refresh()
		v.showElapsed()
		if follow {
			v.timeline.ScrollToBottom()
		}
	}
	row, ok := v.selected()
	switch {
	case ok && row.Call != nil && c.calls[row.Call.ID]:
		v.detail.load(*row.Call)
	case ok && row.Turn != nil && c.whole:
		v.detail.showTurn(row.Turn)
	}
}

// selected returns the row that is shown whole.
func (v *sessionView) selected() (model.Row, bool) {
	for _, row := range v.rows {
		if v.row != "" && row.ID() == v.row {
			return row, true
		}
	}
	return model.Row{}, false
}

// keepSelected keeps the mark on the row that is shown whole, wherever it is now.
func (v *sessionView) keepSelected() {
	for i, row := range v.rows {
		if v.row != "" && row.ID() == v.row {
			v.timeline.OnSelected = nil
			offset := v.timeline.GetScrollOffset()
			v.timeline.Select(i)
			v.timeline.ScrollToOffset(offset)
			v.timeline.OnSelected = v.onSelected
			return
		}
	}
}

// onStop cancels the runs that go on.
func (v *sessionView) onStop() {
	s := v.session()
	if s == nil {
		return
	}
	key, runs := v.key, s.ActiveRuns()
	v.stop.SetText("Stopping …")
	v.stop.Disable()
	background(v.screen.ui.ctx, v.screen.ui, func(ctx context.Context) (bool, error) {
		stopped := false
		for _, run := range runs {
			one, err := v.screen.source.stop(ctx, run)
			if err != nil {
				return stopped, err
			}
			stopped = stopped || one
		}
		return stopped, nil
	}, func(stopped bool, err error) {
		if v.key == key {
			v.stop.SetText("Stop")
			v.stop.Enable()
		}
		switch {
		case err != nil:
			v.screen.tell("The run cannot be stopped: " + err.Error())
		case !stopped:
			v.screen.tell("The run had ended already.")
		}
	})
}

func (v *sessionView) newRow() fyne.CanvasObject {
	row := newTimelineRow()
	v.made = append(v.made, row)
	return row
}

func (v *sessionView) setRow(i widget.ListItemID, o fyne.CanvasObject) {
	if i >= len(v.rows) {
		return // the list may ask for a row that has just gone
	}
	row, shown := o.(*timelineRow), v.rows[i]
	row.turn = v.turn
	row.set(shown, v.screen.now())
	row.spin(shown.Call != nil && shown.Call.State == model.CallRunning && v.screen.ctx.Err() == nil)
}

// calm ends the spinning of rows that are out of sight: the list keeps them to
// be used again.
func (v *sessionView) calm() {
	v.turn++
	v.timeline.Refresh()
	for _, row := range v.made {
		if row.turn != v.turn {
			row.spin(false)
		}
	}
}

func (v *sessionView) onSelected(i widget.ListItemID) {
	s := v.session()
	if s == nil || i >= len(v.rows) {
		return
	}
	row := v.rows[i]
	v.row = row.ID()
	v.body.Objects = []fyne.CanvasObject{v.both}
	v.plan.set(s.Planned(), false)
	if row.Turn != nil {
		v.detail.showTurn(row.Turn)
	} else {
		v.detail.load(*row.Call)
	}
	v.root.Refresh()
	v.timeline.ScrollTo(i)
}

// close shows the timeline alone again.
func (v *sessionView) close() {
	v.row = ""
	v.timeline.UnselectAll()
	v.body.Objects = []fyne.CanvasObject{v.timeline}
	if s := v.session(); s != nil {
		v.plan.set(s.Planned(), true)
	}
	v.root.Refresh()
}

// sessionRows are what the journal has of a session.
type sessionRows struct {
	runs  []journal.Run
	calls []journal.Call
}

// readSession reads what the journal has of a session, and then calls done.
func (s *activityScreen) readSession(ctx context.Context, of *model.Session, done func()) {
	filter := of.Rows()
	filter.OldestFirst = true
	key := of.Key
	journalPage(ctx, s.ui, func(ctx context.Context, r *journal.Reader) (sessionRows, error) {
		runs, err := all(r.Runs(ctx, filter))
		if err != nil {
			return sessionRows{}, err
		}
		calls, err := all(r.Calls(ctx, filter))
		return sessionRows{runs, calls}, err
	}, func(rows sessionRows, err error) {
		if err != nil {
			s.tell("What was recorded of this session cannot be shown: " + err.Error())
		}
		s.state.Record(key, rows.runs, rows.calls)
		done()
	})
}
