package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/journal"
	"pointsman/gateway/models"
	"pointsman/gateway/tools"
)

// run is one request on its way. It is used by one goroutine, but for the calls
// of a round, which touch nothing of it.
type run struct {
	loop     *Loop
	req      Request
	id       string
	settings Settings
	started  time.Time

	body     *models.Body // the request to send next
	history  *history
	messages [][]byte        // what it holds, hidden turns included
	added    int             // how many of messages this run has added, at the end
	offering bool            // tools of ours
	theirs   map[string]bool // the names of the caller's tools
	caller   []byte          // the caller's tools, as they came
	wanted   map[string]bool // offered names of tools that the model has called or found

	guard      guard
	report     Report
	toolRounds int
	usage      json.RawMessage
	model      string
	cost       float64
	costKnown  bool
	tokensIn   int64
	tokensOut  int64
	firstID    string // of the first round's chunks: a stream has one id
	begun      bool   // the sink has been told of the answer
	said       bool   // text was streamed in an earlier round
}

func (l *Loop) newRun(req Request) (*run, error) {
	if req.Run == "" {
		req.Run = journal.NewID("run_")
	}
	r := &run{loop: l, req: req, id: req.Run, settings: l.opts.Settings(), body: req.Body.Clone(), wanted: map[string]bool{}}
	if req.MaxRounds > 0 {
		r.settings.MaxRounds = req.MaxRounds
	}
	r.guard = guard{soft: r.settings.LoopSoft, hard: r.settings.LoopHard}
	r.report.UsedTools, r.report.Invocations = []string{}, []Invocation{}
	var err error
	if r.history, err = newHistory(r.body, l.memory); err != nil {
		return nil, err
	}
	messages, changed := r.history.restored()
	r.messages = messages
	if changed {
		r.setMessages()
	}
	if err := r.offer(); err != nil {
		return nil, err
	}
	if req.Stream != nil {
		r.askForUsage()
	}
	return r, nil
}

// askForUsage makes the provider report tokens; the caller is shown them only
// when it asked itself.
func (r *run) askForUsage() {
	options := r.body.Get("stream_options")
	if options.Get("include_usage").Bool() {
		return
	}
	raw := []byte(`{"include_usage":true}`)
	if options.IsObject() {
		if b, err := models.ParseBody(r.body.Raw("stream_options")); err == nil {
			b.Set("include_usage", []byte("true"))
			raw = b.Bytes()
		}
	}
	r.body.Set("stream_options", raw)
}

func (r *run) setMessages() {
	r.body.Set("messages", models.Append(nil, r.messages...))
}

func (r *run) add(messages ...[]byte) {
	r.messages = append(r.messages, messages...)
	r.added += len(messages)
}

// rounds asks the model until it answers.
func (r *run) rounds(ctx context.Context) (*Result, error) {
	for {
		turn, err := r.ask(ctx)
		if err != nil {
			return nil, err
		}
		ours, theirs := turn.split()
		if len(ours) == 0 || r.report.Stopped != "" {
			if len(theirs) > 0 && (r.added > 0 || len(turn.items) > 0 && !r.req.Route.Responses) {
				r.add(turn.assistantMessage())
				r.remember(theirs)
			}
			return r.answer(turn)
		}
		r.toolRounds++
		note, err := r.runCalls(ctx, turn, ours)
		if err != nil {
			return nil, err
		}
		if len(theirs) > 0 {
			r.remember(theirs)
			return r.answer(turn)
		}
		r.nextRound(turn, note)
	}
}

// ask sends the request and reads the reply, streaming it on as it comes.
func (r *run) ask(ctx context.Context) (*turn, error) {
	reply, err := r.req.Models.Do(ctx, r.req.Route, r.body, r.req.Stream != nil)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	r.report.Rounds++
	for _, notice := range reply.Notices {
		r.notice(notice)
	}
	var t *turn
	if r.req.Stream != nil {
		t, err = r.readStream(reply)
	} else {
		t, err = r.readPlain(reply)
	}
	if err != nil {
		return nil, err
	}
	r.count(reply, t)
	return t, nil
}

func (r *run) notice(text string) {
	if !slices.Contains(r.report.Notices, text) {
		r.report.Notices = append(r.report.Notices, text)
	}
}

// nextRound prepares the request that follows a round of calls. note is what
// the model is told besides the results.
func (r *run) nextRound(t *turn, note string) {
	if t.text() != "" && r.req.Stream == nil {
		r.report.EarlierText = append(r.report.EarlierText, t.text())
	}
	r.said = r.said || t.text() != "" && !r.parted(t)
	if r.report.Stopped == "" && r.toolRounds >= r.settings.MaxRounds {
		r.report.Stopped = "rounds"
		note = joinNotes(note, fmt.Sprintf("The limit of %d rounds of tool calls is reached. No further tool can be called: answer now with what you have, and say what is missing.", r.settings.MaxRounds))
	}
	if r.report.Plan != nil && r.report.Stopped == "" {
		note = joinNotes(planReminder(r.report.Plan), note)
	}
	if note != "" {
		last := len(r.messages) - 1
		r.messages[last] = withNote(r.messages[last], note)
	}
	r.setMessages()
	switch {
	case r.report.Stopped != "":
		r.body.SetString("tool_choice", "none")
	case r.body.Has("tool_choice") && r.body.Get("tool_choice").String() != "auto":
		r.body.SetString("tool_choice", "auto")
	}
}

