package ollama

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// Answer puts a model's answer into Ollama's shape, as it comes or whole. It is
// for one request, and used by one goroutine at a time.
type Answer struct {
	model string
	quiet bool
	begun time.Time

	first  time.Time // when the first part came; zero before
	calls  []*streamedCall
	finish string
	usage  gjson.Result
	report json.RawMessage // x_gateway
	failed bool            // the client has been told of an error
}

// NewAnswer returns the answer to a request that begins now.
func NewAnswer(c *Chat) *Answer {
	return &Answer{model: c.Model, quiet: c.Quiet, begun: time.Now()}
}

// said is the message of an answer, or of a part of it.
type said struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	Thinking  string     `json:"thinking,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

// line is a whole answer, or one line of a streamed one.
type line struct {
	Model     string    `json:"model"`
	CreatedAt time.Time `json:"created_at"`
	Message   said      `json:"message"`
	Done      bool      `json:"done"`
	*ending
}

// ending is what the last line tells. Durations are in nanoseconds.
type ending struct {
	DoneReason         string          `json:"done_reason"`
	TotalDuration      time.Duration   `json:"total_duration"`
	LoadDuration       time.Duration   `json:"load_duration"`
	PromptEvalCount    int64           `json:"prompt_eval_count"`
	PromptEvalDuration time.Duration   `json:"prompt_eval_duration"`
	EvalCount          int64           `json:"eval_count"`
	EvalDuration       time.Duration   `json:"eval_duration"`
	Gateway            json.RawMessage `json:"x_gateway,omitempty"`
}

// ContentType is that of a streamed answer.
func (*Answer) ContentType() string { return "application/x-ndjson" }

// Event adds to buffer the line for one event of a stream in OpenAI's shape, if
// there is one.
func (a *Answer) Event(buffer, payload []byte) []byte {
	if a.failed {
		return buffer
	}
	event := gjson.ParseBytes(payload) // a copy: the payload is not ours to keep
	if usage := event.Get("usage"); usage.IsObject() {
		a.usage = usage
	}
	if report := event.Get("x_gateway"); report.IsObject() {
		a.report = json.RawMessage(report.Raw)
	}
	choice := event.Get("choices.0")
	delta := choice.Get("delta")
	message := a.message(delta)
	for _, call := range delta.Get("tool_calls").Array() {
		a.takeCall(call)
	}
	if finish := choice.Get("finish_reason").String(); finish != "" {
		a.finish = finish
		var err error
		if message.ToolCalls, err = a.whole(); err != nil {
			return a.Failure(buffer, models.AsError(err))
		}
	}
	if message.Content == "" && message.Thinking == "" && message.ToolCalls == nil {
		return buffer
	}
	if a.first.IsZero() {
		a.first = time.Now()
	}
	return a.add(buffer, line{Message: message})
}

// message takes the texts of an OpenAI message, or of a part of one.
func (a *Answer) message(from gjson.Result) said {
	message := said{Role: "assistant", Content: from.Get("content").String() + from.Get("refusal").String()}
	if !a.quiet {
		message.Thinking = models.Thought(from)
	}
	return message
}

// Waiting adds a line that says nothing: the client sees that we are still there.
func (a *Answer) Waiting(buffer []byte) []byte {
	return a.add(buffer, line{Message: said{Role: "assistant"}})
}

// End adds the line that ends a stream which went well.
func (a *Answer) End(buffer []byte) []byte {
	if a.failed {
		return buffer
	}
	return a.add(buffer, line{Message: said{Role: "assistant"}, Done: true, ending: a.ending()})
}

// Failure adds the line that ends a stream which broke.
func (a *Answer) Failure(buffer []byte, err *models.Error) []byte {
	if a.failed {
		return buffer
	}
	a.failed = true
	return append(append(buffer, ErrorJSON(err.Message)...), '\n')
}

func (a *Answer) add(buffer []byte, l line) []byte {
	l.Model, l.CreatedAt = a.model, time.Now().UTC()
	data, err := json.Marshal(l)
	if err != nil { // strings, numbers, and JSON that was parsed before
		data = ErrorJSON("writing a line of the answer: " + err.Error())
	}
	return append(append(buffer, data...), '\n')
}

// ending is what is known at the end.
func (a *Answer) ending() *ending {
	now := time.Now()
	if a.first.IsZero() {
		a.first = now
	}
	return &ending{
		DoneReason: doneReason(a.finish), TotalDuration: now.Sub(a.begun), Gateway: a.report,
		PromptEvalCount: a.usage.Get("prompt_tokens").Int(), PromptEvalDuration: a.first.Sub(a.begun),
		EvalCount: a.usage.Get("completion_tokens").Int(), EvalDuration: now.Sub(a.first),
	}
}

// doneReason is Ollama's word for a finish_reason.
func doneReason(finish string) string {
	switch finish {
	case "", "tool_calls", "function_call":
		return "stop"
	default: // stop and length are the same in both; content_filter Ollama has none for
		return finish
	}
}

// Reply makes the whole answer of a reply in OpenAI's shape.
func (a *Answer) Reply(reply []byte) ([]byte, error) {
	root := gjson.ParseBytes(reply)
	choice := root.Get("choices.0")
	message := a.message(choice.Get("message"))
	for _, call := range choice.Get("message.tool_calls").Array() {
		a.takeCall(call)
	}
	var err error
	if message.ToolCalls, err = a.whole(); err != nil {
		return nil, err
	}
	a.finish, a.usage = choice.Get("finish_reason").String(), root.Get("usage")
	if report := root.Get("x_gateway"); report.IsObject() {
		a.report = json.RawMessage(report.Raw)
	}
	return a.add(nil, line{Message: message, Done: true, ending: a.ending()}), nil
}

// Loaded is the answer to a request that only wants the model to be loaded, or to
// be put away.
func (a *Answer) Loaded(unload bool) []byte {
	reason := "load"
	if unload {
		reason = "unload"
	}
	return a.add(nil, line{Message: said{Role: "assistant"}, Done: true, ending: &ending{DoneReason: reason}})
}

// streamedCall is a tool call that comes in parts.
type streamedCall struct {
	index     int64
	id, name  string
	arguments []byte
}

// takeCall takes a call, or a part of one. The loop sees to it that each call has
// an index of its own.
func (a *Answer) takeCall(part gjson.Result) {
	index := part.Get("index")
	var call *streamedCall
	for _, known := range a.calls {
		if index.Exists() && known.index == index.Int() {
			call = known
		}
	}
	if call == nil {
		call = &streamedCall{index: index.Int()}
		a.calls = append(a.calls, call)
	}
	if id := part.Get("id").String(); id != "" {
		call.id = id
	}
	call.name += part.Get("function.name").String()
	arguments := part.Get("function.arguments")
	if arguments.IsObject() {
		call.arguments = append(call.arguments, arguments.Raw...)
	} else {
		call.arguments = append(call.arguments, arguments.String()...)
	}
}

// whole returns the calls, which have all come. Ollama's have an object as their
// arguments; a call without one would be run with other arguments than the model
// meant, so the answer fails.
func (a *Answer) whole() ([]toolCall, error) {
	var calls []toolCall
	for i, c := range a.calls {
		if len(c.arguments) == 0 {
			c.arguments = []byte("{}")
		}
		if _, err := models.ParseObject(c.arguments); err != nil {
			return nil, &models.Error{
				Code: models.UpstreamError, Status: http.StatusBadGateway,
				Message: fmt.Sprintf("the model's call of %s cannot be passed on: its arguments are not a JSON object", c.name),
			}
		}
		call := toolCall{ID: c.id}
		call.Function.Index, call.Function.Name, call.Function.Arguments = i, c.name, c.arguments
		calls = append(calls, call)
	}
	return calls, nil
}
