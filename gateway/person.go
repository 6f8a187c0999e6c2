package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/sampling"
	"pointsman/gateway/servers"
)

// person answers what servers ask of their client, when no client of a door does:
// samples come from our own models after approval, forms and pages are put to
// whoever sits at the desk.
type person struct{ *Gateway }

// samplingTool is what a server's question to a model is called where calls are
// shown, recorded and remembered.
const samplingTool = "sampling/createMessage"

// codeRejected is what the protocol answers when a person does not want a sample.
const codeRejected = -1

// Abilities are everything while somebody could answer.
func (p person) Abilities() servers.Abilities {
	approve := p.opts.Approver != nil || p.attended()
	answer := p.opts.Elicit != nil || p.opts.Attended != nil && p.opts.Attended()
	return servers.Abilities{Sampling: approve, SamplingTools: approve, Form: answer, URL: answer}
}

// Elicit puts a question to the person.
func (p person) Elicit(ctx context.Context, from servers.Origin, params json.RawMessage) (json.RawMessage, error) {
	question, err := elicit.Read(params)
	if err != nil {
		return nil, invalidParams(err)
	}
	question.Server = from.Server
	question.Deadline = time.Now().Add(p.answerTime())
	for _, c := range from.Calls {
		question.Tools = append(question.Tools, c.Tool)
	}
	if len(from.Calls) > 0 {
		question.Run, question.Client = from.Calls[0].Run, from.Calls[0].Program
	}
	ctx, done, err := p.trying(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ask := p.questions.Ask
	if p.opts.Elicit != nil {
		ask = p.opts.Elicit
	}
	answer, err := ask(ctx, question)
	if err != nil {
		return nil, err
	}
	return answer.Result()
}

// answerTime is how long a person has to answer.
func (g *Gateway) answerTime() time.Duration {
	if d := time.Duration(g.Config().Approvals.Timeout); d > 0 {
		return d
	}
	return approvals.DefaultTimeout
}

// Elicited needs nothing done: the page was shown, and the server goes on.
func (person) Elicited(string, string) {}

// Sample asks the person, then a model of ours. None of our tools is offered.
func (p person) Sample(ctx context.Context, from servers.Origin, params json.RawMessage) (json.RawMessage, error) {
	wanted, err := sampling.Read(params)
	if err != nil {
		return nil, invalidParams(err)
	}
	if why := p.whyPaused(); why != "" {
		return nil, &jsonrpc.Error{Code: codeRejected, Message: why}
	}
	router := p.Models()
	name := wanted.Model(router.List(), p.Config().DefaultModel, func(id string) bool {
		_, err := router.Resolve(id)
		return err == nil
	})
	req := sampleRequest(from, params, name)
	if err := p.journal.Begin(ctx, recordOf(req)); err != nil {
		return nil, fmt.Errorf("the request cannot be recorded: %w", err)
	}
	decision := p.gate.Ask(ctx, req)
	began := time.Now()
	result, err := p.sampleDecided(ctx, req, decision, name, wanted)
	p.recordSample(ctx, req, decision, result, err, time.Since(began))
	return result, err
}

// sampleDecided does what was decided of a sample.
func (p person) sampleDecided(ctx context.Context, req approvals.Request, d approvals.Decision, name string, wanted *sampling.Request) (json.RawMessage, error) {
	if err := p.journal.Decide(context.WithoutCancel(ctx), req.ID, d); err != nil {
		return nil, fmt.Errorf("the decision cannot be recorded: %w", err)
	}
	if !d.Allows() {
		return nil, &jsonrpc.Error{Code: codeRejected, Message: "the request was rejected: " + d.Reason}
	}
	if d.Arguments != nil {
		var err error
		if wanted, err = sampling.Read(d.Arguments); err != nil {
			return nil, fmt.Errorf("the request as edited by the person: %w", err)
		}
	}
	route, err := p.Models().Resolve(name)
	if err != nil {
		return nil, err
	}
	body, err := wanted.Body(name, int64(p.Config().Limits.MaxOutputTokens))
	if err != nil {
		return nil, err
	}
	result, err := p.Run(ctx, loop.Request{
		Models: p.Models(), Route: route, Body: body, Door: "sampling", Client: "server " + req.Server, ToolsOff: true,
	})
	if err != nil {
		return nil, err
	}
	return sampling.Result(result.Model, result.Reply)
}

// sampleRequest is a sample as a person is shown it, whole.
func sampleRequest(from servers.Origin, params json.RawMessage, model string) approvals.Request {
	definition := sha256.Sum256([]byte(samplingTool)) // it never changes
	req := approvals.Request{
		ID: journal.NewID("ask_"), Door: "mcp", Model: model, Server: from.Server, Tool: samplingTool, Offered: samplingTool,
		Title: "Ask your model", Arguments: params, Class: approvals.OpenWorld, Risky: true,
		Evidence: []string{"what the server sends goes to your model, and its answer to the server"},
		Reason:   fmt.Sprintf("the server %q wants to ask your model, at your cost", from.Server), Definition: hex.EncodeToString(definition[:]),
	}
	if len(from.Calls) > 0 {
		cause := from.Calls[0]
		req.Door, req.Run, req.Client = cause.Door, cause.Run, cause.Program
	}
	return req
}

func recordOf(req approvals.Request) journal.Call {
	return journal.Call{
		ID: req.ID, Door: req.Door, Client: req.Client, Run: req.Run, Model: req.Model, Server: req.Server, Tool: req.Tool,
		Offered: req.Offered, Definition: req.Definition, Arguments: req.Arguments, Class: req.Class, Risky: req.Risky, Evidence: req.Evidence,
	}
}

// recordSample closes the sample's row.
func (p person) recordSample(ctx context.Context, req approvals.Request, d approvals.Decision, result json.RawMessage, err error, took time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	allowed := d.Allows()
	end := journal.End{
		Outcome: journal.OK, Approved: &allowed, Approver: d.Approver, Rule: d.Rule, Reason: d.Reason,
		DurationMS: took.Milliseconds(), ResultBytes: int64(len(result)), Result: string(result),
	}
	switch {
	case !allowed && d.Outcome == "":
		end.Outcome = journal.Denied
	case !allowed:
		end.Outcome = journal.Outcome(d.Outcome)
	case err != nil:
		end.Outcome, end.Error = journal.Failed, p.redactor.Redact(err.Error())
	}
	if err := p.journal.Finish(ctx, req.ID, end); err != nil {
		p.log.Error("closing a row of the journal", "call", req.ID, "error", err)
	}
}

func invalidParams(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

// Questions is the queue of what servers ask a person.
func (g *Gateway) Questions() *elicit.Desk { return g.questions }
