// Package calls takes one tool call through the three gates (allowlist with
// argument validation, risk, approval), runs it, and records it. Every door
// that runs tools goes through here, so that none has a way around.
//
// A Caller starts no goroutine; Call blocks until the call has ended.
package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// maxResult is how much of a result a model is given, in bytes.
const maxResult = 64 << 10

// Gate decides whether a risky call may run, and calls waiting (which may be nil)
// when a person has to. It never returns an unclear answer.
type Gate interface {
	AskTelling(ctx context.Context, req approvals.Request, waiting func(approvals.Request)) approvals.Decision
}

// Servers runs a call that may run.
type Servers interface {
	Call(ctx context.Context, call servers.Call) (*servers.Result, error)
}

// Recorder keeps the record of calls. Begin and Decide return when the row would
// survive our being killed; FinishSoon does not wait.
type Recorder interface {
	Begin(ctx context.Context, call journal.Call) error
	Decide(ctx context.Context, id string, d approvals.Decision) error
	FinishSoon(id string, end journal.End)
}

// Options are what a Caller is made of.
type Options struct {
	Catalogue func() *tools.Catalogue
	Pins      *tools.Pins // nil: nothing is pinned, as of the gateway's own tools
	Servers   Servers
	Gate      Gate
	Rules     *approvals.Rules // asked for standing denials of calls that need no approval
	Recorder  Recorder
	// OwnFile reports whether a text names a file of ours, or one that could
	// switch our gates off: a call that mentions one always asks. Required.
	OwnFile func(text string) bool
	// OwnFolder reports whether a text names a folder that holds such a file: a
	// call that destroys, moves or executes reaches the file with it. Of a
	// command each word counts. If nil, no folder does.
	OwnFolder func(text string, command bool) bool
	// Redact takes credentials out of what we say ourselves of a call: why it
	// did not run, or how it failed. A server's result is the model's as it
	// came. If nil, nothing is taken out.
	Redact func(text string) string
	Logger *slog.Logger
	// Paused returns why no call may run now, or "".
	Paused func() string
	// Judge judges a call of a tool that no list names. If nil, its entry does.
	Judge func(entry *tools.Entry, arguments json.RawMessage) tools.Verdict
}

// Caller runs calls. It is safe for concurrent use.
type Caller struct {
	opts Options
}

// New returns a caller.
func New(opts Options) *Caller {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Redact == nil {
		opts.Redact = func(text string) string { return text }
	}
	if opts.OwnFolder == nil {
		opts.OwnFolder = func(string, bool) bool { return false }
	}
	if opts.Judge == nil {
		opts.Judge = (*tools.Entry).Judge
	}
	if opts.Paused == nil {
		opts.Paused = func() string { return "" }
	}
	return &Caller{opts: opts}
}

// Call is one call that a model or a client wants to make.
type Call struct {
	ID        string // unique; names the journal's row
	Door      string
	Client    string
	Session   string
	CWD       string
	Model     string
	Run       string
	Round     int
	Place     int // among the calls of the round, from 1; 0: not known
	PlanStep  string
	Name      string // as the model or client wrote it
	Arguments string // JSON text as it came
	// Meta is what the client has in _meta, for the server: a JSON object. May be nil.
	Meta json.RawMessage
	// Fitted says that the arguments follow what a model was offered of the tool
	// (tools.Entry.Function) rather than the server's own schema.
	Fitted bool
	// OnWaiting is told when a person has to be asked. May be nil.
	OnWaiting func(approvals.Request)
	// OnRunning is told when the call has passed all gates and is about to run,
	// with what was decided; the zero Decision when nobody had to be asked. May
	// be nil.
	OnRunning func(approvals.Decision)
	// OnProgress is told what the server reports meanwhile. May be nil.
	OnProgress func(servers.Progress)
	// OnLog is told what the server logs meanwhile, from LogLevel upwards; see
	// servers.Call. May be nil.
	OnLog    func(servers.LogMessage)
	LogLevel string
	// Answerer answers what the server asks because of this call, and Party says
	// which calls are one party's; see servers.Call. If nil, a person is asked.
	Answerer servers.Client
	Party    string
}

