package loop

import (
	"encoding/json"
	"sync"
	"time"

	"pointsman/approvals"
)

// Kind names what an Event tells.
type Kind string

// The kinds of events.
const (
	RunStarted    Kind = "run_started"
	Text          Kind = "text"
	CallRequested Kind = "call_requested"
	CallWaiting   Kind = "call_waiting" // for a person
	CallRunning   Kind = "call_running" // it passed the gates
	CallFinished  Kind = "call_finished"
	PlanChanged   Kind = "plan_changed"
	RunFinished   Kind = "run_finished"
)

// Event is one thing that happened in a run, or to a call that no run made, such
// as an MCP client's: then Run is empty, and Door to CWD and Server to Class say
// whose it is and what. Otherwise which fields are set depends on its Kind. Time
// always is.
type Event struct {
	Kind      Kind               `json:"kind"`
	Run       string             `json:"run"`
	Time      time.Time          `json:"time"`
	Door      string             `json:"door,omitempty"`
	Client    string             `json:"client,omitempty"`
	Session   string             `json:"session,omitempty"`
	CWD       string             `json:"cwd,omitempty"`
	Model     string             `json:"model,omitempty"`
	Round     int                `json:"round,omitempty"`
	Text      string             `json:"text,omitempty"`
	Call      string             `json:"call,omitempty"`   // the provider's id of the call, unique in its turn only
	Record    string             `json:"record,omitempty"` // the call's id in the journal, unique
	Server    string             `json:"server,omitempty"`
	Tool      string             `json:"tool,omitempty"`
	Class     approvals.Class    `json:"class,omitempty"` // how risky the call is, when that is known
	Arguments json.RawMessage    `json:"arguments,omitempty"`
	Request   *approvals.Request `json:"request,omitempty"`
	Approver  string             `json:"approver,omitempty"` // who decided; "" when nobody had to
	Outcome   string             `json:"outcome,omitempty"`
	Reason    string             `json:"reason,omitempty"`
	Result    string             `json:"result,omitempty"`
	Duration  time.Duration      `json:"duration_ns,omitempty"`
	Plan      []Step             `json:"plan,omitempty"`
	Lost      int                `json:"lost,omitempty"` // events this listener missed before this one
}

// Bus hands events to any number of listeners. A listener that is slower than
// its buffer loses events, and the next one it gets says how many; a run never
// waits for a listener.
type Bus struct {
	mu        sync.Mutex // guards the fields below
	listeners map[*listener]struct{}
}

type listener struct {
	ch   chan Event
	lost int
}

// NewBus returns a bus without listeners.
func NewBus() *Bus { return &Bus{listeners: map[*listener]struct{}{}} }

// Subscribe returns a channel with room for buffer events, and a function that
// ends the subscription and closes the channel.
func (b *Bus) Subscribe(buffer int) (<-chan Event, func()) {
	l := &listener{ch: make(chan Event, max(buffer, 1))}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners[l] = struct{}{}
	return l.ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if _, on := b.listeners[l]; on {
			delete(b.listeners, l)
			close(l.ch)
		}
	}
}

// Listening reports whether anybody does, so that nothing is made for nobody.
func (b *Bus) Listening() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.listeners) > 0
}

// Publish tells the listeners of an event.
func (b *Bus) Publish(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners {
		e.Lost = l.lost
		select {
		case l.ch <- e:
			l.lost = 0
		default:
			l.lost++
		}
	}
}
