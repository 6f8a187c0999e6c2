package ui

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/elicit"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// questionBench is a window of questions with a clock, a browser and a resident in
// hand.
type questionBench struct {
	t      *testing.T
	clock  *fakeClock
	w      *elicitationWindow
	opened []string
	fails  error // of the browser and of the resident

	mu    sync.Mutex // guards the fields below
	posts []func()
	given map[string]elicit.Answer
}

func newQuestionBench(t *testing.T, choice theme.Choice) *questionBench {
	app := test.NewTempApp(t)
	app.Settings().SetTheme(theme.New(choice))
	b := &questionBench{t: t, given: map[string]elicit.Answer{}, clock: &fakeClock{now: time.Date(2126, 3, 4, 15, 0, 0, 0, time.UTC)}}
	b.w = newElicitationWindow(app, elicitationOptions{
		Answer: func(_ context.Context, id string, a elicit.Answer) (bool, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.fails == nil {
				b.given[id] = a
			}
			return true, b.fails
		},
		Open: func(page *url.URL) error { b.opened = append(b.opened, page.String()); return b.fails },
		Post: func(f func()) { b.mu.Lock(); defer b.mu.Unlock(); b.posts = append(b.posts, f) },
		Zone: time.UTC, Clock: b.clock,
	})
	t.Cleanup(b.w.Close)
	return b
}

// settle lets what runs in the background end, and does what it posted.
func (b *questionBench) settle() {
	b.w.work.Wait()
	b.mu.Lock()
	posts := b.posts
	b.posts = nil
	b.mu.Unlock()
	for _, f := range posts {
		f()
	}
}

// set shows questions, and lets the moment pass in which presses do not count.
func (b *questionBench) set(questions ...elicit.Question) {
	b.w.Set(questions)
	b.clock.now = b.clock.now.Add(time.Second)
}

// press presses the button of that name.
func (b *questionBench) press(name string) {
	b.t.Helper()
	for _, button := range b.w.buttons {
		if button.Text == name {
			test.Tap(button)
			b.settle()
			return
		}
	}
	b.t.Fatalf("there is no button %q", name)
}

// entry is the input of a field of text.
func (b *questionBench) entry(field int) *widget.Entry {
	column := b.w.fields[field].row.Objects[0].(*fyne.Container)
	return column.Objects[0].(*widget.Entry)
}

func formQuestion(id string) elicit.Question {
	return elicit.Question{
		ID: id, Server: "booking", Message: "Where shall the tickets go?", Tools: []string{"book_seats"}, Client: "Copilot 1.2",
		Deadline: time.Date(2126, 3, 4, 15, 5, 0, 0, time.UTC),
		Schema: json.RawMessage(`{"type":"object","required":["name","seat"],"properties":{
			"name":{"type":"string","title":"Your name","description":"As on the ticket.","minLength":2,"maxLength":40},
			"mail":{"type":"string","title":"E-mail","format":"email"},
			"count":{"type":"integer","title":"How many","minimum":1,"maximum":8,"default":2},
			"seat":{"type":"string","title":"Seat","oneOf":[{"const":"w","title":"Window"},{"const":"a","title":"Aisle"}],"default":"w"},
			"extras":{"type":"array","title":"Extras","items":{"type":"string","enum":["bicycle","meal"]},"default":["meal"]},
			"sure":{"type":"boolean","title":"Refundable","default":true}}}`),
	}
}

func pageQuestion(address string) elicit.Question {
	return elicit.Question{ID: "page", Server: "booking", Message: "Sign in to go on.", URL: address, Deadline: time.Date(2126, 3, 4, 15, 5, 0, 0, time.UTC)}
}

func TestFormIsSent(t *testing.T) {
	b := newQuestionBench(t, theme.Light)
	b.set(formQuestion("q"))
	b.press("Send")
	if len(b.given) != 0 || b.w.fields[0].fault.Text == "" || !b.w.fault.Visible() {
		t.Fatalf("a required field is empty: answered %v, marked %q", b.given, b.w.fields[0].fault.Text)
	}
	test.Type(b.entry(0), "Ada")
	if b.w.fields[0].fault.Text != "" {
		t.Error("a field that has changed is still marked")
	}
	b.entry(2).SetText("9")
	b.press("Send")
	if got := b.w.fields[2].fault.Text; len(b.given) != 0 || !strings.Contains(got, "at most 8") {
		t.Fatalf("too many: answered %v, marked %q", b.given, got)
	}
	b.entry(2).SetText("3")
	b.press("Send")
	want := `{"count":3,"extras":["meal"],"name":"Ada","seat":"w","sure":true}`
	if a := b.given["q"]; a.Action != elicit.Accept || string(a.Content) != want {
		t.Errorf("answered %s with %s, want %s", a.Action, a.Content, want)
	}
	if b.w.Visible() {
		t.Error("the window is still there")
	}
}

