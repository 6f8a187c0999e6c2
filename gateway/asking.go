package gateway

import (
	"context"

	"pointsman/approvals"
	"pointsman/gateway/ask"
	"pointsman/gateway/httpapi"
	"pointsman/gateway/journal"
	"pointsman/gateway/owntools"
)

// Ask puts one typed question to a capability. What went wrong is in the envelope.
func (g *Gateway) Ask(ctx context.Context, req ask.Request) *ask.Envelope {
	return g.askFor(ctx, "go", owntools.Party{}, req)
}

// Capabilities tells what can be asked for, and how those are doing that answer.
func (g *Gateway) Capabilities() []ask.Capability { return g.live.Load().asker.Capabilities() }

// askRaw reads a question as the doors get it and puts it for a party that came
// through a door.
func (g *Gateway) askRaw(ctx context.Context, door string, party owntools.Party, question []byte) *ask.Envelope {
	req, err := ask.ParseRequest(question)
	if err != nil {
		return ask.Refused(err)
	}
	return g.askFor(ctx, door, party, req)
}

// askHTTP puts a question for a client of the HTTP door's, and says with which
// status and Retry-After its envelope goes out.
func (g *Gateway) askHTTP(ctx context.Context, from httpapi.Client, question []byte) httpapi.Answer {
	e := g.askRaw(ctx, from.Door, owntools.Party{Client: from.Name, Session: from.Session}, question)
	return httpapi.Answer{Body: e, Status: e.Status, RetryAfter: e.RetryAfter}
}

// askFor puts a question and records it as a run.
func (g *Gateway) askFor(ctx context.Context, door string, party owntools.Party, req ask.Request) *ask.Envelope {
	if !g.enter() {
		return ask.Refused(errStopping)
	}
	defer g.ended()
	defer g.runs.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.stopping, func() { cancel(approvals.ErrShuttingDown) })()
	run := journal.Run{ID: journal.NewID("run_"), Door: door, Client: party.Client, Session: party.Session, CWD: party.CWD, Model: req.Capability}
	defer g.stops.add(run.ID, cancel)()
	g.journal.StartRun(run)
	envelope := g.live.Load().asker.Ask(ctx, req)
	g.journal.FinishRun(run.ID, runEnd(ctx, envelope))
	return envelope
}

// runEnd is how the record tells of a question's end.
func runEnd(ctx context.Context, e *ask.Envelope) journal.RunEnd {
	end := journal.RunEnd{
		Outcome: journal.OK, Rounds: len(e.Route), PromptTokens: e.Usage.PromptTokens, CompletionTokens: e.Usage.CompletionTokens,
		CostUSD: e.Usage.CostUSD, DurationMS: e.LatencyMS,
	}
	if e.Error != nil {
		end.Outcome, end.Error = journal.Outcome(e.Error.Code), e.Error.Message
	}
	if ctx.Err() != nil {
		end.Outcome = journal.Cancelled
	}
	return end
}
