package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/journal"
)

// Options are what a Keeper is made of.
type Options struct {
	Judge    func() Judge // the rules in force
	Gate     calls.Gate
	Rules    *approvals.Rules // asked for standing denials of calls that need no approval
	Recorder calls.Recorder
	// Served reports whether a tool, by Copilot's name of it, is one that our own
	// MCP door serves to that very session: then the door asks. If nil, none is.
	Served func(e Event, session, tool string) bool
	// Paused returns why no call may run now, or "".
	Paused func() string
	// Alarm is told of a call that ran although it was not allowed. May be nil.
	Alarm  func(text string)
	Redact func(text string) string // takes credentials out; if nil, nothing is
	Logger *slog.Logger
}

// Keeper answers the hooks. It is safe for concurrent use.
type Keeper struct {
	opts    Options
	tickets tickets
}

// NewKeeper returns a keeper.
func NewKeeper(opts Options) *Keeper {
	if opts.Served == nil {
		opts.Served = func(Event, string, string) bool { return false }
	}
	if opts.Paused == nil {
		opts.Paused = func() string { return "" }
	}
	if opts.Alarm == nil {
		opts.Alarm = func(string) {}
	}
	if opts.Redact == nil {
		opts.Redact = func(text string) string { return text }
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Keeper{opts: opts}
}

// Handle answers one event, waiting for a person when it must, and no longer than
// ctx lasts: when the hook's process goes, the request is withdrawn. Whatever goes
// wrong is a denial.
func (k *Keeper) Handle(ctx context.Context, e Event) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			k.opts.Logger.Error("a hook's event made the gateway panic", "panic", fmt.Sprint(p))
			v = deny("an error inside Pointsman")
		}
	}()
	call, err := Read(e)
	if err != nil {
		k.opts.Logger.Warn("a hook's event is denied", "error", err)
		return deny("%v", err)
	}
	switch call.Event {
	case PreToolUse:
		return k.before(ctx, e, &call)
	case PermissionRequest:
		return k.permission(ctx, e, &call)
	case PostToolUse, PostToolUseFailure:
		k.after(ctx, e, &call)
	case SessionEnd:
		k.leave(call.Session)
	}
	return Verdict{Allow: true}
}

// before answers what comes before a tool runs.
func (k *Keeper) before(ctx context.Context, e Event, c *Call) Verdict {
	session := k.tickets.root(c)
	k.tickets.meet(c.Session)
	if k.opts.Served(e, session, c.Tool) {
		k.give(ctx, &ticket{call: *c, digest: digest(c.Arguments), given: time.Now()})
		return Verdict{Allow: true}
	}
	d := k.opts.Judge().Judge(c)
	row := record(e, c, session, d)
	if err := k.opts.Recorder.Begin(ctx, row); err != nil {
		if ctx.Err() == nil {
			k.opts.Logger.Error("writing the journal", "error", err)
		}
		return deny("the call was not run because the journal cannot be written: %s", k.opts.Redact(err.Error()))
	}
	decision := k.decide(ctx, request(row, c, d))
	if decision.Allows() && ctx.Err() != nil {
		decision = approvals.Decision{Outcome: approvals.Withdrawn, Approver: approvals.ByNone, Reason: "the hook went away"}
	}
	if !decision.Allows() {
		k.finish(row.ID, journal.End{
			Outcome: journal.Outcome(cmp.Or(decision.Outcome, approvals.Denied)), Approver: decision.Approver, Rule: decision.Rule,
			Reason: decision.Reason, Approved: new(bool),
		})
		return deny("%s", cmp.Or(k.opts.Redact(decision.Reason), unexplained))
	}
	one := &ticket{call: *c, record: row.ID, writes: d.Writes, given: time.Now()}
	if decision.Arguments != nil {
		edited, err := canonical(decision.Arguments)
		if err != nil {
			k.finish(row.ID, journal.End{Outcome: journal.Invalid, Reason: "the arguments as edited by the person: " + err.Error()})
			return deny("the arguments as edited by the person cannot be read: %v", err)
		}
		one.call.Arguments = edited
		one.writes = k.opts.Judge().Judge(&one.call).Writes
	}
	one.digest = digest(one.call.Arguments)
	k.give(ctx, one)
	return Verdict{Allow: true, Arguments: decision.Arguments}
}

// decide takes a call through the gates.
func (k *Keeper) decide(ctx context.Context, req approvals.Request) approvals.Decision {
	if why := k.opts.Paused(); why != "" {
		return approvals.Decision{Outcome: approvals.Denied, Reason: why}
	}
	if !req.Risky {
		if rule, ok := k.opts.Rules.Match(req); ok && rule.Action == approvals.Deny {
			return approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByRule, Rule: rule.ID, Reason: "a remembered rule denies it"}
		}
		return approvals.Decision{Outcome: approvals.Allowed}
	}
	decision := k.opts.Gate.AskTelling(ctx, req, nil)
	if err := k.opts.Recorder.Decide(ctx, req.ID, decision); err != nil {
		k.opts.Logger.Error("recording a decision", "call", req.ID, "error", err)
		if decision.Allows() { // the record would not tell who said yes, and to what
			return approvals.Decision{Outcome: approvals.Denied, Approver: decision.Approver, Reason: "the decision cannot be recorded"}
		}
	}
	if why := k.opts.Paused(); why != "" && decision.Allows() { // since it was asked about
		return approvals.Decision{Outcome: approvals.Denied, Approver: decision.Approver, Reason: why}
	}
	return decision
}

