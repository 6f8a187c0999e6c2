package ui

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/gateway/tools"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// whyMissing answers why a tool that was searched for is not in a list.
type whyMissing struct {
	page   *serverPage
	object *fyne.Container
	ask    *widget.Button
	answer *widget.Label
	scroll *container.Scroll
	name   string
}

func newWhyMissing(p *serverPage) *whyMissing {
	w := &whyMissing{page: p, answer: newNotice(widget.MediumImportance)}
	w.ask = widget.NewButton("", w.onAsk)
	w.scroll = container.NewVScroll(w.answer)
	w.scroll.SetMinSize(fyne.NewSize(0, 30*theme.Step))
	w.object = container.NewVBox(container.NewCenter(w.ask), w.scroll)
	w.object.Hide()
	return w
}

// offer offers to answer for a name; "" for none.
func (w *whyMissing) offer(name string) {
	if name = strings.TrimSpace(name); name == w.name {
		return
	}
	w.name = name
	w.say("")
	w.ask.SetText("Why is “" + model.OneLine(name) + "” missing?")
	w.ask.Show()
	w.object.Hidden = name == ""
	w.object.Refresh()
}

func (w *whyMissing) onAsk() {
	name := w.name
	s := w.page.screen
	w.ask.Disable()
	background(s.ctx, s.ui, func(ctx context.Context) ([]tools.Why, error) { return s.ui.client.WhyTool(ctx, name) }, func(list []tools.Why, err error) {
		w.ask.Enable()
		switch {
		case name != w.name: // another one is asked for by now
		case err != nil:
			w.say(inWords(err))
		default:
			w.say(approvals.VisibleText(model.WhyWords(list)))
		}
	})
}

func (w *whyMissing) say(words string) {
	tell(w.answer, words)
	if w.scroll.ScrollToTop(); words == "" {
		w.scroll.Hide()
		return
	}
	w.scroll.Show()
}