// parted reports whether a turn's text is an item of its own for the caller, which
// needs no empty line after it.
func (r *run) parted(t *turn) bool { return r.req.Route.Responses && len(t.items) > 0 }

// withNote adds a note of ours to a tool message: the one place for it that
// every provider accepts.
func withNote(message []byte, note string) []byte {
	var m struct {
		ID      string `json:"tool_call_id"`
		Content string `json:"content"`
	}
	if json.Unmarshal(message, &m) != nil {
		return message
	}
	return toolMessage(m.ID, m.Content+"\n\n[Pointsman] "+note)
}

func joinNotes(a, b string) string {
	return strings.TrimSpace(a + "\n\n" + b)
}

// runCalls runs a round's calls of ours side by side and adds the turn and
// their results to the history. It returns what the model is to be told.
func (r *run) runCalls(ctx context.Context, t *turn, ours []*call) (note string, err error) {
	results := make([]calls.Result, len(ours))
	slots := make(chan struct{}, max(r.settings.Parallel, 1))
	found := false
	var wg sync.WaitGroup
	for i, c := range ours {
		switch {
		case c.name == tools.UpdatePlan:
			results[i] = r.updatePlan(c)
			continue
		case r.finds(c):
			results[i] = r.findTools(c)
			found = true
			continue
		}
		id := journal.NewID("call_") // the provider's may repeat, and the record needs one that does not
		r.requested(c, id)
		planStep := currentStep(r.report.Plan)
		wg.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				results[i] = r.runCall(ctx, c, calls.Call{ID: id, Place: i + 1, PlanStep: planStep})
			case <-ctx.Done():
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	r.add(t.assistantMessage())
	for i, c := range ours {
		r.add(toolMessage(c.id, results[i].Text))
		note = joinNotes(note, r.noteResult(results[i]))
	}
	if found {
		r.reoffer()
	}
	return note, nil
}

// runCall takes one call through the gates. own is what is its own of it: its id
// in the record, its place in the round, the plan's step.
func (r *run) runCall(ctx context.Context, c *call, own calls.Call) calls.Result {
	id := own.ID
	result := r.loop.opts.Caller.Call(ctx, calls.Call{
		ID: id, Place: own.Place, Door: r.req.Door, Client: r.req.Client, Session: r.req.Session, CWD: r.req.CWD, Model: r.req.Route.Name,
		Run: r.id, Round: r.report.Rounds, PlanStep: own.PlanStep, Name: c.name, Arguments: c.arguments(), Fitted: true,
		OnWaiting: func(req approvals.Request) {
			r.publish(Event{Kind: CallWaiting, Call: c.id, Record: id, Tool: c.name, Arguments: req.Arguments, Request: &req})
		},
		OnRunning: func(d approvals.Decision) {
			r.publish(Event{Kind: CallRunning, Call: c.id, Record: id, Tool: c.name, Approver: d.Approver, Arguments: d.Arguments})
		},
	})
	r.publish(Event{
		Kind: CallFinished, Call: c.id, Record: id, Server: result.Server, Tool: result.Name, Class: result.Class, Arguments: result.Arguments,
		Outcome: string(result.Outcome), Approver: result.Approver,
		Reason: result.Reason, Result: result.Text, Duration: result.Duration,
	})
	return result
}

func (r *run) requested(c *call, id string) {
	r.publish(Event{Kind: CallRequested, Call: c.id, Record: id, Tool: c.name, Arguments: r.meant(c)})
}

// meant returns a call's arguments as the tool's server knows them.
func (r *run) meant(c *call) json.RawMessage {
	if entry := r.loop.opts.Catalogue().Lookup(c.name); entry != nil {
		if arguments, err := tools.NormalizeArguments(c.arguments()); err == nil {
			if arguments, err = entry.Restore(arguments); err == nil {
				return arguments
			}
		}
	}
	return jsonOrString(c.arguments())
}

func (r *run) updatePlan(c *call) calls.Result {
	arguments := jsonOrString(c.arguments())
	steps, err := parsePlan(arguments)
	if err != nil {
		return calls.Result{Name: tools.UpdatePlan, Arguments: arguments, Allowed: true, IsError: true, Outcome: journal.Invalid, Reason: err.Error(), Text: "Error: the plan was not taken: " + err.Error()}
	}
	r.report.Plan = steps
	r.publish(Event{Kind: PlanChanged, Plan: steps})
	return calls.Result{Name: tools.UpdatePlan, Arguments: arguments, Allowed: true, Executed: true, Outcome: journal.OK, Text: "The plan is published."}
}

// noteResult records a result in the report and asks the guard about it.
func (r *run) noteResult(result calls.Result) (note string) {
	r.report.Invocations = append(r.report.Invocations, Invocation{
		Tool: result.Name, Arguments: result.Arguments, Allowed: result.Allowed, Approved: result.Approved,
		Executed: result.Executed, IsError: result.IsError, Result: result.Text, Reason: result.Reason,
	})
	if result.Executed && !slices.Contains(r.report.UsedTools, result.Name) {
		r.report.UsedTools = append(r.report.UsedTools, result.Name)
	}
	if result.Name == tools.UpdatePlan && !result.IsError {
		return ""
	}
	switch r.guard.note(result) {
	case guardWarn:
		return fmt.Sprintf("The call of %s was made %d times with the same arguments and the same result. Repeating it brings nothing new: do something else or answer.", result.Name, r.guard.soft)
	case guardStop:
		r.report.LoopStopped, r.report.Stopped = true, "loop"
		return fmt.Sprintf("Stopped: the call of %s was made %d times with the same arguments and the same result. No further tool can be called: answer now with what you have.", result.Name, r.guard.hard)
	default:
		return ""
	}
}

// remember keeps the hidden part of a mixed turn until the caller sends the
// results of its own calls.
func (r *run) remember(theirs []*call) {
	hidden := make([][]byte, r.added)
	copy(hidden, r.messages[len(r.messages)-r.added:])
	r.loop.memory.put(memoryKey{call: theirs[0].id, before: r.history.hashBefore(len(r.history.caller))}, hiddenTurn{messages: hidden})
}

// answer makes the result of the last turn.
func (r *run) answer(t *turn) (*Result, error) {
	r.report.PlanProgress = Progress(r.report.Plan)
	result := &Result{Report: r.report, Run: r.id, Model: r.model, Content: t.text(), Finish: t.finish, Usage: r.usage, Header: t.header, CostUSD: r.costUSD()}
	if r.req.Stream != nil {
		return result, r.endStream(t)
	}
	result.Reply = r.plainReply(t)
	return result, nil
}

// costUSD is what the run has cost so far; nil when no price is known.
func (r *run) costUSD() *float64 {
	if !r.costKnown {
		return nil
	}
	cost := r.cost
	return &cost
}

// announce and finish tell the record and the listeners of the run.
func (r *run) announce() {
	if rec := r.loop.opts.Recorder; rec != nil {
		rec.StartRun(journal.Run{ID: r.id, Time: r.started, Door: r.req.Door, Client: r.req.Client, Session: r.req.Session, CWD: r.req.CWD, Model: r.req.Route.Name})
	}
	r.publish(Event{Kind: RunStarted})
}

func (r *run) finish(ctx context.Context, err error) {
	outcome, reason := "ok", ""
	switch {
	case err != nil && errors.Is(context.Cause(ctx), approvals.ErrShuttingDown):
		outcome, reason = "cancelled", approvals.ErrShuttingDown.Error()
	case err != nil && errors.Is(context.Cause(ctx), approvals.ErrStopped):
		outcome, reason = "cancelled", approvals.ErrStopped.Error()
	case err != nil && (ctx.Err() != nil || errors.Is(err, errGone)):
		outcome, reason = "cancelled", "the caller has gone"
	case err != nil:
		e := models.AsError(err)
		outcome, reason = string(e.Code), e.Message
	case r.report.Stopped != "":
		outcome = "stopped_" + r.report.Stopped
	}
	if rec := r.loop.opts.Recorder; rec != nil {
		end := journal.RunEnd{
			Outcome: journal.Outcome(outcome), Rounds: r.report.Rounds, PromptTokens: r.tokensIn, CompletionTokens: r.tokensOut,
			CostUSD: r.costUSD(), DurationMS: time.Since(r.started).Milliseconds(), Error: reason,
		}
		rec.FinishRun(r.id, end)
	}
	r.publish(Event{Kind: RunFinished, Outcome: outcome, Reason: reason, Duration: time.Since(r.started)})
}

func (r *run) publish(e Event) {
	listening := r.loop.opts.Events.Listening()
	if e.Kind == Text && !listening {
		return // there are many, and the board has no use for them
	}
	e.Run, e.Time = r.id, time.Now()
	e.Door, e.Client, e.Session, e.Model, e.Round = r.req.Door, r.req.Client, r.req.Session, r.req.Route.Name, r.report.Rounds
	if e.Kind != Text {
		r.loop.board.note(e)
	}
	r.loop.opts.Events.Publish(e)
}

// begin tells the sink once that the answer begins.
func (r *run) begin(header http.Header) {
	if !r.begun {
		r.begun = true
		r.req.Stream.Begin(header)
	}
}
