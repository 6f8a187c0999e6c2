package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// bench is a main window in hand. What is posted is run by until, on the test's
// goroutine.
type bench struct {
	t     testing.TB
	ui    *UI
	posts chan func()
}

func newBench(t testing.TB) bench { return bench{t: t, posts: make(chan func(), 1<<16)} }

func (b *bench) post(f func()) { b.posts <- f }

// until runs what is posted until it is as wanted.
func (b *bench) until(what string, wanted func() bool) {
	b.t.Helper()
	deadline := time.After(20 * time.Second)
	for !wanted() {
		select {
		case f := <-b.posts:
			f()
		case <-deadline:
			b.t.Fatalf("waited in vain until %s; in sight is:\n%s", what, b.words())
		}
	}
}

// drain runs what is posted by now.
func (b *bench) drain() {
	for len(b.posts) > 0 {
		(<-b.posts)()
	}
}

// each calls see with every object in sight, dialogs first.
func (b *bench) each(see func(fyne.CanvasObject) bool) bool {
	if b.ui.main.window == nil {
		return false
	}
	canvas := b.ui.main.window.Canvas()
	for _, over := range canvas.Overlays().List() {
		if walk(over, see) {
			return true
		}
	}
	return walk(canvas.Content(), see)
}

// walk calls see with an object and what is in it until it says that that was
// the one.
func walk(o fyne.CanvasObject, see func(fyne.CanvasObject) bool) bool {
	if o == nil || !o.Visible() {
		return false
	}
	if see(o) {
		return true
	}
	var inner []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		inner = o.Objects
	case *widget.Entry, *widget.SelectEntry: // what they are made of is theirs
	case fyne.Widget:
		inner = test.WidgetRenderer(o).Objects()
	}
	for _, object := range inner {
		if walk(object, see) {
			return true
		}
	}
	return false
}

// button is the button in sight with that text.
func (b *bench) button(text string) *widget.Button {
	b.t.Helper()
	found := b.buttons(text)
	if len(found) == 0 {
		b.t.Fatalf("there is no button %q; in sight is:\n%s", text, b.words())
	}
	return found[0]
}

func (b *bench) tap(text string) {
	b.t.Helper()
	button := b.button(text)
	if button.Disabled() {
		b.t.Fatalf("the button %q is disabled", text)
	}
	test.Tap(button)
}

// buttons returns the buttons in sight with a text, from the top.
func (b *bench) buttons(text string) []*widget.Button {
	var found []*widget.Button
	b.each(func(o fyne.CanvasObject) bool {
		if button, ok := o.(*widget.Button); ok && button.Text == text {
			found = append(found, button)
		}
		return false
	})
	return found
}

// words are the texts in sight, one per line.
func (b *bench) words() string {
	var words strings.Builder
	b.each(func(o fyne.CanvasObject) bool { writeWords(&words, o); return false })
	return words.String()
}

// text is all that is in sight of an object, one text per line.
func text(o fyne.CanvasObject) string {
	var words strings.Builder
	walk(o, func(o fyne.CanvasObject) bool { writeWords(&words, o); return false })
	return words.String()
}

func writeWords(words *strings.Builder, o fyne.CanvasObject) {
	switch o := o.(type) {
	case *widget.Label:
		fmt.Fprintln(words, o.Text)
	case *widget.RichText:
		fmt.Fprintln(words, o.String())
	case *widget.Button:
		fmt.Fprintln(words, "["+o.Text+"]")
	case *widget.Entry:
		if !o.Password {
			fmt.Fprintln(words, o.Text)
		}
	}
}

// says reports whether a text is in sight.
func (b *bench) says(text string) bool { return strings.Contains(b.words(), text) }

// sees waits until a text is in sight.
func (b *bench) sees(text string) {
	b.t.Helper()
	b.until("the screen says "+text, func() bool { return b.says(text) })
}

// want checks that words are in what is shown.
func want(t *testing.T, shown string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(shown, w) {
			t.Errorf("%q is not in what is shown:\n%s", w, shown)
		}
	}
}