// Result is how a call ended. Text is always fit to be given to the model.
type Result struct {
	Name      string // offered name, or what was asked for when there is no such tool
	Server    string
	Tool      string
	Class     approvals.Class
	Arguments json.RawMessage // what ran, or was to run; a JSON string when it was not JSON
	Allowed   bool            // passed the allowlist and validation
	Approved  *bool           // nil: nobody had to be asked
	Approver  string          // who decided, as in approvals.Decision; "" when nobody had to
	Executed  bool
	Edited    bool // it ran with other arguments than it was made with: see EditedNote
	IsError   bool
	Outcome   journal.Outcome
	Reason    string
	Text      string
	Raw       json.RawMessage // the server's whole result; nil when there is none
	Err       error           // why there is none, of a call that passed the gates; nil otherwise
	Duration  time.Duration   // of the execution
}

// Call runs one call, or says why it did not run.
func (c *Caller) Call(ctx context.Context, call Call) Result {
	r := Result{Name: call.Name, Arguments: quoted(call.Arguments)}
	entry := c.opts.Catalogue().Lookup(call.Name)
	arguments, err := tools.NormalizeArguments(call.Arguments)
	if err == nil && entry != nil && call.Fitted {
		var restored json.RawMessage
		if restored, err = entry.Restore(arguments); err == nil {
			arguments = restored
		}
	}
	if arguments != nil {
		r.Arguments = arguments
	}
	verdict := judgement{Verdict: tools.Verdict{Risky: true, Class: approvals.Execute}}
	if entry != nil {
		r.Name, r.Server, r.Tool = entry.Offered, entry.Server, entry.Name
		verdict = c.judge(entry, r.Arguments)
	}
	r.Class = verdict.Class
	if journalErr := c.opts.Recorder.Begin(ctx, journalCall(call, r, entry, verdict)); journalErr != nil {
		return c.unrecorded(ctx, r, journalErr)
	}
	var decision approvals.Decision
	c.gates(ctx, call, entry, verdict, err, &r, &decision)
	r.Approver = decision.Approver
	c.clean(&r)
	c.record(call.ID, r, decision)
	return r
}

// judgement is how dangerous a call is, and whether its tool is still the one that
// was agreed to.
type judgement struct {
	tools.Verdict
	change tools.Change
}

// judge judges a call. What the user said of a tool does not speak for another
// definition of it.
func (c *Caller) judge(entry *tools.Entry, arguments json.RawMessage) judgement {
	if entry.Allowed && c.opts.Pins != nil { // no other is ever called, nor need be known
		if change := c.opts.Pins.Check(entry.Definition); change.Changed {
			return judgement{entry.JudgeChanged(arguments), change}
		}
	}
	if listed, ok := entry.Listed(); ok {
		return judgement{Verdict: listed}
	}
	return judgement{Verdict: c.opts.Judge(entry, arguments)}
}

// gates takes the call through the three gates and runs it. A panic on the way,
// of a schema's or a server's making, ends this call and nothing else.
func (c *Caller) gates(ctx context.Context, call Call, entry *tools.Entry, verdict judgement, argumentsErr error, r *Result, decision *approvals.Decision) {
	defer func() {
		if p := recover(); p != nil {
			c.opts.Logger.Error("a call made the gateway panic", "call", call.ID, "tool", r.Name, "panic", fmt.Sprint(p))
			r.refuse(journal.Unknown, "an error inside Pointsman; whether the call ran is not known")
		}
	}()
	if invalid := c.validate(call, entry, r.Arguments, argumentsErr); invalid != "" {
		r.refuse(journal.Invalid, invalid)
	} else if r.Allowed = true; c.permitted(ctx, call, entry, verdict, r, decision) {
		if call.OnRunning != nil {
			call.OnRunning(*decision)
		}
		c.execute(ctx, call, r)
		if decision.Arguments != nil {
			r.Edited, r.Text = true, EditedNote(r.Arguments)+"\n"+r.Text
		}
	}
}

// EditedNote tells the model that a call ran with arguments that the person has
// changed. The Text of a result begins with it; a server's whole result does not
// know of it.
func EditedNote(arguments json.RawMessage) string {
	return fmt.Sprintf("(The person changed the arguments before allowing the call. It ran with %s)", arguments)
}

// validate is the first gate. It returns why the call cannot run, or "".
func (c *Caller) validate(call Call, entry *tools.Entry, arguments json.RawMessage, argumentsErr error) string {
	switch {
	case entry == nil:
		return fmt.Sprintf("there is no tool named %q; use only the tools that are offered", call.Name)
	case entry.Missing != "" && !entry.Allowed:
		return fmt.Sprintf("the tool %q may not be used: %s", entry.Offered, entry.Missing)
	case !entry.Allowed:
		return fmt.Sprintf("the tool %q is not allowed", entry.Offered)
	case argumentsErr != nil:
		return fmt.Sprintf("the arguments of %q are not usable: %v; call it again with a complete JSON object", entry.Offered, argumentsErr)
	}
	if err := entry.Validate(arguments); err != nil {
		return fmt.Sprintf("the arguments of %q do not fit its schema: %v", entry.Offered, err)
	}
	return ""
}

