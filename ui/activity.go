package ui

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/loop"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// activitySource is the resident's side of the activity screen.
type activitySource struct {
	// events reports opened once, then each event, until ctx ends or the
	// resident goes.
	events func(ctx context.Context, opened func(), each func(loop.Event)) error
	runs   func(ctx context.Context) ([]loop.Active, error)
	stop   func(ctx context.Context, run string) (bool, error)

	marathons marathonSource
}

// activityScreen shows what programs do and did, by sessions.
type activityScreen struct {
	ui     *UI
	source activitySource
	now    func() time.Time

	state  model.Activity
	search model.Search
	ctx    context.Context // of enter; nil before
	tick   *time.Timer     // runs while a time changes before the user

	unshown shownChange // what was applied and is not shown yet
	showing *time.Timer // until it is shown; nil: all is

	settling bool // a session is read: see settle

	bar  *activityBar
	list *sessionList
	view *sessionView
	note *widget.Label
	page *fyne.Container // the list and the session, or what stands for them

	marathons *marathons
}

func newActivityScreen(u *UI) screen {
	return newActivity(u, activitySource{
		events: func(ctx context.Context, opened func(), each func(loop.Event)) error {
			stream, err := u.client.Events(ctx, "")
			if err != nil {
				return err
			}
			defer stream.Close()
			opened()
			for {
				e, err := stream.Next()
				if err != nil {
					return err
				}
				each(e)
			}
		},
		runs: u.client.Runs,
		stop: u.client.StopRun, marathons: u.marathonSource(),
	}, time.Now)
}

func newActivity(u *UI, source activitySource, now func() time.Time) *activityScreen {
	return &activityScreen{ui: u, source: source, now: now}
}

func (s *activityScreen) content() fyne.CanvasObject {
	s.bar = newActivityBar(s)
	s.list = newSessionList(s)
	s.view = newSessionView(s)
	s.note = part.Muted("")
	s.note.Hide()
	s.page = container.NewStack()
	s.marathons = newMarathons(s.ui, s.source.marathons, s.now)
	return s.marathons.over(container.NewBorder(container.NewVBox(s.bar.head, s.bar.filters, s.note, s.marathons.strip), nil, nil, nil, s.page))
}

// enter follows the runs until ctx ends. What was missed while the screen was
// away comes from the resident's list and the journal.
func (s *activityScreen) enter(ctx context.Context) {
	s.ctx = ctx
	s.unshown, s.showing, s.settling = shownChange{}, nil, false
	context.AfterFunc(ctx, func() { s.ui.post(s.rest) })
	s.showState()
	s.ui.work.Go(func() {
		err := s.source.events(ctx, func() { s.post(ctx, s.sync) }, func(e loop.Event) {
			if e.Kind == loop.Text && e.Lost == 0 {
				return // there are many, and nothing here shows them
			}
			s.post(ctx, func() { s.apply(e) })
		})
		s.post(ctx, func() { s.tell("Live activity has stopped: " + err.Error()) })
	})
	s.bar.load()
	s.reload()
	s.marathons.enter(ctx)
}

// post runs f on the UI goroutine while the screen is before the user.
func (s *activityScreen) post(ctx context.Context, f func()) {
	s.ui.postWhile(ctx, "showing activity", f)
}

// shownChange is what several events have changed, to be shown at once.
type shownChange struct {
	list    bool // something began or ended: the list is another
	session bool // the session that is shown has changed,
	whole   bool // and all that is said of it,
	plan    bool // and its plan,
	calls   map[string]bool
}

// add takes in what one event has changed; shown is the key of the session that is
// shown.
func (c *shownChange) add(one model.Change, shown string) {
	c.list = c.list || one.List
	if one.Session != shown {
		return
	}
	c.session, c.whole, c.plan = true, c.whole || one.List, c.plan || one.Plan
	if one.Call == "" {
		return
	}
	if c.calls == nil {
		c.calls = map[string]bool{}
	}
	c.calls[one.Call] = true
}

