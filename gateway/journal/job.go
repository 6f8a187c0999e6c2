package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Job is work in steps that outlives the process that began it: whoever takes it
// goes on where its record ends.
type Job struct {
	ID      string
	Time    time.Time // zero in AddJob: now
	Door    string
	Client  string
	Session string
	Body    json.RawMessage // what is to be done, in its keeper's own words
	Outcome Outcome         // "" while it goes on
	Ended   time.Time       // zero while it goes on
	Left    bool            // it goes on, but the process that had it is gone
	Steps   []Step          // those that were begun, in the order of their places
}

// Step is one step of a Job. Its end is recorded once.
type Step struct {
	Place   int       // among the job's steps, from 0
	Started time.Time // when it was last begun
	// Times is how often it was begun: more than once when a process went away, or
	// the machine did, before its end was recorded.
	Times int
	Fact  json.RawMessage // what came of it, in its keeper's own words; nil until that is known
	Text  string          // what it brought, such as an answer
}

// ErrNoJob says that the record has no job of an id.
var ErrNoJob = errors.New("there is no such job")

// ErrJobOver says that a job has ended, that another process has it, or that the
// step's end is recorded already.
var ErrJobOver = errors.New("the job is over, or is another process's")

// AddJob records a job that this process is to do. When it returns nil that is on
// disk, without the credentials that were in the body.
func (j *Journal) AddJob(job Job) error {
	if job.Time.IsZero() {
		job.Time = j.opts.Now()
	}
	args := []any{job.ID, job.Time.UnixNano(), j.presence.id, job.Door, job.Client, job.Session, j.arguments(job.Body)}
	err := j.commit(func(ctx context.Context, s *statements) error {
		_, err := s.addJob.ExecContext(ctx, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("recording job %q: %w", job.ID, err)
	}
	return nil
}

// TakeJob returns the job that is next for this process: the oldest of its own
// that go on and, if left is true, of those whose process is gone, which it then
// has. It is nil when there is none.
func (j *Journal) TakeJob(ctx context.Context, left bool) (*Job, error) {
	for {
		job, writer, err := j.nextJob(ctx, left)
		if err != nil || job == nil {
			return nil, err
		}
		if writer == j.presence.id {
			return job, nil
		}
		err = j.commit(func(ctx context.Context, s *statements) error {
			return changed(s.adoptJob.ExecContext(ctx, j.presence.id, job.ID, writer))
		})
		switch {
		case err == nil:
			job.Left = false
			return job, nil
		case !errors.Is(err, ErrJobOver): // else another process was faster
			return nil, fmt.Errorf("taking job %q: %w", job.ID, err)
		}
	}
}

// BeginStep records that a step of this process's job is about to be done. When
// it returns nil that is on disk; when it returns an error the step must not be
// done.
func (j *Journal) BeginStep(job string, place int) error {
	now := j.opts.Now().UnixNano()
	err := j.commit(func(ctx context.Context, s *statements) error {
		return changed(s.beginStep.ExecContext(ctx, place, now, job, j.presence.id))
	})
	if err != nil {
		return fmt.Errorf("recording that step %d of job %q begins: %w", place, job, err)
	}
	return nil
}

// EndStep records what came of a step of this process's job, once: of what has an
// end already it returns ErrJobOver. When it returns nil that is on disk.
func (j *Journal) EndStep(job string, place int, fact json.RawMessage, text string) error {
	said, brought := j.arguments(fact), j.opts.Redact(text)
	err := j.commit(func(ctx context.Context, s *statements) error {
		return changed(s.endStep.ExecContext(ctx, said, brought, place, job, j.presence.id))
	})
	if err != nil {
		return fmt.Errorf("recording the end of step %d of job %q: %w", place, job, err)
	}
	return nil
}

// EndJob records how a job has ended, whichever process has it, and reports
// whether it went on until then. A process that is at one of its steps learns of
// it when it begins the next one.
func (j *Journal) EndJob(job string, outcome Outcome) (bool, error) {
	now := j.opts.Now().UnixNano()
	err := j.commit(func(ctx context.Context, s *statements) error {
		return changed(s.endJob.ExecContext(ctx, string(outcome), now, job))
	})
	if errors.Is(err, ErrJobOver) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("recording the end of job %q: %w", job, err)
	}
	return true, nil
}

// changed returns ErrJobOver unless a row was changed.
func changed(res interface{ RowsAffected() (int64, error) }, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = ErrJobOver
	}
	return err
}
