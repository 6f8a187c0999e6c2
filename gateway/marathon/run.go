package marathon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"pointsman/gateway/ask"
	"pointsman/gateway/journal"
	"pointsman/gateway/models"
)

// The wait before the record is tried again after it failed, at first and at most.
const (
	firstWait = time.Second
	mostWait  = time.Minute
)

// Run does the jobs until ctx ends.
func (r *Runner) Run(ctx context.Context) {
	for ctx.Err() == nil {
		var row *journal.Job
		err := r.persist(ctx, "looking for the next marathon", func() (err error) {
			row, err = r.opts.Store.TakeJob(ctx, !r.opts.OwnOnly)
			return err
		})
		switch {
		case err != nil:
			return // ctx has ended, or the record is closed
		case row != nil:
			r.do(ctx, row)
			r.opts.Changed()
			continue
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
		}
	}
}

// persist reads or writes the record, again while it fails: no question is asked
// that is not recorded, and no answer is dropped that has come. It gives up when
// ctx ends, when the record is closed, and when the job is over.
func (r *Runner) persist(ctx context.Context, doing string, try func() error) error {
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		err := try()
		if err == nil || errors.Is(err, journal.ErrJobOver) || errors.Is(err, journal.ErrClosed) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.opts.Logger.Error(doing, "error", err, "again_in", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// do does what is left of a job.
func (r *Runner) do(ctx context.Context, row *journal.Job) {
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.mu.Lock()
	r.job, r.cancel = row.ID, cancel
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.job, r.cancel = "", nil
	}()
	outcome := journal.Failed
	job, err := jobOf(row)
	if err != nil {
		r.opts.Logger.Error("a marathon cannot be done", "job", row.ID, "error", err)
	} else if outcome, err = r.climbAll(ctx, asking, job); err != nil {
		return // it is over, or is left at its rung
	}
	_ = r.persist(ctx, "recording a marathon's end", func() error { // when it fails we end, and the job is taken again
		_, err := r.opts.Store.EndJob(row.ID, outcome)
		return err
	})
}

// climbAll takes the job's tasks up the ladder, and returns how the job has ended.
// An error says that it goes no further here.
func (r *Runner) climbAll(ctx, asking context.Context, job *Job) (journal.Outcome, error) {
	outcome := journal.Failed // without any answer
	for i := range job.Tasks {
		task := &job.Tasks[i]
		for rung := range task.Rungs {
			if task.Rungs[rung].open() {
				if err := r.climb(ctx, asking, job, task, rung); err != nil {
					return "", err
				}
			}
			if task.Rungs[rung].Status == Answered {
				outcome = journal.OK
			}
		}
	}
	return outcome, nil
}

// climb asks the model of one rung and records what comes of it.
func (r *Runner) climb(ctx, asking context.Context, job *Job, task *Task, rung int) error {
	place := (task.QueuePosition-1)*len(job.Ladder) + rung
	err := r.persist(ctx, "recording that a rung begins", func() error { return r.opts.Store.BeginStep(job.ID, place) })
	if err != nil {
		return err
	}
	r.opts.Changed()
	begun := time.Now()
	answer, err := r.ask(asking, Question{Job: job.ID, Client: job.Client, Model: job.Ladder[rung], Messages: opening(task, rung)})
	if err != nil && asking.Err() != nil {
		return context.Cause(asking) // cancelled, or we are shutting down: the rung stays open
	}
	f := Result{
		Run: answer.Run, ModelUsed: answer.Model, FinishReason: answer.FinishReason, DurationMS: time.Since(begun).Milliseconds(),
		Usage: ask.Usage{PromptTokens: answer.PromptTokens, CompletionTokens: answer.CompletionTokens, TotalTokens: answer.PromptTokens + answer.CompletionTokens, CostUSD: answer.CostUSD},
	}
	if err != nil {
		answer.Text, f.Error = "", ask.NewFailure(err)
	}
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("recording the end of a rung: %w", err)
	}
	err = r.persist(ctx, "recording the end of a rung", func() error { return r.opts.Store.EndStep(job.ID, place, data, answer.Text) })
	if err != nil {
		return err
	}
	f.into(&task.Rungs[rung], answer.Text)
	r.opts.Changed()
	return nil
}

// ask is Options.Ask, of which a panic is one more fault of a rung.
func (r *Runner) ask(ctx context.Context, q Question) (answer Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.opts.Logger.Error("a marathon's rung made the gateway panic", "job", q.Job, "model", q.Model, "panic", fmt.Sprint(p))
			err = &models.Error{Code: models.UpstreamError, Status: http.StatusInternalServerError, Message: "an error inside Pointsman; its log tells more"}
		}
	}()
	return r.opts.Ask(ctx, q)
}

// opening is what the model of a rung is sent: the question, and what the rungs
// below have answered, as turns of one conversation.
func opening(task *Task, rung int) []Message {
	messages := []Message{
		{"system", "Several models answer the user's question one after another, each with all earlier answers before it. Yours must stand by itself: whoever reads it has read none of the others. You have no tools."},
		{"user", task.Question},
	}
	for _, earlier := range task.Rungs[:rung] {
		if earlier.Answer == nil {
			continue // it has failed
		}
		messages = append(messages, Message{"assistant", *earlier.Answer}, Message{"user", fmt.Sprintf(
			"That was the answer of %s. Check it: correct what is wrong, add what is missing, and answer the question whole.", earlier.Model)})
	}
	return messages
}
