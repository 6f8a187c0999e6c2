package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
)

// doorCalls tells the listeners of the calls that no run made: those of MCP clients
// and of Copilot's hooks. A run tells of its own. It stands before the record and
// the gate, which every call passes whatever its door.
type doorCalls struct {
	calls.Recorder
	gate   calls.Gate
	events *loop.Bus
	redact func(json.RawMessage) json.RawMessage

	mu   sync.Mutex // guards the field below
	open map[string]loop.Event
}

func newDoorCalls(record calls.Recorder, gate calls.Gate, events *loop.Bus, redact func(json.RawMessage) json.RawMessage) *doorCalls {
	return &doorCalls{Recorder: record, gate: gate, events: events, redact: redact, open: map[string]loop.Event{}}
}

// Begin records that a call is about to be put to the gates.
func (d *doorCalls) Begin(ctx context.Context, call journal.Call) error {
	if err := d.Recorder.Begin(ctx, call); err != nil || call.Run != "" {
		return err
	}
	about := loop.Event{
		Door: call.Door, Client: call.Client, Session: call.Session, CWD: call.CWD, Record: call.ID,
		Server: call.Server, Tool: cmp.Or(call.Offered, call.Tool), Class: call.Class,
	}
	d.mu.Lock()
	d.open[call.ID] = about
	d.mu.Unlock()
	d.tell(call.ID, loop.Event{Kind: loop.CallRequested, Arguments: call.Arguments})
	if !call.Risky {
		d.tell(call.ID, loop.Event{Kind: loop.CallRunning}) // nobody is asked about it
	}
	return nil
}

// AskTelling has the gate decide.
func (d *doorCalls) AskTelling(ctx context.Context, req approvals.Request, waiting func(approvals.Request)) approvals.Decision {
	return d.gate.AskTelling(ctx, req, func(waits approvals.Request) {
		d.tell(req.ID, loop.Event{Kind: loop.CallWaiting, Request: &waits})
		if waiting != nil {
			waiting(waits)
		}
	})
}

// Decide records what was decided about a call.
func (d *doorCalls) Decide(ctx context.Context, id string, decision approvals.Decision) error {
	err := d.Recorder.Decide(ctx, id, decision)
	if err == nil && decision.Allows() {
		d.tell(id, loop.Event{Kind: loop.CallRunning, Approver: decision.Approver, Arguments: decision.Arguments})
	}
	return err
}

// FinishSoon records how a call ended.
func (d *doorCalls) FinishSoon(id string, end journal.End) {
	d.Recorder.FinishSoon(id, end)
	d.tell(id, loop.Event{
		Kind: loop.CallFinished, Outcome: string(end.Outcome), Approver: end.Approver,
		Reason: cmp.Or(end.Error, end.Reason), Duration: time.Duration(end.DurationMS) * time.Millisecond,
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, id)
}

// tell publishes what happened to a call, unless a run made it.
func (d *doorCalls) tell(id string, happened loop.Event) {
	d.mu.Lock()
	about, ours := d.open[id]
	d.mu.Unlock()
	if !ours || !d.events.Listening() {
		return
	}
	about.Kind, about.Time, about.Request = happened.Kind, time.Now(), happened.Request
	about.Approver, about.Outcome, about.Reason, about.Duration = happened.Approver, happened.Outcome, happened.Reason, happened.Duration
	if len(happened.Arguments) > 0 {
		about.Arguments = d.redact(happened.Arguments)
	}
	d.events.Publish(about)
}
