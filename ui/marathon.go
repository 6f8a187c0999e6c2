package ui

import (
	"context"
	"errors"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/marathon"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// marathonSource is the resident's side of the debug marathons.
type marathonSource struct {
	// changes calls changed now and after every change of what there is to see,
	// until ctx ends or the resident goes. If nil, there are no marathons to show.
	changes func(ctx context.Context, changed func()) error
	list    func(ctx context.Context) ([]marathon.Job, error)
	job     func(ctx context.Context, id string) (*marathon.Job, error)
	cancel  func(ctx context.Context, id string) (*marathon.Job, error)
}

func (u *UI) marathonSource() marathonSource {
	return marathonSource{changes: u.client.Changes, list: u.client.Marathons, job: u.client.Marathon, cancel: u.client.CancelMarathon}
}

// marathons are the debug marathons on the activity screen: a line that tells of
// the one that is done, where there are any, and a page in the screen's place.
type marathons struct {
	ui     *UI
	source marathonSource
	now    func() time.Time
	ctx    context.Context // of enter; nil before
	jobs   []marathon.Job  // the newest first, without their answers

	whole *fyne.Container // the screen, or the page
	front fyne.CanvasObject
	strip *fyne.Container
	icon  *widget.Icon
	title *widget.Label
	line  *widget.Label
	bar   *widget.ProgressBar
	track *fyne.Container // bar
	page  *marathonPage
}

func newMarathons(u *UI, source marathonSource, now func() time.Time) *marathons {
	m := &marathons{ui: u, source: source, now: now, icon: widget.NewIcon(nil), title: part.Muted(""), line: part.Muted(""), bar: newThinBar()}
	m.title.Importance, m.title.TextStyle.Bold = widget.MediumImportance, true
	m.track = container.New(thin{}, m.bar)
	open := widget.NewButton("Open", m.open)
	lines := container.NewVBox(part.Tight(m.title), part.Tight(m.line))
	m.strip = part.Card(container.NewVBox(
		container.NewBorder(nil, nil, part.Inset(0.5, part.Sign(m.icon, 18)), container.NewCenter(open), lines),
		m.track))
	m.strip.Hide()
	m.page = newMarathonPage(m)
	return m
}

// newThinBar is a progress bar that is a line.
func newThinBar() *widget.ProgressBar {
	bar := widget.NewProgressBar()
	bar.TextFormatter = func() string { return "" }
	return bar
}

// over returns the screen with the page to come over it.
func (m *marathons) over(screen fyne.CanvasObject) fyne.CanvasObject {
	m.front = screen
	m.whole = container.NewStack(screen)
	return m.whole
}

// marathonEvery is how often the marathons are looked at at most: much of what
// changes in a busy gateway is not theirs.
const marathonEvery = 500 * time.Millisecond

// enter follows the marathons until ctx ends.
func (m *marathons) enter(ctx context.Context) {
	m.ctx = ctx
	m.page.mark = "" // what was being read when the screen was left did not come
	if m.source.changes == nil {
		return
	}
	m.ui.work.Go(func() {
		_ = m.source.changes(ctx, func() { // that the resident goes ends the windows: see obey
			jobs, err := m.source.list(ctx)
			m.ui.postWhile(ctx, "showing the marathons", func() { m.set(jobs, err) })
			select {
			case <-time.After(marathonEvery):
			case <-ctx.Done():
			}
		})
	})
}

// set shows the marathons as they are now.
func (m *marathons) set(jobs []marathon.Job, err error) {
	if err != nil {
		m.fail(err)
		return
	}
	m.jobs = jobs
	current := model.CurrentMarathon(jobs)
	if current == nil {
		m.strip.Hide()
		m.page.set()
		return
	}
	setIcon(m.icon, marathonIcon(current.Status))
	setText(m.title, "Marathon: "+model.MarathonTitle(current))
	line := model.MarathonLine(current)
	if now := model.MarathonNow(current); now != "" {
		line += " · " + now
	}
	setText(m.line, line)
	m.bar.SetValue(model.MarathonShare(current))
	setShown(m.track, current.Finished == nil)
	m.strip.Show()
	m.page.set()
}

// fail says, on the line and on the page, that the marathons cannot be listed.
func (m *marathons) fail(err error) {
	const what = "The marathons cannot be listed"
	m.page.unread(what, err)
	setIcon(m.icon, toneIcon(model.Bad))
	setText(m.title, what)
	setText(m.line, inWords(err))
	m.track.Hide()
	m.strip.Show()
}

// marathonIcon is the sign of a status.
func marathonIcon(status marathon.Status) fyne.Resource {
	_, tone := model.MarathonState(status)
	if status == marathon.Queued {
		return theme.Icon("pending", toneColor(tone))
	}
	return toneIcon(tone)
}

// open shows the page, with the marathon that the line tells of.
func (m *marathons) open() {
	if current := model.CurrentMarathon(m.jobs); current != nil {
		m.page.choose(current.ID)
	}
	m.turn(m.page.root)
}

func (m *marathons) close() { m.turn(m.front) }

func (m *marathons) turn(to fyne.CanvasObject) {
	m.whole.Objects = []fyne.CanvasObject{to}
	m.whole.Refresh()
}

// find returns a marathon of the list; nil when it is not there.
func (m *marathons) find(id string) *marathon.Job {
	for i := range m.jobs {
		if m.jobs[i].ID == id {
			return &m.jobs[i]
		}
	}
	return nil
}

// errNoMarathon is why nothing is shown of a marathon that has gone.
var errNoMarathon = errors.New("the record does not have it any more")
