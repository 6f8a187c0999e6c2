package loop

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"pointsman/approvals"
)

// Active is a run that has not ended, as its events have told it.
type Active struct {
	Run     string       `json:"run"`
	Door    string       `json:"door"`
	Client  string       `json:"client"`
	Session string       `json:"session"`
	Model   string       `json:"model"`
	Since   time.Time    `json:"since"`
	Rounds  int          `json:"rounds"` // provider requests so far
	Plan    []Step       `json:"plan"`   // nil: the model has published none
	Calls   []ActiveCall `json:"calls"`  // in their order; of many, those that have not ended and the latest
}

// ActiveCall is one call of an Active run.
type ActiveCall struct {
	Call      string             `json:"call"`   // the provider's id, as its events carry it
	Record    string             `json:"record"` // its id in the journal
	Tool      string             `json:"tool"`
	Round     int                `json:"round"`
	Arguments json.RawMessage    `json:"arguments"`
	Since     time.Time          `json:"since"`             // when it was requested
	Request   *approvals.Request `json:"request,omitempty"` // while it waits for a person
	Running   bool               `json:"running"`           // it has passed the gates, and not ended
	Approver  string             `json:"approver,omitempty"`
	Finished  bool               `json:"finished"`
	Outcome   string             `json:"outcome,omitempty"` // of a finished call, as the two below
	Reason    string             `json:"reason,omitempty"`
	Duration  time.Duration      `json:"duration_ns,omitempty"`
}

// maxFinished bounds the finished calls of one run that are kept to be told.
const maxFinished = 500

// board knows what the active runs are doing. The zero value is ready.
type board struct {
	mu   sync.Mutex // guards the field below
	runs map[string]*Active
}

// note takes in what an event tells.
func (b *board) note(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Kind == RunFinished {
		delete(b.runs, e.Run)
		return
	}
	if e.Kind == RunStarted {
		if b.runs == nil {
			b.runs = map[string]*Active{}
		}
		b.runs[e.Run] = &Active{Run: e.Run, Door: e.Door, Client: e.Client, Session: e.Session, Model: e.Model, Since: e.Time}
	}
	if run := b.runs[e.Run]; run != nil {
		run.note(e)
	}
}

func (a *Active) note(e Event) {
	a.Rounds = max(a.Rounds, e.Round)
	switch e.Kind {
	case PlanChanged:
		a.Plan = e.Plan
	case CallRequested:
		a.trim()
		a.Calls = append(a.Calls, ActiveCall{Call: e.Call, Record: e.Record, Tool: e.Tool, Round: e.Round, Arguments: e.Arguments, Since: e.Time})
	case CallWaiting:
		if c := a.open(e.Record); c != nil {
			c.Request = e.Request
		}
	case CallRunning:
		if c := a.open(e.Record); c != nil {
			c.Request, c.Running, c.Approver = nil, true, e.Approver
		}
	case CallFinished:
		if c := a.open(e.Record); c != nil {
			c.Request, c.Running, c.Finished = nil, false, true
			c.Tool, c.Arguments, c.Outcome, c.Reason, c.Duration, c.Approver = e.Tool, e.Arguments, e.Outcome, e.Reason, e.Duration, e.Approver
		}
	}
}

// open finds a call that has not ended.
func (a *Active) open(record string) *ActiveCall {
	for i := len(a.Calls) - 1; i >= 0; i-- {
		if c := &a.Calls[i]; c.Record == record && !c.Finished {
			return c
		}
	}
	return nil
}

// trim makes room for a call where there are very many.
func (a *Active) trim() {
	if len(a.Calls) < maxFinished {
		return
	}
	if i := slices.IndexFunc(a.Calls, func(c ActiveCall) bool { return c.Finished }); i >= 0 {
		a.Calls = slices.Delete(a.Calls, i, i+1)
	}
}

func (b *board) list() []Active {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Active, 0, len(b.runs))
	for _, run := range b.runs {
		told := *run
		told.Calls = append([]ActiveCall{}, run.Calls...)
		list = append(list, told)
	}
	slices.SortFunc(list, func(a, b Active) int {
		if n := a.Since.Compare(b.Since); n != 0 {
			return n
		}
		return strings.Compare(a.Run, b.Run)
	})
	return list
}

// Active returns the runs that have not ended, oldest first.
func (l *Loop) Active() []Active { return l.board.list() }
