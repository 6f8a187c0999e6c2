package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Job returns a job with its steps whole. Of an id that the record does not have,
// the error is ErrNoJob.
func (r *Reader) Job(ctx context.Context, id string) (*Job, error) {
	var s statement
	s.where("id = ?", id)
	jobs, _, err := r.readJobs(ctx, s, "text")
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading job %q: %w", id, err)
	case len(jobs) == 0:
		return nil, fmt.Errorf("%w as %q", ErrNoJob, id)
	}
	return &jobs[0], nil
}

// Jobs returns the newest jobs, at most limit, the newest first, without the texts
// of their steps.
func (r *Reader) Jobs(ctx context.Context, limit int) ([]Job, error) {
	var s statement
	s.add(" ORDER BY n DESC LIMIT ?", limit)
	jobs, _, err := r.readJobs(ctx, s, "''")
	if err != nil {
		return nil, fmt.Errorf("reading the jobs: %w", err)
	}
	return jobs, nil
}

// nextJob returns the oldest job that goes on, of this process's and, if left is
// true, of those whose process is gone; and who has it.
func (j *Journal) nextJob(ctx context.Context, left bool) (*Job, string, error) {
	mine := []any{j.presence.id}
	if left {
		dead, err := goneAmong(ctx, j.Reader.db, j.path, jobWriters)
		if err != nil {
			return nil, "", fmt.Errorf("looking for the next job: %w", err)
		}
		mine = append(mine, dead...)
	}
	var s statement
	s.add(" AND outcome IS NULL AND writer IN ("+placeholders(len(mine))+")", mine...)
	s.add(" ORDER BY n LIMIT 1")
	jobs, writers, err := j.readJobs(ctx, s, "text")
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("looking for the next job: %w", err)
	case len(jobs) == 0:
		return nil, "", nil
	}
	return &jobs[0], writers[0], nil
}

// readJobs returns the jobs that where chooses, and who has each. text is what is
// read of the steps' texts.
func (r *Reader) readJobs(ctx context.Context, where statement, text string) (jobs []Job, writers []string, err error) {
	dead, err := goneAmong(ctx, r.db, r.path, jobWriters)
	if err != nil {
		return nil, nil, err
	}
	rows, err := r.db.QueryContext(ctx, "SELECT n, id, time, writer, door, client, session, body, outcome, ended FROM jobs WHERE 1"+where.text.String(), where.args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var numbers []int64
	for rows.Next() {
		n, job, writer, err := scanJob(rows.Scan)
		if err != nil {
			return nil, nil, err
		}
		job.Left = job.Outcome == "" && slices.Contains(dead, any(writer))
		jobs, writers, numbers = append(jobs, job), append(writers, writer), append(numbers, n)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	for i, n := range numbers {
		if jobs[i].Steps, err = r.steps(ctx, n, text); err != nil {
			return nil, nil, err
		}
	}
	return jobs, writers, nil
}

func scanJob(scan scanner) (n int64, job Job, writer string, err error) {
	var at int64
	var body string
	var outcome sql.NullString
	var ended sql.NullInt64
	if err = scan(&n, &job.ID, &at, &writer, &job.Door, &job.Client, &job.Session, &body, &outcome, &ended); err != nil {
		return
	}
	job.Time, job.Body, job.Outcome = nanos(at), json.RawMessage(body), Outcome(outcome.String)
	if ended.Valid {
		job.Ended = nanos(ended.Int64)
	}
	return
}

// steps returns the steps of job number n.
func (r *Reader) steps(ctx context.Context, n int64, text string) (steps []Step, err error) {
	rows, err := r.db.QueryContext(ctx, "SELECT place, started, times, fact, "+text+" FROM steps WHERE n = ? ORDER BY place", n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var step Step
		var started int64
		var fact sql.NullString
		if err := rows.Scan(&step.Place, &started, &step.Times, &fact, &step.Text); err != nil {
			return nil, err
		}
		step.Started = nanos(started)
		if fact.Valid {
			step.Fact = json.RawMessage(fact.String)
		}
		steps = append(steps, step)
	}
	return steps, rows.Err()
}