// showEvery is how long changes gather before they are shown: many events of a
// busy run cost no more than one.
const showEvery = 40 * time.Millisecond

// apply takes in an event. What it changed is shown a moment later.
func (s *activityScreen) apply(e loop.Event) {
	c := s.state.Apply(e)
	if c.Stale {
		s.sync()
	}
	s.unshown.add(c, s.view.key)
	if s.showing == nil {
		ctx := s.ctx
		s.showing = time.AfterFunc(showEvery, func() { s.post(ctx, s.showChanges) })
	}
}

// showChanges shows what was applied since the last time.
func (s *activityScreen) showChanges() {
	c := s.unshown
	s.unshown, s.showing = shownChange{}, nil
	if c.list {
		if s.state.Busy() && !s.search.Empty() {
			s.reload() // what began may be among what is searched for
		}
		s.showState()
	} else {
		s.list.list.Refresh()
	}
	s.view.changed(c)
	s.startTick()
}

// sync sets right what is shown by the resident's list of active runs.
func (s *activityScreen) sync() {
	asked := s.now()
	background(s.ctx, s.ui, s.source.runs, func(active []loop.Active, err error) {
		if err != nil {
			s.tell("The active runs cannot be listed: " + err.Error())
			return
		}
		s.state.Sync(active, asked)
		s.showState()
		s.view.reload()
		s.startTick()
	})
}

// settle reads those sessions that the list would not show right otherwise, one
// after the other.
func (s *activityScreen) settle() {
	owed := s.state.Owed()
	if s.settling || owed == nil {
		return
	}
	s.settling = true
	s.readSession(s.ctx, owed, func() {
		s.settling = false
		s.showState()
		if owed.Key == s.view.key {
			s.view.show()
		}
		s.startTick()
	})
}

// reload reads the list of past sessions from its beginning.
func (s *activityScreen) reload() {
	s.state.ResetPast(!s.search.Empty())
	s.list.restart()
}

// showState shows the list, or what stands for an empty one.
func (s *activityScreen) showState() {
	s.list.rebuild()
	s.settle()
	var shown fyne.CanvasObject = s.list.split
	switch {
	case len(s.list.rows) > 0:
	case s.list.loading:
		shown = layout.NewSpacer()
	case s.search.Empty():
		shown = part.Empty(theme.Icon("activity", theme.ColorMuted), "Nothing has run yet",
			"As soon as a program asks a model through Pointsman, or has a tool called, its session stands here with each turn, its plan and every tool call. Connect shows the address and the key to give to it.",
			part.Row(s.ui.firstSteps("First steps"), widget.NewButton("Connect a program", func() { s.ui.main.turnTo(screenConnect) })))
	default:
		shown = part.Empty(theme.Icon("search", theme.ColorMuted), "Nothing found",
			"No session has all that is searched for: the words, the server, the tool, the outcome and the days.",
			widget.NewButton("Show everything", s.bar.clear))
	}
	if len(s.page.Objects) != 1 || s.page.Objects[0] != shown {
		s.page.Objects = []fyne.CanvasObject{shown}
		s.page.Refresh()
	}
}

// tell shows a line above the list; "" takes it away.
func (s *activityScreen) tell(line string) { tell(s.note, line) }

// startTick begins to count the elapsed times on while something runs.
func (s *activityScreen) startTick() {
	if s.tick != nil || !s.state.Busy() || s.ctx.Err() != nil {
		return
	}
	ctx := s.ctx
	s.tick = time.AfterFunc(time.Second, func() { s.post(ctx, s.onTick) })
}

func (s *activityScreen) onTick() {
	s.tick = nil
	s.list.refreshActive()
	s.view.showElapsed()
	s.view.calm()
	s.startTick()
}

// rest ends what moves: the screen is not before the user any more.
func (s *activityScreen) rest() {
	if s.ctx.Err() == nil {
		return // it is again
	}
	if s.tick != nil {
		s.tick.Stop()
		s.tick = nil
	}
	s.view.calm()
}