// give keeps a ticket.
func (k *Keeper) give(ctx context.Context, one *ticket) {
	if old := k.tickets.add(one); old != nil {
		k.lose(old, "more calls were allowed since than are remembered")
	}
}

// permission answers Copilot's own question for permission, which comes after the
// call was put to us.
func (k *Keeper) permission(ctx context.Context, e Event, c *Call) Verdict {
	if k.tickets.permit(c) {
		return Verdict{Allow: true}
	}
	const why = "no approval in Pointsman fits this call"
	k.unexpected(ctx, e, c, journal.End{Outcome: journal.Denied, Reason: why, Approved: new(bool)})
	k.alarm(c, "Copilot was about to run %s with arguments that nobody approved; it was stopped")
	return deny(why)
}

// after closes the row of a call that has run, and raises an alarm when that is
// not what was allowed.
func (k *Keeper) after(ctx context.Context, e Event, c *Call) {
	one, exact := k.tickets.end(c)
	end := journal.End{Outcome: journal.OK, Result: c.Result}
	if c.Failed {
		end = journal.End{Outcome: journal.Failed, Error: c.Result}
	}
	if one != nil && exact {
		end.DurationMS = time.Since(one.given).Milliseconds()
		k.finish(one.record, end)
		return
	}
	if one == nil && c.Event == PostToolUseFailure {
		return // a call that was denied, or that could not even be asked about, did not run
	}
	end.Error = "it ran, and nobody had allowed it with these arguments"
	end.Approved = new(bool)
	id := k.unexpected(ctx, e, c, end)
	if one != nil {
		k.finish(one.record, journal.End{Outcome: journal.Unknown, Error: "another call ran in its place, with other arguments: " + id})
		k.alarm(c, "Copilot ran %s with other arguments than were approved")
		return
	}
	if k.tickets.met(c.Session) {
		k.alarm(c, "Copilot ran %s without asking Pointsman")
	}
}

// leave closes what a session has left open.
func (k *Keeper) leave(session string) {
	for _, one := range k.tickets.leave(session) {
		k.lose(one, "Copilot's session ended, and it did not tell how the call did")
	}
}

func (k *Keeper) lose(one *ticket, why string) {
	k.finish(one.record, journal.End{Outcome: journal.Unknown, Reason: why})
}

// unexpected records a call that was not put to us before, and returns its row.
func (k *Keeper) unexpected(ctx context.Context, e Event, c *Call, end journal.End) string {
	row := record(e, c, k.tickets.root(c), k.opts.Judge().Judge(c))
	if err := k.opts.Recorder.Begin(ctx, row); err != nil {
		k.opts.Logger.Error("recording a call of Copilot's", "error", err)
		return ""
	}
	k.finish(row.ID, end)
	return row.ID
}

func (k *Keeper) alarm(c *Call, format string) {
	text := fmt.Sprintf(format, approvals.Visible(short(c.Tool)))
	k.opts.Logger.Error(text, "session", c.Session, "tool", c.Tool)
	k.opts.Alarm(text)
}

// finish closes a row.
func (k *Keeper) finish(id string, end journal.End) {
	if id != "" {
		k.opts.Recorder.FinishSoon(id, end)
	}
}

// record is a call's row.
func record(e Event, c *Call, session string, d Judgement) journal.Call {
	return journal.Call{
		ID: journal.NewID("hook_"), Time: time.Now(), Door: "hook", Client: e.Client, Session: session, CWD: c.CWD,
		Server: Server, Tool: c.Tool, Offered: c.Tool, Arguments: shown(c, d), Class: d.Class, Risky: d.Risky, Evidence: d.Evidence,
	}
}

// shown are a call's arguments as an object. A patch stands beside the files that
// it names.
func shown(c *Call, d Judgement) json.RawMessage {
	var text string
	if json.Unmarshal(c.Arguments, &text) != nil {
		return c.Arguments
	}
	object := map[string]any{"patch": text}
	if c.Tool != patchTool {
		object = map[string]any{"input": text}
	}
	if len(d.Writes) > 0 {
		object["files"] = d.Writes
	}
	raw, err := json.Marshal(object)
	if err != nil { // texts cannot fail to encode
		return c.Arguments
	}
	return raw
}

func request(row journal.Call, c *Call, d Judgement) approvals.Request {
	req := approvals.Request{
		ID: row.ID, Door: row.Door, Client: row.Client, Session: row.Session, CWD: c.CWD, Server: row.Server, Tool: row.Tool, Offered: row.Offered,
		Arguments: row.Arguments, Class: d.Class, Risky: d.Risky, Evidence: d.Evidence, Warnings: d.Warnings, Shell: d.Shell, Command: d.Command,
		AlwaysAsk: d.Own, Reason: fmt.Sprintf("the call is held to be %s", d.Class),
	}
	switch {
	case d.Own:
		req.Reason = calls.OwnReason
	case d.Class == approvals.Read:
		req.Reason = "it may read a secret"
	}
	if c.Agent != "" {
		req.Reason += ", for a sub-agent (" + short(c.Agent) + ")"
	}
	return req
}

// CheckEdited says why a request's arguments, as a person has edited them, cannot
// be handed back to Copilot; nil when they can.
func CheckEdited(req approvals.Request, arguments json.RawMessage) error {
	if req.Tool == patchTool {
		return errors.New("a patch runs as it is or not at all; deny it, and say what to change")
	}
	_, err := canonical(arguments)
	return err
}
