package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/control"
	"pointsman/gateway/elicit"
)

// TestQuestions: everybody sees what servers ask, the window answers.
func TestQuestions(t *testing.T) {
	r := newRig(t)
	r.open = true // approvals.control gives no right to it
	answers := make(chan elicit.Answer, 1)
	go func() {
		a, err := r.questions.Ask(context.Background(), elicit.Question{
			Server: "s", Message: "who?", Deadline: time.Now().Add(time.Minute),
			Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
		})
		if err != nil {
			t.Error(err)
		}
		answers <- a
	}()
	seen := make(chan elicit.Question, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go func() {
		_ = r.client.WatchQuestions(ctx, func(open []elicit.Question) { // until ctx ends
			if len(open) == 1 {
				seen <- open[0]
			}
		})
	}()
	q := <-seen
	if q.Server != "s" || q.Message != "who?" {
		t.Errorf("seen: %+v", q)
	}
	accept := elicit.Answer{Action: elicit.Accept, Content: json.RawMessage(`{"n":3}`)}
	refused := func(what string, status int, err error) {
		t.Helper()
		var refusal *control.RefusedError
		if !errors.As(err, &refusal) || refusal.Status != status {
			t.Errorf("%s: got %v, want it refused with %d", what, err, status)
		}
	}
	_, err := r.client.AnswerQuestion(ctx, q.ID, accept)
	refused("without the secret", http.StatusForbidden, err)
	r.client.Secret = secret
	_, err = r.client.AnswerQuestion(ctx, q.ID, elicit.Answer{Action: elicit.Accept, Content: json.RawMessage(`{"n":"three"}`)})
	var invalid *control.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "n: it must be a number") {
		t.Errorf("what does not fit: %v", err)
	}
	if counted, err := r.client.AnswerQuestion(ctx, q.ID, accept); err != nil || !counted {
		t.Errorf("answering: %t, %v", counted, err)
	}
	if a := <-answers; a.Action != elicit.Accept || string(a.Content) != `{"n":3}` {
		t.Errorf("the server got %+v", a)
	}
	if counted, err := r.client.AnswerQuestion(ctx, q.ID, accept); err != nil || counted {
		t.Errorf("answering twice: %t, %v", counted, err)
	}
}
