package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
	"pointsman/ui/model"
)

// askQuestions puts what servers ask to the person at the terminal, one question
// at a time, until ctx ends.
func (t *attendant) askQuestions(ctx context.Context, d *elicit.Desk) {
	changed, unsubscribe := d.Subscribe()
	defer unsubscribe()
	asked := map[string]bool{}
	for {
		open := d.Open()
		next := slices.IndexFunc(open, func(q elicit.Question) bool { return !asked[q.ID] })
		if next >= 0 {
			asked[open[next].ID] = true
			t.askQuestion(ctx, d, open[next])
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// askQuestion puts one question to the person, as long as it is open.
func (t *attendant) askQuestion(ctx context.Context, d *elicit.Desk, q elicit.Question) {
	running := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		cancel(whileOpen(ctx, d, q.ID))
	})
	answer, err := askForm(ctx, t.terminal, q)
	cancel(nil)
	watching.Wait()
	switch {
	case running.Err() != nil:
		return
	case errors.Is(err, errGone):
		t.tell("No longer asked: the question was answered elsewhere, or taken back.")
		return
	case err != nil: // the input has ended, say
		answer = elicit.Answer{Action: elicit.Cancel}
	}
	if counted, err := d.Answer(q.ID, answer); err != nil {
		t.tell("The answer was not taken: %v", err)
	} else if !counted {
		t.tell("That question was not open any more.")
	}
}

// errGone says that a question is not open any more.
var errGone = errors.New("it is not asked any more")

// whileOpen returns when a question is not open any more, with errGone, or when
// ctx ends.
func whileOpen(ctx context.Context, d *elicit.Desk, id string) error {
	changed, unsubscribe := d.Subscribe()
	defer unsubscribe()
	for {
		if !slices.ContainsFunc(d.Open(), func(q elicit.Question) bool { return q.ID == id }) {
			return errGone
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// askForm puts a question to the person, field by field.
func askForm(ctx context.Context, terminal *approvals.Terminal, q elicit.Question) (elicit.Answer, error) {
	answer := elicit.Answer{}
	err := terminal.Talk(ctx, describeQuestion(q), func(line func(string) (string, error)) error {
		asking := "Answer? y / n / c (cancel): "
		if q.URL != "" {
			asking = "Open the page in your browser yourself. Have you? y / n / c (cancel): "
		}
		action, err := askAction(line, asking)
		if answer.Action = action; err != nil || action != elicit.Accept || q.URL != "" {
			return err
		}
		if answer.Content, err = askFields(line, q.Schema); err != nil {
			return err
		}
		answer.Action, err = askAction(line, "Send this? y / n / c (cancel): ")
		return err
	})
	return answer, err
}

func describeQuestion(q elicit.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s.\n%s\n", model.QuestionHead(q), model.QuestionCause(q, time.Local))
	for line := range strings.Lines(approvals.VisibleText(q.Message)) {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
	if page, err := model.PageOf(q.URL); q.URL != "" && err == nil {
		fmt.Fprintf(&b, "  host: %s\n  page: %s%s%s\n", page.Host, page.Before, page.Host, page.After)
	}
	fmt.Fprintln(&b, model.QuestionWarning(q))
	return b.String()
}

// askAction asks until the answer is clear.
func askAction(line func(string) (string, error), question string) (elicit.Action, error) {
	for {
		typed, err := line(question)
		if err != nil {
			return elicit.Cancel, err
		}
		switch strings.ToLower(strings.TrimSpace(typed)) {
		case "y", "yes":
			return elicit.Accept, nil
		case "n", "no":
			return elicit.Decline, nil
		case "c", "cancel":
			return elicit.Cancel, nil
		}
	}
}

// askFields asks for each field of a form, until what is typed fits.
func askFields(line func(string) (string, error), schema json.RawMessage) (json.RawMessage, error) {
	form, err := elicit.ParseForm(schema)
	if err != nil {
		return nil, err
	}
	content := map[string]json.RawMessage{}
	for _, f := range form {
		value, err := askField(line, f)
		if err != nil {
			return nil, err
		}
		if value != nil {
			content[f.Name] = value
		}
	}
	return json.Marshal(content)
}

func askField(line func(string) (string, error), f elicit.Field) (json.RawMessage, error) {
	fault := ""
	for {
		typed, err := line(fieldQuestion(f, fault))
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(typed) == "" && f.Default != nil {
			return f.Default, nil
		}
		value, err := fieldValue(f, typed)
		if err == nil {
			return value, nil
		}
		fault = err.Error()
	}
}

// fieldQuestion asks for a field in one line.
func fieldQuestion(f elicit.Field, fault string) string {
	parts := []string{approvals.Visible(f.Title)}
	for i, o := range f.Options {
		parts = append(parts, fmt.Sprintf("%d=%s", i+1, approvals.Visible(o.Title)))
	}
	switch f.Kind {
	case elicit.Switch:
		parts = append(parts, "(y / n)")
	case elicit.Choices:
		parts = append(parts, "(numbers, with commas)")
	}
	if hint := model.FieldHint(f); hint != "" {
		parts = append(parts, "("+hint+")")
	}
	if f.Default != nil {
		parts = append(parts, "["+approvals.Visible(string(f.Default))+"]")
	}
	question := strings.Join(parts, " ") + ": "
	if fault != "" {
		question = model.Sentence(fault) + ". " + question
	}
	return question
}

// fieldValue reads what was typed for a field; nil when nothing was and nothing
// has to be.
func fieldValue(f elicit.Field, typed string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(typed)
	if trimmed == "" || f.Kind == elicit.Text || f.Kind == elicit.Number || f.Kind == elicit.Integer {
		return f.Value(typed)
	}
	switch f.Kind {
	case elicit.Switch:
		switch strings.ToLower(trimmed) {
		case "y", "yes":
			return json.RawMessage("true"), nil
		case "n", "no":
			return json.RawMessage("false"), nil
		}
		return nil, errors.New("it must be y or n")
	case elicit.Choice:
		value, err := optionNamed(f, trimmed)
		if err != nil {
			return nil, err
		}
		return json.Marshal(value)
	}
	chosen := []string{}
	for part := range strings.SplitSeq(trimmed, ",") {
		value, err := optionNamed(f, strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, value)
	}
	raw, err := json.Marshal(chosen)
	if err != nil {
		return nil, err
	}
	return raw, f.Fault(raw)
}

// optionNamed is the option of that number, from 1, or that value.
func optionNamed(f elicit.Field, typed string) (string, error) {
	if n, err := strconv.Atoi(typed); err == nil && 0 < n && n <= len(f.Options) {
		return f.Options[n-1].Value, nil
	}
	for _, o := range f.Options {
		if o.Value == typed {
			return o.Value, nil
		}
	}
	return "", fmt.Errorf("it must be a number from 1 to %d", len(f.Options))
}
