package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"pointsman/gateway/ask"
	"pointsman/gateway/calls"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/mcpapi"
	"pointsman/gateway/models"
	"pointsman/gateway/owntools"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// buildDoor makes the MCP door, which serves the servers' tools and our own.
func (g *Gateway) buildDoor() {
	own := g.callOptions()
	own.Catalogue = func() *tools.Catalogue { return g.live.Load().own.Catalogue() }
	own.Servers, own.Judge = ownCalls{g}, func(entry *tools.Entry, arguments json.RawMessage) tools.Verdict {
		return g.live.Load().own.Judge(entry, arguments)
	}
	g.door = mcpapi.New(mcpapi.Options{
		Version: g.opts.Version, Logger: g.log, MaxBodyBytes: g.began.Gateway.MaxBodyBytes,
		Own:     mcpapi.Source{Catalogue: own.Catalogue, Caller: partyCaller{calls.New(own)}},
		Servers: mcpapi.Source{Catalogue: g.catalogue.Load, Caller: g.caller},
		Tools:   func() string { return g.Config().MCP.Tools },
		Library: library{g}, Ready: g.Ready,
	})
	g.listeners.add(g.door.Notice)
}

// ServeMCP serves the MCP client at the other end of a stream, until it closes
// the stream, ctx ends, or the gateway closes.
func (g *Gateway) ServeMCP(ctx context.Context, conn io.ReadWriteCloser, who mcpapi.Client) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer g.attached.add(who.Session)()
	defer context.AfterFunc(g.stopping, func() { cancel(context.Cause(g.stopping)) })()
	return g.door.Serve(ctx, conn, who)
}

// announced is what servers are told that they may ask: everything, since an MCP
// client may come that can answer. Whoever asks when nobody can is told so.
func (g *Gateway) announced() servers.Abilities {
	if g.Config().MCP.Tools == "own" {
		return person{g}.Abilities()
	}
	return servers.Abilities{Sampling: true, SamplingTools: true, Form: true, URL: true}
}

// library is what the MCP door sees of what the servers have beside tools.
type library struct{ *Gateway }

func (l library) Prefix(server string) string {
	if entry, ok := l.Config().MCPServers[server]; ok && entry.Prefix != nil {
		return *entry.Prefix
	}
	return server
}

// ourselves returns the test for tools that are ours, reached through a server:
// serving them again would never end.
func (g *Gateway) ourselves() func(tools.Definition) bool {
	mirrors := map[string]bool{}
	for _, s := range g.host.Status() {
		mirrors[s.Name] = mcpapi.Mirror(s)
	}
	return func(def tools.Definition) bool { return mirrors[def.Server] }
}

// ownCalls runs calls of our own tools, those of the configuration in force.
type ownCalls struct{ g *Gateway }

func (o ownCalls) Call(ctx context.Context, call servers.Call) (*servers.Result, error) {
	return o.g.live.Load().own.Call(ctx, call)
}

// partyCaller tells our own tools whose call it is.
type partyCaller struct{ *calls.Caller }

func (c partyCaller) Call(ctx context.Context, call calls.Call) calls.Result {
	return c.Caller.Call(owntools.WithParty(ctx, owntools.Party{Client: call.Client, Session: call.Session, CWD: call.CWD}), call)
}

// ownGateway is what our own tools see of the gateway.
type ownGateway struct{ g *Gateway }

func (o ownGateway) Models() *models.Router         { return o.g.Models() }
func (o ownGateway) Status(ctx context.Context) any { return o.g.Status(ctx) }
func (o ownGateway) Tools() []tools.Row             { return o.g.Tools() }

// Plan returns the latest plan: of the runs that are active, or have ended.
func (o ownGateway) Plan(p owntools.Party) []loop.Step {
	active := o.g.loop.Active()
	for _, same := range []func(loop.Active) bool{
		func(a loop.Active) bool { return a.Session == p.Session && p.Session != "" },
		func(a loop.Active) bool { return a.Client == p.Client && p.Client != "" },
	} {
		for _, a := range slices.Backward(active) {
			if a.Plan != nil && same(a) {
				return a.Plan
			}
		}
	}
	return o.g.plans.find(p.Session, p.Client)
}

func (o ownGateway) Capabilities() []ask.Capability { return o.g.Capabilities() }

// Ask puts a typed question for one of our own tools' caller.
func (o ownGateway) Ask(ctx context.Context, party owntools.Party, question json.RawMessage, progress func(string)) *ask.Envelope {
	told := o.g.tellRun(journal.NewID("run_"), progress) // no events come of it, but that it goes on
	defer told()
	return o.g.askRaw(ctx, "mcp", party, question)
}

// Answer asks a model for one of our own tools' caller.
func (o ownGateway) Answer(ctx context.Context, party owntools.Party, q owntools.Question, progress func(string)) (*owntools.Answer, error) {
	body, err := ChatRequest{Prompt: q.Prompt, System: q.System, Model: q.Model}.body()
	if err != nil {
		return nil, err
	}
	router := o.g.Models()
	route, err := router.Resolve(q.Model)
	if err != nil {
		return nil, asInvalid(err)
	}
	run := loop.Request{
		Run: journal.NewID("run_"), Models: router, Route: route, Body: body,
		Door: "mcp", Client: party.Client, Session: party.Session, CWD: party.CWD,
	}
	told := o.g.tellRun(run.Run, progress)
	result, err := o.g.Run(ctx, run)
	told()
	if err != nil {
		return nil, err
	}
	return &owntools.Answer{
		Content: result.Content, Model: result.Model, Rounds: result.Rounds, UsedTools: append([]string{}, result.UsedTools...),
		Plan: append([]loop.Step{}, result.Plan...), PlanProgress: loop.Progress(result.Plan), LoopStopped: result.LoopStopped,
	}, nil
}

// heartbeat is how often it is told at least that a run goes on.
const heartbeat = 5 * time.Second

// tellRun tells in words what happens in a run, until the returned function is
// called.
func (g *Gateway) tellRun(run string, tell func(string)) (stop func()) {
	events, unsubscribe := g.events.Subscribe(256)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		beat := time.NewTicker(heartbeat)
		defer beat.Stop()
		last := "asking the model"
		for {
			select {
			case e, open := <-events:
				if !open {
					return
				}
				text := inWords(e)
				if e.Run != run || text == "" {
					continue
				}
				last = text
				beat.Reset(heartbeat)
			case <-beat.C:
			}
			tell(last)
		}
	}()
	return func() { unsubscribe(); <-ended }
}

// inWords says what an event tells; "" for what is not worth telling.
func inWords(e loop.Event) string {
	switch e.Kind {
	case loop.RunStarted:
		return "asking the model"
	case loop.CallWaiting:
		return fmt.Sprintf("%s waits for approval", e.Tool)
	case loop.CallRunning:
		return fmt.Sprintf("running %s", e.Tool)
	case loop.CallFinished:
		return fmt.Sprintf("%s: %s", e.Tool, e.Outcome)
	case loop.PlanChanged:
		counts := loop.Progress(e.Plan)
		return fmt.Sprintf("plan: %d of %d steps completed", counts["completed"], counts["total"])
	}
	return ""
}
