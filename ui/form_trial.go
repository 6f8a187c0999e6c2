package ui

import (
	"context"
	"errors"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// trialPatience bounds how long a server or a provider is tried out: longer than
// any of them takes unless its entry gives it more.
const trialPatience = 3 * time.Minute

// formTrial tries something out, and shows how that went.
type formTrial struct {
	ui     *UI
	object *fyne.Container
	stop   context.CancelFunc // nil while nothing is tried
	tried  context.Context    // of what is tried
}

func newFormTrial(u *UI) *formTrial {
	t := &formTrial{ui: u, object: container.NewStack()}
	t.object.Hide()
	return t
}

// try does work and shows what it comes to. It ends when it is cancelled, and
// with ctx: when the user turns to another screen.
func try[T any](ctx context.Context, t *formTrial, doing string, work func(context.Context) (T, error), show func(T, error) trialResult) {
	t.cancel()
	ctx, stop := context.WithTimeout(ctx, trialPatience)
	t.tried, t.stop = ctx, stop
	running := widget.NewActivity()
	running.Start()
	halt := widget.NewButton("Cancel", func() { running.Stop(); t.cancel() })
	t.show(container.NewHBox(running, widget.NewLabel(doing), layout.NewSpacer(), halt))
	background(t.ui.ctx, t.ui, func(context.Context) (T, error) { return work(ctx) }, func(v T, err error) {
		running.Stop()
		if t.tried != ctx {
			return // it was cancelled, or another one runs
		}
		left := errors.Is(ctx.Err(), context.Canceled)
		t.cancel()
		if !left {
			t.finish(show(v, err))
		}
	})
}

// cancel ends what is tried, and shows nothing of it any more.
func (t *formTrial) cancel() {
	if t.stop != nil {
		t.stop()
		t.stop, t.tried = nil, nil
	}
	t.object.Hide()
}

func (t *formTrial) show(content fyne.CanvasObject) {
	t.object.Objects = []fyne.CanvasObject{part.Card(content)}
	t.object.Show()
	t.object.Refresh()
}

// trialResult is what something that was tried out came to.
type trialResult struct {
	word, icon string
	color      fyne.ThemeColorName
	details    []fyne.CanvasObject
}

// notTried is the result of what could not even be tried.
func notTried(err error) trialResult {
	return trialResult{"Not tried", "failed", theme.ColorDestructive, []fyne.CanvasObject{part.Words(inWords(err))}}
}

func (t *formTrial) finish(r trialResult) {
	closing := newIconButton(fynetheme.CancelIcon(), t.object.Hide)
	head := newLook()
	head.set(r.word, theme.Icon(r.icon, r.color), r.color)
	t.show(container.NewBorder(container.NewBorder(nil, nil, head.object, closing), nil, nil, nil, container.NewVBox(r.details...)))
}
