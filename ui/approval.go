package ui

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"pointsman/approvals"
	"pointsman/ui/model"
)

// approvalOptions are what the approval window works with. Answer, Ending and
// Post are needed.
type approvalOptions struct {
	// Answer gives a decision. It is called off the UI goroutine and reports
	// whether the decision was the one that counted.
	Answer func(ctx context.Context, id string, d approvals.Decision) (counted bool, err error)
	// Ending says why a request does not wait any more; "" when that is not known.
	// It is called off the UI goroutine.
	Ending func(ctx context.Context, id string) (string, error)
	// Post runs a function on the UI goroutine, later.
	Post func(func())
	// Clock tells the time. Nil: the system's.
	Clock clock
	// Quiet is called just before the window's first Show, to keep it from taking
	// the keyboard. Nil: nothing does.
	Quiet func(fyne.Window)
	// Closed is called on the UI goroutine when the window has gone. May be nil.
	Closed func()
}

// clock is the time, and calls at a time.
type clock interface {
	Now() time.Time
	// AfterFunc calls f, on a goroutine of its own, unless stop is called before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }
func (systemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

const (
	// answerTime is how long giving an answer may take.
	answerTime = 10 * time.Second
	// lingerTime is how long the window stays to say that an answer did not count
	// when nothing else waits.
	lingerTime = 5 * time.Second
	// frame is the time between two pictures of the filling ring.
	frame = 33 * time.Millisecond
)

// approvalWindow puts the calls that wait before a person, one after the other.
// It fails closed: closing it and Escape deny, and nothing but a deliberate press
// or the two digits approves; model.Guard has the rules. Its methods are for the
// UI goroutine. It owns the goroutines that read files and give answers; Close
// ends them.
type approvalWindow struct {
	opts   approvalOptions
	win    fyne.Window
	parts  *approvalParts
	ctx    context.Context // of the goroutines
	cancel context.CancelFunc
	work   sync.WaitGroup

	queue    model.ApprovalQueue
	guard    *model.Guard
	pending  []approvals.Request // as last told
	answered map[string]bool     // our answers to what may still be listed; true: on its way
	visible  bool
	quieted  bool
	stop     func() bool // of the timer
	linger   time.Time   // the window stays until then though nothing waits

	request  approvals.Request // the one on screen; its ID is "" when there is none
	choice   model.ScopeChoice
	edit     approvalEdit
	unload   context.CancelFunc // ends the reading below
	change   []model.TextLine   // what the call would change, once it was read
	folders  []string           // that a rule could be bound to, once they were found
	notice   string             // what became of another request
	deciding bool               // an answer to the one on screen is on its way
}

// newApprovalWindow returns the window. It is not shown before something waits.
func newApprovalWindow(app fyne.App, opts approvalOptions) *approvalWindow {
	if opts.Clock == nil {
		opts.Clock = systemClock{}
	}
	w := &approvalWindow{
		opts: opts, win: app.NewWindow(model.ApprovalTitle(0)),
		guard: model.NewGuard(opts.Clock.Now), answered: map[string]bool{},
		stop: func() bool { return false }, unload: func() {},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.parts = newApprovalParts(w)
	w.win.SetContent(w.parts.root)
	w.win.SetPadded(false)
	size := fyne.NewSize(defaultWidth, defaultHeight)
	w.win.Resize(size)
	w.parts.root.Resize(size) // see show
	w.win.SetCloseIntercept(w.onClose)
	w.win.Canvas().SetOnTypedRune(w.onRune)
	w.win.Canvas().SetOnTypedKey(w.onKey)
	return w
}

// Set takes what waits now, in the order of arrival. The window comes up when
// there is something, and goes when there is nothing.
func (w *approvalWindow) Set(pending []approvals.Request) {
	w.pending = pending
	for id, onItsWay := range w.answered {
		if !onItsWay && !slices.ContainsFunc(pending, func(req approvals.Request) bool { return req.ID == id }) {
			delete(w.answered, id)
		}
	}
	gone, left := w.queue.Set(w.unanswered())
	if left {
		w.tellWhy(gone)
	}
	w.refresh()
}

// unanswered is what waits and got no answer of ours yet.
func (w *approvalWindow) unanswered() []approvals.Request {
	return slices.DeleteFunc(slices.Clone(w.pending), func(req approvals.Request) bool {
		_, ok := w.answered[req.ID]
		return ok
	})
}

// Raise brings the window before the person who asked for it. It does nothing
// when nothing waits.
func (w *approvalWindow) Raise() {
	if w.visible {
		w.win.Show()
		w.win.RequestFocus()
	}
}

// Visible reports whether the window is open.
func (w *approvalWindow) Visible() bool { return w.visible }

// Close ends what the window does, without an answer to anything, and waits for
// its goroutines. What it could not answer is denied by its deadline. The window
// itself goes with the app, which may have ended: there is no toolkit then that
// could close it. It may be called twice.
func (w *approvalWindow) Close() {
	if w.ctx.Err() != nil {
		return
	}
	w.guard.Hide()
	w.stop()
	w.cancel()
	w.work.Wait()
}

// refresh shows what there is to show.
func (w *approvalWindow) refresh() {
	req, ok := w.queue.Shown()
	if !ok && !w.deciding && !w.opts.Clock.Now().Before(w.linger) {
		w.hide()
		return
	}
	another := ok && req.ID != w.request.ID
	if another {
		w.present(req)
	}
	if !w.visible {
		w.show()
	}
	if another { // after the window has come up, which takes time
		w.guard.Show(model.Held(req.Class))
	}
	w.win.SetTitle(model.ApprovalTitle(len(w.queue.Waiting())))
	w.parts.update(w)
	w.schedule()
}

// present puts another request on the screen: nothing is chosen, nothing has the
// keyboard, and it takes a while until it can be approved.
func (w *approvalWindow) present(req approvals.Request) {
	w.request, w.choice, w.edit, w.deciding = req, model.ScopeChoice{}, approvalEdit{}, false
	w.guard.Hide()
	w.win.Canvas().Unfocus()
	w.dismissMenus()
	w.parts.present(w)
	w.load()
}

// dismissMenus takes away what was opened for another request.
func (w *approvalWindow) dismissMenus() {
	overlays := w.win.Canvas().Overlays()
	for top := overlays.Top(); top != nil; top = overlays.Top() {
		overlays.Remove(top)
	}
}

// show brings the window up. All that is in it has its place by then: lines that
// wrap ask for too much height until they know their width, and a window that has
// grown after it was put at the edge of the screen has its buttons beyond it.
func (w *approvalWindow) show() {
	w.parts.update(w)
	if !w.quieted && w.opts.Quiet != nil {
		w.opts.Quiet(w.win)
	}
	w.quieted, w.visible = true, true
	w.win.Show()
	w.win.Canvas().Unfocus()
}

func (w *approvalWindow) hide() {
	w.guard.Hide()
	w.stop()
	w.unload()
	w.request, w.notice, w.deciding, w.linger = approvals.Request{}, "", false, time.Time{}
	if !w.visible {
		return
	}
	w.visible = false
	w.win.Hide()
	w.parts.text.SetLines(nil)
	if w.opts.Closed != nil {
		w.opts.Closed()
	}
}

// schedule asks for the next look at the clock. There is none while the window is
// hidden.
func (w *approvalWindow) schedule() {
	w.stop()
	if !w.visible {
		return
	}
	next := time.Second
	if wait := w.guard.Wait(); wait > 0 {
		next = min(next, wait)
	}
	if w.guard.Holding() > 0 || w.parts.approve.down {
		next = frame
	}
	w.stop = w.opts.Clock.AfterFunc(next, func() { w.opts.Post(w.tick) })
}

// tick looks at the clock.
func (w *approvalWindow) tick() {
	if !w.visible {
		return
	}
	if w.guard.Held() {
		w.approve()
		return
	}
	w.refresh()
}

// waiting reports whether the request on the screen can still be answered.
func (w *approvalWindow) waiting() bool {
	req, ok := w.queue.Shown()
	return ok && req.ID == w.request.ID
}

// current are the arguments as they would run.
func (w *approvalWindow) current() json.RawMessage {
	if w.edit.args != nil {
		return w.edit.args
	}
	return w.request.Arguments
}

// load reads, in the background, what the call is about: the file it would
// change, and the folders a rule could be bound to.
func (w *approvalWindow) load() {
	w.unload()
	w.change, w.folders = nil, nil
	ctx, cancel := context.WithCancel(w.ctx)
	w.unload = cancel
	req, args := w.request, w.current()
	w.work.Go(func() {
		change := model.ChangeLines(ctx, req, args)
		folders := approvals.Folders(req, args)
		w.opts.Post(func() {
			if ctx.Err() == nil {
				w.change, w.folders = change, folders
				w.parts.write(w)
			}
		})
	})
}