// permitted is the second gate and the third: risk, then approval.
func (c *Caller) permitted(ctx context.Context, call Call, entry *tools.Entry, verdict judgement, r *Result, decision *approvals.Decision) bool {
	if why := c.opts.Paused(); why != "" {
		r.refuse(journal.Denied, why)
		return false
	}
	req := request(call, entry, verdict, r.Arguments)
	if (Own{c.opts.OwnFile, c.opts.OwnFolder}).Reached(entry.Name, verdict.Class, r.Arguments) {
		req.AlwaysAsk, req.Risky = true, true
		req.Reason = OwnReason
	}
	if !req.Risky && !verdict.change.Changed {
		if rule, ok := c.opts.Rules.Match(req); ok && rule.Action == approvals.Deny {
			*decision = approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByRule, Rule: rule.ID, Reason: "a remembered rule denies it"}
			r.Approved = new(bool)
			r.refuse(journal.Denied, decision.Reason)
			return false
		}
		return true
	}
	*decision = c.opts.Gate.AskTelling(ctx, req, call.OnWaiting)
	unrecorded := c.opts.Recorder.Decide(ctx, call.ID, *decision)
	if unrecorded != nil {
		c.opts.Logger.Error("recording a decision", "call", call.ID, "error", unrecorded)
	}
	allowed := decision.Allows()
	r.Approved = &allowed
	switch {
	case !allowed:
		r.refuse(journal.Outcome(cmp.Or(decision.Outcome, approvals.Denied)), denial(*decision))
		return false
	case unrecorded != nil: // the record would not tell who said yes, and to what
		r.refuse(journal.Failed, cannotRecord+unrecorded.Error())
		return false
	case c.opts.Paused() != "": // since it was asked about
		r.refuse(journal.Denied, c.opts.Paused())
		return false
	case c.outdated(entry):
		r.refuse(journal.Denied, fmt.Sprintf("the tool %q has changed since it was asked about, or may not be used any more; nothing ran", entry.Offered))
		return false
	case !c.edited(entry, r, *decision):
		return false
	}
	if verdict.change.Changed && decision.ByPerson() {
		c.opts.Pins.Accept(entry.Definition) // who agreed has just seen what changed
	}
	return true
}

// outdated reports whether the tool is another than the one that was decided on:
// an answer may take minutes. One whose server is away is still the same.
func (c *Caller) outdated(entry *tools.Entry) bool {
	now := c.opts.Catalogue().Lookup(entry.Offered)
	return now != nil && (now.Hash != entry.Hash || !now.Allowed)
}

const cannotRecord = "the call was not run because the journal cannot be written: "

// edited takes over the arguments that the person changed, when they fit.
func (c *Caller) edited(entry *tools.Entry, r *Result, decision approvals.Decision) bool {
	if decision.Arguments == nil {
		return true
	}
	arguments, err := tools.NormalizeArguments(string(decision.Arguments))
	if err == nil {
		err = entry.Validate(arguments)
	}
	if err != nil {
		r.refuse(journal.Invalid, fmt.Sprintf("the arguments as edited by the person do not fit the tool's schema: %v", err))
		return false
	}
	r.Arguments = arguments
	return true
}

// denial says to the model why a call was not allowed.
func denial(d approvals.Decision) string {
	switch d.Outcome {
	case approvals.NotAnswered:
		return cmp.Or(d.Reason, "nobody answered in time")
	case approvals.Withdrawn:
		return cmp.Or(d.Reason, "the request was withdrawn")
	default:
		return cmp.Or(d.Reason, "the person said no")
	}
}

