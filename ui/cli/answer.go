package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/tidwall/gjson"

	"pointsman/gateway/loop"
	"pointsman/gateway/models"
)

// document is what `chat --json` prints.
type document struct {
	Content      string            `json:"content"`
	Model        string            `json:"model"`
	Rounds       int               `json:"rounds"`
	UsedTools    []string          `json:"used_tools"`
	Invocations  []loop.Invocation `json:"invocations"`
	Usage        json.RawMessage   `json:"usage"` // null when the provider did not tell
	Plan         []loop.Step       `json:"plan"`
	PlanProgress map[string]int    `json:"plan_progress"`
	LoopStopped  bool              `json:"loop_stopped"`
	Stopped      string            `json:"stopped,omitempty"`
	Unanswered   bool              `json:"unanswered,omitempty"` // the last round brought no text
	Notices      []string          `json:"notices,omitempty"`
	Error        json.RawMessage   `json:"error"` // OpenAI's shape, or null
}

func newDocument() *document {
	return &document{UsedTools: []string{}, Invocations: []loop.Invocation{}, Plan: []loop.Step{}, PlanProgress: map[string]int{}}
}

// take takes from a chunk or a whole reply what belongs into the document.
func (d *document) take(data []byte) error {
	if model := gjson.GetBytes(data, "model").String(); model != "" {
		d.Model = model
	}
	if usage := gjson.GetBytes(data, "usage"); usage.IsObject() {
		d.Usage = json.RawMessage(usage.Raw)
	}
	report := gjson.GetBytes(data, "x_gateway")
	if !report.IsObject() {
		return nil
	}
	// The keys are the document's own; null keeps the empty list.
	empty := newDocument()
	if err := json.Unmarshal([]byte(report.Raw), d); err != nil {
		return fmt.Errorf("reading what the gateway tells of the run: %w", err)
	}
	if d.UsedTools == nil {
		d.UsedTools = empty.UsedTools
	}
	if d.Invocations == nil {
		d.Invocations = empty.Invocations
	}
	if d.Plan == nil {
		d.Plan = empty.Plan
	}
	if d.PlanProgress == nil {
		d.PlanProgress = empty.PlanProgress
	}
	return nil
}

// denied reports whether a call was not approved.
func (d *document) denied() bool {
	for _, call := range d.Invocations {
		if call.Approved != nil && !*call.Approved {
			return true
		}
	}
	return false
}

// outcome is how the command ends that got this answer.
func (d *document) outcome() error {
	if d.denied() && !d.answered() {
		return errDenied
	}
	return nil
}

// answered reports whether there is an answer. What was said before a call is
// none, nor is the gateway's own sentence in the place of one.
func (d *document) answered() bool { return d.Content != "" && !d.Unanswered }

// asker sends a chat request.
type asker func(ctx context.Context, body []byte) (*http.Response, error)

// stream asks for an answer and gives its text to onText as it comes.
func (ask asker) stream(ctx context.Context, request map[string]any, onText func(string) error) (*document, error) {
	d := newDocument()
	request["stream"], request["stream_options"] = true, map[string]any{"include_usage": true}
	reply, err := ask.send(ctx, request, d)
	if err != nil {
		return d, err
	}
	defer reply.Body.Close()
	events := models.NewEvents(reply.Body)
	for {
		data, err := events.Next()
		switch {
		case err == nil && string(data) == "[DONE]":
			return d, nil
		case err != nil && ctx.Err() != nil:
			return d, context.Cause(ctx)
		case err != nil:
			return d, fmt.Errorf("the answer broke off: %w", noEOF(err))
		}
		chunk, _ := models.ParseChunk(data)
		if message := chunk.Failure(); message != "" {
			d.Error = bytes.Clone(chunk.Error)
			return d, errors.New(message)
		}
		if err := d.take(data); err != nil {
			return d, err
		}
		text := gjson.GetBytes(data, "choices.0.delta.content").String()
		d.Content += text
		if err := onText(text); err != nil {
			return d, err
		}
	}
}

// noEOF names an end that came too early: alone, EOF reads like a success.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// whole asks for an answer in one piece.
func (ask asker) whole(ctx context.Context, request map[string]any) (*document, error) {
	d := newDocument()
	reply, err := ask.send(ctx, request, d)
	if err != nil {
		return d, err
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		return d, fmt.Errorf("reading the answer: %w", err)
	}
	d.Content = gjson.GetBytes(data, "choices.0.message.content").String()
	return d, d.take(data)
}

// send sends a request; a refusal is an error, and in the document.
func (ask asker) send(ctx context.Context, request map[string]any, d *document) (*http.Response, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	reply, err := ask(ctx, body)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	if reply.StatusCode == http.StatusOK {
		return reply, nil
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, fmt.Errorf("reading why the request was refused: %w", err)
	}
	failure := gjson.GetBytes(data, "error")
	if !failure.IsObject() {
		return nil, fmt.Errorf("the gateway answered %s", reply.Status)
	}
	d.Error = json.RawMessage(failure.Raw)
	return nil, errors.New(failure.Get("message").String())
}