func TestQuestionIsAnsweredWithoutAForm(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(b *questionBench)
		want elicit.Action
	}{
		"declined":  {func(b *questionBench) { b.press("Decline") }, elicit.Decline},
		"cancelled": {func(b *questionBench) { b.press("Cancel") }, elicit.Cancel},
		"closed":    {func(b *questionBench) { b.w.onCancel(); b.settle() }, elicit.Cancel},
		"escape": {func(b *questionBench) {
			b.w.win.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape})
			b.settle()
		}, elicit.Cancel},
	} {
		t.Run(name, func(t *testing.T) {
			b := newQuestionBench(t, theme.Light)
			b.set(formQuestion("q"))
			c.act(b)
			if a := b.given["q"]; a.Action != c.want || a.Content != nil {
				t.Errorf("answered %+v, want %s", a, c.want)
			}
		})
	}
}

// TestEarlyPressDoesNotCount: it was meant for what was there before.
func TestEarlyPressDoesNotCount(t *testing.T) {
	b := newQuestionBench(t, theme.Light)
	b.w.Set([]elicit.Question{pageQuestion("https://example.com")})
	b.press("Open in the browser")
	if len(b.opened) != 0 || len(b.given) != 0 {
		t.Errorf("opened %q, answered %v", b.opened, b.given)
	}
	b.clock.now = b.clock.now.Add(model.ArmDelay)
	b.press("Open in the browser")
	if len(b.opened) != 1 || b.given["page"].Action != elicit.Accept {
		t.Errorf("opened %q, answered %v", b.opened, b.given)
	}
}

// TestPageIsOpenedByAPressAlone, and not when it cannot be.
func TestPageIsOpenedByAPressAlone(t *testing.T) {
	b := newQuestionBench(t, theme.Light)
	b.set(pageQuestion("https://example.com/a"))
	if len(b.opened) != 0 {
		t.Fatalf("opened %q by itself", b.opened)
	}
	b.fails = errors.New("no browser")
	b.press("Open in the browser")
	if len(b.given) != 0 || !strings.Contains(b.w.fault.Text, "no browser") {
		t.Errorf("answered %v, says %q", b.given, b.w.fault.Text)
	}
	b = newQuestionBench(t, theme.Light)
	b.set(pageQuestion("file:///etc/passwd"))
	b.press("Open in the browser")
	if len(b.opened) != 0 || len(b.given) != 0 || !b.w.fault.Visible() {
		t.Errorf("opened %q, answered %v", b.opened, b.given)
	}
}

// TestQuestionsFollow: one after the other, and what is taken back goes.
func TestQuestionsFollow(t *testing.T) {
	b := newQuestionBench(t, theme.Light)
	one, two := formQuestion("1"), formQuestion("2")
	b.set(one, two)
	b.press("Decline")
	if b.w.question.ID != "2" || !b.w.Visible() {
		t.Errorf("shown: %q", b.w.question.ID)
	}
	b.clock.now = b.clock.now.Add(time.Second)
	b.fails = errors.New("the resident says no")
	b.press("Decline")
	if b.w.question.ID != "2" || !strings.Contains(b.w.fault.Text, "says no") || b.w.buttons[1].Disabled() {
		t.Errorf("an answer that failed: shown %q, %q", b.w.question.ID, b.w.fault.Text)
	}
	b.w.Set([]elicit.Question{two})
	if b.w.question.ID != "2" {
		t.Error("another list has changed what is shown")
	}
	b.w.Set(nil)
	if b.w.Visible() || b.w.fields != nil {
		t.Error("what was taken back is still shown")
	}
}

// The window looks as it was looked at.
func TestQuestionPictures(t *testing.T) {
	long := formQuestion("long")
	long.Server = strings.Repeat("a-very-long-name-of-a-server-", 4)
	long.Message = strings.Repeat("A message that goes on and on. ", 12)
	long.Schema = json.RawMessage(`{"type":"object","properties":{"x":{"type":"string","title":"` + strings.Repeat("A title that is far too long ", 3) + `","description":"` + strings.Repeat("What to write here. ", 8) + `"}}}`)
	for name, c := range map[string]struct {
		question elicit.Question
		act      func(b *questionBench)
	}{
		"form":  {formQuestion("q"), func(*questionBench) {}},
		"fault": {formQuestion("q"), func(b *questionBench) { b.press("Send") }},
		"page":  {pageQuestion("https://münchen.example:8443/authorize?client_id=pointsman&state=" + strings.Repeat("x", 60)), func(*questionBench) {}},
		"long":  {long, func(*questionBench) {}},
	} {
		for _, face := range []theme.Choice{theme.Light, theme.Dark} {
			t.Run(name+" "+string(face), func(t *testing.T) {
				b := newQuestionBench(t, face)
				b.w.win.Resize(fyne.NewSize(640, 576))
				b.set(c.question)
				c.act(b)
				looksLike(t, "question-"+name+"-"+string(face)+".png", b.w.win.Canvas())
			})
		}
	}
}
