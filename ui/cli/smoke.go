package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"pointsman/gateway/ask"
	"pointsman/gateway/models"
)

// probe is one of the calls by which an endpoint is tried out.
type probe struct {
	name     string
	question map[string]any
	well     func(e *ask.Envelope) bool // it did what it should
}

// probes are the calls for one capability.
func probes() []probe {
	schema := map[string]any{
		"type": "object", "properties": map[string]any{"sum": map[string]any{"type": "integer"}}, "required": []string{"sum"}, "additionalProperties": false,
	}
	return []probe{
		{"plain", map[string]any{"prompt": "Answer with the single word: ready", "max_output_tokens": 512}, func(e *ask.Envelope) bool { return e.OK }},
		{"structured", map[string]any{"prompt": "What is 2 + 3?", "response_schema": schema, "max_output_tokens": 512}, func(e *ask.Envelope) bool { return e.OK && e.Data != nil }},
		{"abstention", map[string]any{"prompt": "How tall is the tower, in metres?", "context": "The tower was painted blue.", "max_output_tokens": 512}, func(e *ask.Envelope) bool { return e.InsufficientContext }},
		{"truncation", map[string]any{"prompt": "Count from 1 to 500 in words.", "max_output_tokens": 16}, func(e *ask.Envelope) bool { return e.Error != nil && e.Error.Code == models.OutputTruncated }},
	}
}

// probed is what came of a probe: an element of `ask --smoke --json`.
type probed struct {
	Capability string        `json:"capability"`
	Probe      string        `json:"probe"`
	Passed     bool          `json:"passed"`
	Envelope   *ask.Envelope `json:"envelope"`
}

// smoke tries out the endpoints of capabilities. It fails when one does not do
// what it should.
func (a *app) smoke(ctx context.Context, f askFlags, names []string) (err error) {
	conn, err := a.open(ctx, opening{loading: loading{dotEnv: true}, noMCP: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if len(names) == 0 {
		var all []ask.Capability
		if err := conn.Get(ctx, "/capabilities", &all); err != nil {
			return err
		}
		for _, c := range all {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return errors.New("no capability is configured; declare some under capabilities, and their deployments in model_list")
	}
	results, failed := []probed{}, 0
	for _, name := range names {
		for _, p := range probes() {
			p.question["capability"] = name
			e, err := putQuestion(ctx, conn, p.question)
			if err != nil {
				return err
			}
			passed := p.well(e)
			if !passed {
				failed++
			}
			results = append(results, probed{name, p.name, passed, e})
		}
	}
	if err := a.showProbed(results, f.json); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d calls did not do what they should", failed, len(results))
	}
	return nil
}

func (a *app) showProbed(results []probed, asJSON bool) error {
	if asJSON {
		return printJSON(a.Stdout, results)
	}
	var rows [][]string
	for _, r := range results {
		e, verdict, model, finish := r.Envelope, "as it should", "-", "-"
		if e.ModelUsed != nil {
			model = *e.ModelUsed
		}
		if e.FinishReason != nil {
			finish = *e.FinishReason
		}
		switch {
		case !r.Passed && e.Error != nil:
			verdict = string(e.Error.Code) + ": " + e.Error.Message
		case !r.Passed:
			verdict = "answered as if it could"
		}
		rows = append(rows, []string{r.Capability, r.Probe, model, finish, strconv.FormatInt(e.LatencyMS, 10) + " ms", verdict})
	}
	return a.table([]string{"CAPABILITY", "CALL", "MODEL", "FINISH", "TIME", "RESULT"}, rows)
}
