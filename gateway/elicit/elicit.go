// Package elicit holds what MCP servers ask a person: questions that are
// answered by filling in a form, or by visiting a page in the browser. A Desk is
// the queue of open questions; a Form is what a question's schema comes to.
//
// It knows nothing of windows, and starts no goroutine: Desk.Ask blocks until its
// question is answered, and whoever shows the questions calls Answer.
package elicit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Question is one question of a server's.
type Question struct {
	ID      string `json:"id"`
	Server  string `json:"server"`
	Message string `json:"message"`
	// Schema says what the form asks for, as the server sent it; see ParseForm.
	// Null for a page to be visited.
	Schema json.RawMessage `json:"schema"`
	// URL is the page to be visited, an http or https address; "" for a form.
	URL string `json:"url"`
	// Tools are those of the server's whose calls may have caused the question,
	// by its own names; none when the server asks of its own accord.
	Tools []string `json:"tools"`
	// Run is the run of those calls, and Client who began it, when it is one; "" else.
	Run      string    `json:"run"`
	Client   string    `json:"client"`
	Created  time.Time `json:"created"`
	Deadline time.Time `json:"deadline"`
}

// Action is what the person did with a question.
type Action string

// The actions, as the protocol names them.
const (
	Accept  Action = "accept"  // filled in and sent, or went to the page
	Decline Action = "decline" // said no
	Cancel  Action = "cancel"  // said nothing: it was closed, nobody was there, or not in time
)

// Answer is the answer to a question. The zero Answer is a Cancel.
type Answer struct {
	Action Action `json:"action"`
	// Content are the values of a form that is accepted, by name; else null.
	Content json.RawMessage `json:"content,omitempty"`
}

// Result returns the answer as the result of elicitation/create.
func (a Answer) Result() (json.RawMessage, error) {
	if a.Action == "" {
		a.Action = Cancel
	}
	return json.Marshal(a)
}

// maxBytes is how long a question may be, with its form: more would bury what a
// person has to see.
const maxBytes = 128 << 10

// Read reads the parameters of elicitation/create, as a question without an id.
// The error says what is wrong with them, to the server.
func Read(params json.RawMessage) (Question, error) {
	var p struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
		URL     string          `json:"url"`
	}
	if len(params) > maxBytes {
		return Question{}, fmt.Errorf("reading the question: it is longer than %d KiB, and nobody is shown it", maxBytes>>10)
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return Question{}, fmt.Errorf("reading the question: %w", err)
	}
	q := Question{Message: p.Message, Tools: []string{}}
	switch p.Mode {
	case "", "form":
		if len(p.Schema) == 0 {
			p.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		q.Schema = p.Schema
		_, err := ParseForm(q.Schema)
		return q, err
	case "url":
		q.URL = p.URL
		_, err := PageOf(q.URL)
		return q, err
	}
	return Question{}, fmt.Errorf("reading the question: there is no mode %q; form and url are known", p.Mode)
}

// PageOf reads the address of a page that a person is to visit. Only http and
// https are visited, and only pages with a host and without a password.
func PageOf(address string) (*url.URL, error) {
	page, err := url.Parse(address)
	switch {
	case err != nil || page.Host == "":
		return nil, errors.New("reading the question: its url is not an address of a page")
	case page.Scheme != "http" && page.Scheme != "https":
		return nil, fmt.Errorf("reading the question: a page of the kind %q is not opened; http and https are", page.Scheme)
	case page.User != nil:
		return nil, errors.New("reading the question: an address with a user name in it is not opened, as it may hide where it leads")
	}
	return page, nil
}

// Options say how a Desk works.
type Options struct {
	// Attended reports whether anybody could answer. Without anybody a question is
	// cancelled at once. If nil, nobody ever can.
	Attended func() bool
}

// Desk is the queue of open questions, in the order of arrival. It is safe for
// concurrent use.
type Desk struct {
	attended func() bool

	mu       sync.Mutex // guards the fields below
	queue    []*waiter
	watchers []chan struct{}
	closed   bool
}

