package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
)

// ChatRequest is one question to a model that may use the tools.
type ChatRequest struct {
	Prompt   string          // the user's message; ignored when Messages is set
	System   string          // placed before it; "" for none
	Messages json.RawMessage // a whole history in OpenAI's shape
	Model    string          // id, alias or provider/model; "" for the default
	// Extra are further fields of the request, such as temperature.
	Extra     map[string]any
	NoTools   bool
	MaxRounds int    // rounds of tool calls; zero: the configuration's
	Client    string // who asks, for the record
	Session   string
	// OnText is given the answer's text as it comes. If nil, the answer is
	// asked for whole.
	OnText func(text string)
}

// ChatResult is a model's answer and how it came about.
type ChatResult struct {
	Content      string
	Model        string
	Rounds       int // requests to the provider
	UsedTools    []string
	Invocations  []loop.Invocation
	Usage        json.RawMessage // summed over the rounds; nil when unknown
	Plan         []loop.Step
	PlanProgress map[string]int
	LoopStopped  bool
	Notices      []string
	Error        *models.Error // why there is no answer, or nil
}

// Chat asks a model and runs the tools it calls until it answers. The error is
// a *models.Error, also in the result's Error, or ctx's.
func (g *Gateway) Chat(ctx context.Context, req ChatRequest) (*ChatResult, error) {
	body, err := req.body()
	if err != nil {
		return failed(err)
	}
	router := g.Models()
	route, err := router.Resolve(req.Model)
	if err != nil {
		return failed(asInvalid(err))
	}
	run := loop.Request{
		Run: journal.NewID("run_"), Models: router, Route: route, Body: body, Door: "go", Client: req.Client,
		Session: req.Session, ToolsOff: req.NoTools, MaxRounds: req.MaxRounds,
	}
	var text textSink
	if req.OnText != nil {
		text.onText = req.OnText
		run.Stream = &text
	}
	result, err := g.Run(ctx, run)
	if err != nil {
		return failed(err)
	}
	if run.Stream != nil {
		result.Content = text.all.String()
	}
	return &ChatResult{
		Content: result.Content, Model: result.Model, Rounds: result.Rounds, UsedTools: result.UsedTools,
		Invocations: result.Invocations, Usage: result.Usage, Plan: result.Plan, PlanProgress: result.PlanProgress,
		LoopStopped: result.LoopStopped, Notices: result.Notices,
	}, nil
}

func failed(err error) (*ChatResult, error) {
	return &ChatResult{Error: models.AsError(err)}, err
}

// asInvalid makes an unknown model the caller's fault, as at every door.
func asInvalid(err error) error {
	if unknown, ok := err.(*models.UnknownModelError); ok {
		return models.Invalid("model", "%v", unknown)
	}
	return err
}

func (req ChatRequest) body() (*models.Body, error) {
	fields := map[string]any{}
	for key, value := range req.Extra {
		fields[key] = value
	}
	if req.Model != "" {
		fields["model"] = req.Model
	}
	fields["stream"] = req.OnText != nil
	fields["messages"] = req.Messages
	if req.Messages == nil {
		var messages []map[string]string
		if req.System != "" {
			messages = append(messages, map[string]string{"role": "system", "content": req.System})
		}
		fields["messages"] = append(messages, map[string]string{"role": "user", "content": req.Prompt})
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, models.Invalid("", "the request cannot be written as JSON: %v", err)
	}
	body, err := models.ParseBody(data)
	if err != nil {
		return nil, models.Invalid("", "%v", err)
	}
	return body, nil
}

// textSink takes the text out of a stream.
type textSink struct {
	onText func(string)
	all    strings.Builder
}

func (*textSink) Begin(http.Header) {}

func (s *textSink) Data(payload []byte) error {
	if text := gjson.GetBytes(payload, "choices.0.delta.content").String(); text != "" {
		s.all.WriteString(text)
		s.onText(text)
	}
	return nil
}

func (*textSink) Flush() error { return nil }
