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
}

// activityScreen shows what the runs do and did.
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

	bar  *activityBar
	list *runList
	run  *runView
	note *widget.Label
	page *fyne.Container // the list and the run, or what stands for them
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
		stop: u.client.StopRun,
	}, time.Now)
}

func newActivity(u *UI, source activitySource, now func() time.Time) *activityScreen {
	return &activityScreen{ui: u, source: source, now: now}
}

func (s *activityScreen) content() fyne.CanvasObject {
	s.bar = newActivityBar(s)
	s.list = newRunList(s)
	s.run = newRunView(s)
	s.note = part.Muted("")
	s.note.Hide()
	s.page = container.NewStack()
	return container.NewBorder(container.NewVBox(s.bar.head, s.bar.filters, s.note), nil, nil, nil, s.page)
}

// enter follows the runs until ctx ends. What was missed while the screen was
// away comes from the resident's list and the journal.
func (s *activityScreen) enter(ctx context.Context) {
	s.ctx = ctx
	s.unshown, s.showing = shownChange{}, nil
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
}

// post runs f on the UI goroutine while the screen is before the user.
func (s *activityScreen) post(ctx context.Context, f func()) {
	s.ui.postWhile(ctx, "showing activity", f)
}

// shownChange is what several events have changed, to be shown at once.
type shownChange struct {
	list bool         // a run began or ended
	run  model.Change // of the run that is shown
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
	s.unshown.list = s.unshown.list || c.List
	if c.Run == s.run.id {
		s.unshown.run = merged(s.unshown.run, c)
	}
	if s.showing == nil {
		ctx := s.ctx
		s.showing = time.AfterFunc(showEvery, func() { s.post(ctx, s.showChanges) })
	}
}

// merged is what two changes of one run have changed. Of several calls that is
// the list of calls.
func merged(a, b model.Change) model.Change {
	if a.Run != b.Run {
		return b
	}
	b.Added = b.Added || a.Added || a.Call >= 0 && b.Call >= 0 && a.Call != b.Call
	b.Plan, b.List = b.Plan || a.Plan, b.List || a.List
	if b.Call < 0 {
		b.Call = a.Call
	}
	return b
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
	s.run.changed(c.run)
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
		s.run.reload()
		s.startTick()
	})
}

// reload reads the list of past runs from its beginning.
func (s *activityScreen) reload() {
	s.state.ResetPast(!s.search.Empty())
	s.list.restart()
}

// showState shows the list, or what stands for an empty one.
func (s *activityScreen) showState() {
	s.list.rebuild()
	var shown fyne.CanvasObject = s.list.split
	switch {
	case len(s.list.rows) > 0:
	case s.list.loading:
		shown = layout.NewSpacer()
	case s.search.Empty():
		shown = part.Empty(theme.Icon("activity", theme.ColorMuted), "Nothing has run yet",
			"As soon as a program asks a model through Pointsman, its run stands here with its plan and every tool call. Connect shows the address and the key to give to it.",
			part.Row(s.ui.firstSteps("First steps"), widget.NewButton("Connect a program", func() { s.ui.main.turnTo(screenConnect) })))
	default:
		shown = part.Empty(theme.Icon("search", theme.ColorMuted), "Nothing found",
			"No run has all that is searched for: the words, the server, the tool, the outcome and the days.",
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
	s.run.showElapsed()
	s.run.calm()
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
	s.run.calm()
}