type waiter struct {
	question Question
	answer   chan Answer // size 1: who answers never blocks
}

// NewDesk returns an empty desk.
func NewDesk(opts Options) *Desk {
	if opts.Attended == nil {
		opts.Attended = func() bool { return false }
	}
	return &Desk{attended: opts.Attended}
}

// Ask puts a question on the desk and waits for the answer, at most until its
// deadline. Nobody there, no answer in time, and a desk that closes are a Cancel.
// When ctx ends the question is withdrawn, and the error is ctx's cause.
func (d *Desk) Ask(ctx context.Context, q Question) (Answer, error) {
	if !d.attended() {
		return Answer{Action: Cancel}, nil
	}
	w := &waiter{question: q, answer: make(chan Answer, 1)}
	w.question.ID, w.question.Created = strings.ToLower(rand.Text()[:12]), time.Now()
	d.add(w)
	late := time.NewTimer(time.Until(q.Deadline))
	defer late.Stop()
	select {
	case a := <-w.answer:
		return a, nil
	case <-late.C:
		return d.leave(w, Answer{Action: Cancel}, nil)
	case <-ctx.Done():
		return d.leave(w, Answer{}, context.Cause(ctx))
	}
}

func (d *Desk) add(w *waiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		w.answer <- Answer{Action: Cancel}
		return
	}
	d.queue = append(d.queue, w)
	d.tellLocked()
}

// leave takes a question off the desk, unless it was answered just now: then that
// counts.
func (d *Desk) leave(w *waiter, a Answer, err error) (Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.queue, w)
	if i < 0 {
		return <-w.answer, nil // it is there already
	}
	d.queue = slices.Delete(d.queue, i, i+1)
	d.tellLocked()
	return a, err
}

// Answer answers the question with that id. It reports whether this answer
// counted: it did not when the question was not open any more. An error says
// that the answer does not fit the question, which stays open.
func (d *Desk) Answer(id string, a Answer) (counted bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.queue, func(w *waiter) bool { return w.question.ID == id })
	if i < 0 {
		return false, nil
	}
	if a, err = fit(d.queue[i].question, a); err != nil {
		return false, err
	}
	d.queue[i].answer <- a
	d.queue = slices.Delete(d.queue, i, i+1)
	d.tellLocked()
	return true, nil
}

// fit checks an answer, and leaves out what does not belong to its action.
func fit(q Question, a Answer) (Answer, error) {
	switch a.Action {
	case Decline, Cancel:
		return Answer{Action: a.Action}, nil
	case Accept:
		if q.URL != "" {
			return Answer{Action: Accept}, nil
		}
	default:
		return Answer{}, fmt.Errorf("answering a question: the action must be %s, %s or %s", Accept, Decline, Cancel)
	}
	form, err := ParseForm(q.Schema)
	if err != nil {
		return Answer{}, err
	}
	if err := form.Check(a.Content); err != nil {
		return Answer{}, err
	}
	return a, nil
}

// Open returns the open questions, in the order of arrival.
func (d *Desk) Open() []Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := make([]Question, len(d.queue))
	for i, w := range d.queue {
		open[i] = w.question
	}
	return open
}

// Subscribe returns a channel that receives after what Open returns has changed
// (several changes may arrive as one), and a function that ends the subscription.
func (d *Desk) Subscribe() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	d.mu.Lock()
	d.watchers = append(d.watchers, ch)
	d.mu.Unlock()
	return ch, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.watchers = slices.DeleteFunc(d.watchers, func(c chan struct{}) bool { return c == ch })
	}
}

func (d *Desk) tellLocked() {
	for _, ch := range d.watchers {
		select {
		case ch <- struct{}{}:
		default: // it is about to look
		}
	}
}

// Close cancels what is open, and everything that comes later.
func (d *Desk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, w := range d.queue {
		w.answer <- Answer{Action: Cancel}
	}
	d.queue = nil
	d.tellLocked()
}
