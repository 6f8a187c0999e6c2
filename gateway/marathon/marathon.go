// Package marathon runs the debug marathon: questions that climb a ladder of
// models, each of which sees what those before it have answered.
//
// A job is 1 to 10 tasks. Jobs are done first in, first out, and of a job one task
// at a time, one rung after the other. A rung that fails is recorded, and the next
// goes on. The record is the journal's: a rung is on disk before its model is
// asked, and its answer before the next rung begins, so whoever takes the job over
// goes on where it stands and asks no rung again that is recorded. Of a rung whose
// model was being asked when the process ended nobody knows what came: it is asked
// again, which its count of attempts tells, and recorded once.
//
// Run is the one goroutine of a Runner. It belongs to its caller, and ends with its
// context, which leaves the job at its rung.
package marathon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"pointsman/gateway/journal"
	"pointsman/gateway/models"
)

// Store keeps the jobs. A *journal.Journal is one.
type Store interface {
	AddJob(job journal.Job) error
	TakeJob(ctx context.Context, left bool) (*journal.Job, error)
	BeginStep(job string, place int) error
	EndStep(job string, place int, fact json.RawMessage, text string) error
	EndJob(job string, outcome journal.Outcome) (bool, error)
	Job(ctx context.Context, id string) (*journal.Job, error)
	Jobs(ctx context.Context, limit int) ([]journal.Job, error)
	OpenJobs(ctx context.Context) (int, error)
}

// Options are what a Runner is made of.
type Options struct {
	Store Store
	// Ask puts a rung's question to its model. It is bound by time.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// Ladder returns the models that a new job's tasks climb.
	Ladder func() []string
	// OwnOnly leaves the jobs alone that a process which is gone has left.
	OwnOnly bool
	// Changed is told when there is something new to see. It must not block. May be
	// nil.
	Changed func()
	Logger  *slog.Logger // nil: discard
}

// Question is what a rung asks its model.
type Question struct {
	Job      string
	Client   string // who began the job
	Model    string
	Messages []Message
}

// Message is one message of a chat, in OpenAI's shape.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Answer is what came of a Question. Of one that failed, Run alone may be set.
type Answer struct {
	Run              string // its row in the record of runs
	Text             string
	Model            string // as the provider names it
	FinishReason     string
	PromptTokens     int64
	CompletionTokens int64
	CostUSD          *float64 // nil: not known
}

// Party is who begins a job, for the record.
type Party struct{ Door, Client, Session string }

// errCancelled is the cause of a question's end whose job was cancelled.
var errCancelled = errors.New("the marathon was cancelled")

// listed is how many jobs Jobs returns at most.
const listed = 100

// mostOpen is how many jobs may wait and go on, so that a client that begins one
// after the other spends neither the user's money nor the disk without an end.
const mostOpen = 50

// Runner keeps the jobs and does them. It is safe for concurrent use.
type Runner struct {
	opts Options
	wake chan struct{} // size 1: there may be a job

	mu     sync.Mutex // guards the fields below
	job    string     // that is being done; "" for none
	cancel context.CancelCauseFunc
}

// New returns a Runner, which does nothing before Run.
func New(opts Options) *Runner {
	if opts.Changed == nil {
		opts.Changed = func() {}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Runner{opts: opts, wake: make(chan struct{}, 1)}
}

// body is a job as it is recorded.
type body struct {
	Ladder []string `json:"ladder"`
	Tasks  []Asked  `json:"tasks"`
}

// Begin records a job, which is done after those that were begun before it. When
// it returns, the job is on disk. Credentials in its texts are not: what is
// recorded is what the models are asked. While 50 go on or wait, the error is a
// *models.Error with the code rate_limited; of calls at one moment a few more may
// come through.
func (r *Runner) Begin(ctx context.Context, from Party, req Request) (*Job, error) {
	ctx = context.WithoutCancel(ctx) // it begins, and who asked for it is told so, even if they leave
	if err := r.room(ctx); err != nil {
		return nil, err
	}
	data, err := json.Marshal(body{Ladder: r.opts.Ladder(), Tasks: req.Tasks})
	if err != nil {
		return nil, fmt.Errorf("beginning a marathon: %w", err)
	}
	id := journal.NewID("job_")
	if err := r.opts.Store.AddJob(journal.Job{ID: id, Door: from.Door, Client: from.Client, Session: from.Session, Body: data}); err != nil {
		return nil, fmt.Errorf("beginning a marathon: %w", err)
	}
	select {
	case r.wake <- struct{}{}:
	default: // it has not looked yet since the last one
	}
	r.opts.Changed()
	return r.Job(ctx, id)
}

// room says why no further job is taken, or nil.
func (r *Runner) room(ctx context.Context) error {
	open, err := r.opts.Store.OpenJobs(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("beginning a marathon: %w", err)
	case open >= mostOpen:
		return &models.Error{
			Code: models.RateLimited, Status: http.StatusTooManyRequests,
			Message: fmt.Sprintf("%d marathons go on or wait, and no more are taken: wait until one is done, or cancel one", open),
		}
	default:
		return nil
	}
}

// Job returns a job with its answers. Of an id that is not known, the error is
// journal.ErrNoJob.
func (r *Runner) Job(ctx context.Context, id string) (*Job, error) {
	row, err := r.opts.Store.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	return jobOf(row)
}

// Jobs returns the newest jobs, the newest first, without their answers and with
// the beginnings of their questions; at most 100.
func (r *Runner) Jobs(ctx context.Context) ([]Job, error) {
	rows, err := r.opts.Store.Jobs(ctx, listed)
	if err != nil {
		return nil, err
	}
	jobs := []Job{}
	for i := range rows {
		job, err := jobOf(&rows[i])
		if err != nil {
			r.opts.Logger.Error("a marathon is not listed", "error", err)
			continue
		}
		jobs = append(jobs, job.brief())
	}
	return jobs, nil
}

// Cancel ends a job for good, and reports whether it went on until then. The rung
// that is being asked is cut short; when another process asks it, its answer is
// still recorded, and the job ends with it.
func (r *Runner) Cancel(ctx context.Context, id string) (*Job, bool, error) {
	if _, err := r.opts.Store.Job(ctx, id); err != nil {
		return nil, false, err
	}
	ended, err := r.opts.Store.EndJob(id, journal.Cancelled)
	if err != nil {
		return nil, false, err
	}
	r.mu.Lock()
	if r.job == id {
		r.cancel(errCancelled)
	}
	r.mu.Unlock()
	r.opts.Changed()
	job, err := r.Job(ctx, id)
	return job, ended, err
}