// execute runs the call and reads its result.
func (c *Caller) execute(ctx context.Context, call Call, r *Result) {
	began := time.Now()
	result, err := c.opts.Servers.Call(ctx, servers.Call{
		Server: r.Server, Tool: r.Tool, Arguments: r.Arguments, Meta: call.Meta, OnProgress: call.OnProgress,
		OnLog: call.OnLog, LogLevel: call.LogLevel, Client: call.Answerer, Party: cmp.Or(call.Party, call.Run),
		ID: call.ID, Run: call.Run, Door: call.Door, Program: call.Client,
	})
	r.Duration = time.Since(began)
	if err != nil {
		r.IsError, r.Err = true, err
		r.Outcome, r.Executed = failure(ctx, err)
		r.Reason = err.Error()
		r.Text = "Error: " + r.Reason
		return
	}
	r.Executed, r.IsError, r.Raw = true, result.IsError, result.Raw
	r.Text = result.Text(maxResult)
	r.Outcome = journal.OK
	if result.IsError {
		r.Outcome, r.Text = journal.Failed, "Error: "+r.Text
	}
}

// failure names how a call failed, and whether it may have run.
func failure(ctx context.Context, err error) (outcome journal.Outcome, executed bool) {
	var unavailable *servers.UnavailableError
	var timeout *servers.TimeoutError
	var lost *servers.LostError
	switch {
	case errors.As(err, &unavailable):
		return journal.Failed, false
	case errors.As(err, &timeout):
		return journal.Timeout, true
	case errors.As(err, &lost):
		return journal.Unknown, true
	case ctx.Err() != nil:
		return journal.Cancelled, true
	default:
		return journal.Failed, true
	}
}

// refuse ends the call without running it.
func (r *Result) refuse(outcome journal.Outcome, reason string) {
	r.Outcome, r.Reason, r.IsError = outcome, reason, true
	switch outcome {
	case journal.Invalid, journal.Unknown:
		r.Text = "Error: " + reason
	default:
		r.Text = fmt.Sprintf("The call was not run (%s): %s", outcome, reason)
	}
}

// unrecorded refuses a call that cannot be recorded: nothing runs without a row.
func (c *Caller) unrecorded(ctx context.Context, r Result, err error) Result {
	if ctx.Err() != nil {
		r.refuse(journal.Cancelled, "the caller has gone")
		return r
	}
	c.opts.Logger.Error("writing the journal", "error", err)
	r.refuse(journal.Failed, cannotRecord+err.Error())
	c.clean(&r)
	return r
}

// clean takes credentials out of the words that are ours.
func (c *Caller) clean(r *Result) {
	r.Reason = c.opts.Redact(r.Reason)
	if r.Raw == nil {
		r.Text = c.opts.Redact(r.Text)
	}
}

// record closes the row.
func (c *Caller) record(id string, r Result, decision approvals.Decision) {
	end := journal.End{
		Outcome: r.Outcome, Approver: decision.Approver, Rule: decision.Rule, Reason: r.Reason,
		DurationMS: r.Duration.Milliseconds(), ResultBytes: int64(len(r.Raw)), Result: string(r.Raw), Approved: r.Approved,
	}
	if r.IsError && r.Executed {
		end.Error = cmp.Or(r.Reason, r.Text)
	}
	c.opts.Recorder.FinishSoon(id, end)
}

func journalCall(call Call, r Result, entry *tools.Entry, verdict judgement) journal.Call {
	row := journal.Call{
		ID: call.ID, Time: time.Now(), Door: call.Door, Client: call.Client, Session: call.Session, CWD: call.CWD, Run: call.Run,
		Round: call.Round, Model: call.Model, Server: r.Server, Tool: cmp.Or(r.Tool, call.Name), Offered: r.Name,
		Arguments: r.Arguments, Class: verdict.Class, Risky: verdict.Risky, Evidence: verdict.Evidence,
	}
	if entry != nil {
		row.Definition = entry.Hash
	}
	return row
}

func request(call Call, entry *tools.Entry, verdict judgement, arguments json.RawMessage) approvals.Request {
	req := approvals.Request{
		ID: call.ID, Door: call.Door, Client: call.Client, Session: call.Session, CWD: call.CWD, Model: call.Model,
		Run: call.Run, Round: call.Round, Call: call.Place, Server: entry.Server, Tool: entry.Name, Offered: entry.Offered, Title: entry.Title,
		Arguments: arguments, Class: verdict.Class, Risky: verdict.Risky, Evidence: verdict.Evidence,
		PlanStep: call.PlanStep, Definition: entry.Hash, DefinitionChange: verdict.change.Diff,
		Reason: fmt.Sprintf("the call is held to be %s", verdict.Class),
	}
	if verdict.change.Changed {
		req.Reason = "the tool's definition has changed since it was last seen"
	}
	return req
}

// quoted returns text as a JSON string.
func quoted(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil { // a string cannot fail to encode
		return json.RawMessage(`""`)
	}
	return out
}
