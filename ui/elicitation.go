package ui

import (
	"context"
	"encoding/json"
	"net/url"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// elicitationOptions are what the window of questions works with. Answer, Open and
// Post are needed.
type elicitationOptions struct {
	// Answer answers a question. It is called off the UI goroutine and reports
	// whether the answer counted.
	Answer func(ctx context.Context, id string, a elicit.Answer) (counted bool, err error)
	// Open opens a page in the browser.
	Open func(page *url.URL) error
	// Post runs a function on the UI goroutine, later.
	Post func(func())
	// Clock tells the time. Nil: the system's.
	Clock clock
	// Zone is where the person is. Nil: the system's.
	Zone *time.Location
	// Quiet is called just before the window's first Show, to keep it from taking
	// the keyboard. Nil: nothing does.
	Quiet func(fyne.Window)
	// Closed is called on the UI goroutine when the window has gone. May be nil.
	Closed func()
}

// elicitationWindow puts what servers ask before a person, one question after the
// other. Closing it, and Escape, cancel; what is pressed in the first moment does
// not count, as it was meant for something else. A page is opened by a press
// alone. Its methods are for the UI goroutine. It owns the goroutines that give
// answers; Close ends them.
type elicitationWindow struct {
	opts   elicitationOptions
	win    fyne.Window
	ctx    context.Context // of the goroutines
	cancel context.CancelFunc
	work   sync.WaitGroup

	open     []elicit.Question // as last told
	answered map[string]bool   // our answers to what may still be listed
	question elicit.Question   // the one on screen; its ID is "" when there is none
	fields   []*answerField
	root     *fyne.Container
	fault    *widget.Label
	buttons  []*widget.Button
	armed    time.Time // when a press begins to count
	visible  bool
	quieted  bool
}

// newElicitationWindow returns the window. It is not shown before something is
// asked.
func newElicitationWindow(app fyne.App, opts elicitationOptions) *elicitationWindow {
	if opts.Clock == nil {
		opts.Clock = systemClock{}
	}
	if opts.Zone == nil {
		opts.Zone = time.Local
	}
	w := &elicitationWindow{opts: opts, win: app.NewWindow(model.QuestionTitle(0)), answered: map[string]bool{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.win.SetPadded(false)
	w.win.Resize(fyne.NewSize(defaultWidth, defaultHeight))
	w.win.SetCloseIntercept(w.onCancel)
	w.win.Canvas().SetOnTypedKey(func(key *fyne.KeyEvent) {
		if key.Name == fyne.KeyEscape {
			w.onCancel()
		}
	})
	return w
}

// Set takes what is asked now, in the order of arrival. The window comes up when
// there is something, and goes when there is nothing.
func (w *elicitationWindow) Set(open []elicit.Question) {
	listed := map[string]bool{}
	w.open = nil
	for _, q := range open {
		listed[q.ID] = true
		if !w.answered[q.ID] {
			w.open = append(w.open, q)
		}
	}
	for id := range w.answered {
		if !listed[id] {
			delete(w.answered, id)
		}
	}
	w.refresh()
}

// Visible reports whether the window is open.
func (w *elicitationWindow) Visible() bool { return w.visible }

// Close ends what the window does, without an answer to anything, and waits for
// its goroutines. It may be called twice.
func (w *elicitationWindow) Close() {
	w.cancel()
	w.work.Wait()
}

// refresh shows the question that is shown already, as long as it is open, else
// the first.
func (w *elicitationWindow) refresh() {
	if len(w.open) == 0 {
		w.hide()
		return
	}
	w.win.SetTitle(model.QuestionTitle(len(w.open)))
	for _, q := range w.open {
		if q.ID == w.question.ID {
			return
		}
	}
	w.present(w.open[0])
	if !w.visible {
		w.show()
	}
	w.armed = w.opts.Clock.Now().Add(model.ArmDelay) // after the window has come up, which takes time
}

func (w *elicitationWindow) show() {
	if !w.quieted && w.opts.Quiet != nil {
		w.opts.Quiet(w.win)
	}
	w.quieted, w.visible = true, true
	w.win.Show()
	w.win.Canvas().Unfocus()
}

func (w *elicitationWindow) hide() {
	w.question, w.fields = elicit.Question{}, nil
	if !w.visible {
		return
	}
	w.visible = false
	w.win.Hide()
	w.win.SetContent(container.NewWithoutLayout()) // what was typed does not stay
	if w.opts.Closed != nil {
		w.opts.Closed()
	}
}

// present lays a question out. Nothing has the keyboard.
func (w *elicitationWindow) present(q elicit.Question) {
	w.question, w.fields = q, nil
	w.fault = newNotice(widget.DangerImportance)
	page := container.NewVBox(part.Words(approvals.VisibleText(q.Message)), part.Gap(0.5))
	send := "Send"
	if q.URL != "" {
		page.Add(newPageAddress(q.URL))
		send = "Open in the browser"
	}
	for _, f := range w.form(q) {
		field := newAnswerField(f)
		w.fields = append(w.fields, field)
		page.Add(field.row)
	}
	head := container.NewVBox(part.Heading(model.QuestionHead(q)), part.Remark(model.QuestionCause(q, w.opts.Zone)))
	warning := part.Words(model.QuestionWarning(q))
	warning.Importance = widget.WarningImportance
	foot := container.NewVBox(warning, w.fault, w.newButtons(send))
	content := container.NewBorder(head, foot, nil, nil, scrolled(page))
	w.win.Canvas().Unfocus()
	w.root = part.Inset(2, content)
	w.win.SetContent(w.root)
	w.settle()
}

// settle puts everything in its place: lines that wrap know how high they are once
// they know how wide they are.
func (w *elicitationWindow) settle() {
	for range 2 {
		w.root.Refresh()
	}
}

// say says what belongs to no field.
func (w *elicitationWindow) say(words string) {
	tell(w.fault, words)
	w.settle()
}

// form is what the question asks for; it was read before, by the resident.
func (w *elicitationWindow) form(q elicit.Question) elicit.Form {
	if q.URL != "" {
		return nil
	}
	form, err := elicit.ParseForm(q.Schema)
	if err != nil {
		tell(w.fault, inWords(err))
	}
	return form
}

func (w *elicitationWindow) newButtons(send string) fyne.CanvasObject {
	cancel := widget.NewButton("Cancel", w.pressed(w.onCancel))
	decline := widget.NewButton("Decline", w.pressed(func() { w.answer(elicit.Answer{Action: elicit.Decline}) }))
	accept := widget.NewButton(send, w.pressed(w.onAccept))
	accept.Importance = widget.HighImportance
	w.buttons = []*widget.Button{cancel, decline, accept}
	return container.NewHBox(cancel, layout.NewSpacer(), decline, accept)
}

// pressed is what a button does, once a press counts.
func (w *elicitationWindow) pressed(act func()) func() {
	return func() {
		if !w.opts.Clock.Now().Before(w.armed) {
			act()
		}
	}
}

// onCancel leaves the question without an answer.
func (w *elicitationWindow) onCancel() { w.answer(elicit.Answer{Action: elicit.Cancel}) }

func (w *elicitationWindow) onAccept() {
	if w.question.URL != "" {
		w.visit()
		return
	}
	content := map[string]json.RawMessage{}
	faulty := false
	for _, field := range w.fields {
		value, err := field.value()
		if err != nil {
			field.mark(model.Sentence(err.Error()))
			faulty = true
			continue
		}
		field.mark("")
		if value != nil {
			content[field.name] = value
		}
	}
	if faulty {
		w.say("Some fields need another look; each says why.")
		return
	}
	raw, err := json.Marshal(content)
	if err != nil {
		w.say(inWords(err))
		return
	}
	w.answer(elicit.Answer{Action: elicit.Accept, Content: raw})
}

// visit opens the page, and says so to the server.
func (w *elicitationWindow) visit() {
	page, err := elicit.PageOf(w.question.URL)
	if err == nil {
		err = w.opts.Open(page)
	}
	if err != nil {
		w.say("The page was not opened: " + err.Error())
		return
	}
	w.answer(elicit.Answer{Action: elicit.Accept})
}

// answer gives an answer in the background. One that does not get there is said,
// and can be given again.
func (w *elicitationWindow) answer(a elicit.Answer) {
	id := w.question.ID
	if id == "" || w.answered[id] {
		return
	}
	w.enable(false)
	w.work.Go(func() {
		ctx, cancel := context.WithTimeout(w.ctx, answerTime)
		defer cancel()
		_, err := w.opts.Answer(ctx, id, a)
		w.opts.Post(func() { w.settled(id, err) })
	})
}

// settled takes in what became of an answer.
func (w *elicitationWindow) settled(id string, err error) {
	if w.ctx.Err() != nil || w.question.ID != id {
		return
	}
	w.enable(true)
	if err != nil {
		w.say(inWords(err))
		return
	}
	w.answered[id] = true
	w.Set(w.open)
}

func (w *elicitationWindow) enable(enabled bool) {
	for _, button := range w.buttons {
		setEnabled(button, enabled)
	}
}

// newPageAddress shows the whole of an address, its host marked.
func newPageAddress(address string) fyne.CanvasObject {
	page, err := model.PageOf(address)
	if err != nil {
		return part.Words(inWords(err))
	}
	plain := widget.RichTextStyle{Inline: true, TextStyle: fyne.TextStyle{Monospace: true}, ColorName: theme.ColorMuted}
	marked := widget.RichTextStyle{Inline: true, TextStyle: fyne.TextStyle{Monospace: true, Bold: true}}
	text := widget.NewRichText(
		&widget.TextSegment{Text: page.Before, Style: plain},
		&widget.TextSegment{Text: page.Host, Style: marked},
		&widget.TextSegment{Text: page.After, Style: plain},
	)
	text.Wrapping = fyne.TextWrapBreak
	return container.NewStack(part.NewSurface(theme.ColorRail, theme.ColorLine, theme.Step), part.Inset(0.5, text))
}
