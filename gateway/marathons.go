package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tidwall/gjson"

	"pointsman/gateway/httpapi"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/marathon"
	"pointsman/gateway/models"
	"pointsman/gateway/owntools"
)

// buildMarathons makes what does the debug marathons, from Start on.
func (g *Gateway) buildMarathons() {
	g.marathons = marathon.New(marathon.Options{
		Store: g.journal, Ask: g.askRung, Ladder: func() []string { return g.Config().Marathon.Ladder },
		OwnOnly: g.opts.LeaveMarathons, Changed: g.notices.notify, Logger: g.log,
	})
}

// BeginMarathon records a debug marathon, which is done after those that were begun
// before it, once Start was called. When it returns, the job outlives this process.
func (g *Gateway) BeginMarathon(ctx context.Context, req marathon.Request) (*marathon.Job, error) {
	return g.marathons.Begin(ctx, marathon.Party{Door: "go"}, req)
}

// Marathon returns a debug marathon as it stands. Of an id that is not known, the
// error is journal.ErrNoJob.
func (g *Gateway) Marathon(ctx context.Context, id string) (*marathon.Job, error) {
	return g.marathons.Job(ctx, id)
}

// Marathons returns the newest debug marathons, the newest first, without their
// answers; at most 100.
func (g *Gateway) Marathons(ctx context.Context) ([]marathon.Job, error) {
	return g.marathons.Jobs(ctx)
}

// CancelMarathon ends a debug marathon for good, and reports whether it went on
// until then.
func (g *Gateway) CancelMarathon(ctx context.Context, id string) (*marathon.Job, bool, error) {
	return g.marathons.Cancel(ctx, id)
}

// askRung asks a rung's model as everybody does, without any tool. The rungs of a
// job have a session in common, which is the job's id.
func (g *Gateway) askRung(ctx context.Context, q marathon.Question) (marathon.Answer, error) {
	answer := marathon.Answer{Run: journal.NewID("run_")}
	data, err := json.Marshal(map[string]any{"model": q.Model, "messages": q.Messages})
	if err != nil {
		return answer, fmt.Errorf("writing the question as JSON: %w", err)
	}
	body, err := models.ParseBody(data)
	if err != nil {
		return answer, models.Invalid("", "%v", err)
	}
	router := g.Models()
	route, err := router.Resolve(q.Model)
	if err != nil {
		return answer, asInvalid(err)
	}
	result, err := g.Run(ctx, loop.Request{
		Run: answer.Run, Models: router, Route: route, Body: body, Door: "marathon", Client: q.Client, Session: q.Job, ToolsOff: true,
	})
	if err != nil {
		return answer, err
	}
	answer.Text, answer.Model, answer.FinishReason, answer.CostUSD = result.Content, result.Model, result.Finish, result.CostUSD
	answer.PromptTokens = gjson.GetBytes(result.Usage, "prompt_tokens").Int()
	answer.CompletionTokens = gjson.GetBytes(result.Usage, "completion_tokens").Int()
	switch {
	case result.Finish == "content_filter":
		return answer, &models.Error{Code: models.ContentFiltered, Message: "the provider's content filter withheld the answer"}
	case result.Content == "":
		return answer, &models.Error{Code: models.UpstreamError, Status: http.StatusBadGateway, Message: "the model's answer is empty"}
	}
	return answer, nil
}

// marathonDoor is what clients of the HTTP door have of the marathons.
type marathonDoor struct{ *marathon.Runner }

// Begin reads a marathon and begins it.
func (d marathonDoor) Begin(ctx context.Context, from httpapi.Client, data []byte) (*marathon.Job, error) {
	return beginMarathon(ctx, d.Runner, marathon.Party{Door: from.Door, Client: from.Name, Session: from.Session}, data)
}

// BeginMarathon and Marathon are for our own tools.
func (o ownGateway) BeginMarathon(ctx context.Context, party owntools.Party, data json.RawMessage) (*marathon.Job, error) {
	return beginMarathon(ctx, o.g.marathons, marathon.Party{Door: "mcp", Client: party.Client, Session: party.Session}, data)
}

func (o ownGateway) Marathon(ctx context.Context, id string) (*marathon.Job, error) {
	return o.g.Marathon(ctx, id)
}

func beginMarathon(ctx context.Context, r *marathon.Runner, from marathon.Party, data []byte) (*marathon.Job, error) {
	req, err := marathon.ParseRequest(data)
	if err != nil {
		return nil, err
	}
	return r.Begin(ctx, from, req)
}
