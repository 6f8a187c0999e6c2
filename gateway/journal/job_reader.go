package journal

import (
	"context"
	"database/sql"
	"encoding/json"
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

// OpenJobs returns how many jobs have not ended, whoever has them.
func (r *Reader) OpenJobs(ctx context.Context) (int, error) {
	var open int
	if err := r.db.QueryRowContext(ctx, "SELECT count(*) FROM jobs WHERE outcome IS NULL").Scan(&open); err != nil {
		return 0, fmt.Errorf("counting the jobs that go on: %w", err)
	}
	return open, nil
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
	at := map[int64]int{} // a job's place among jobs
	for rows.Next() {
		n, job, writer, err := scanJob(rows.Scan)
		if err != nil {
			return nil, nil, err
		}
		job.Left = job.Outcome == "" && slices.Contains(dead, any(writer))
		at[n] = len(jobs)
		jobs, writers = append(jobs, job), append(writers, writer)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	return jobs, writers, r.addSteps(ctx, jobs, at, text)
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

// addSteps reads the steps of jobs, whose numbers at has with their places.
func (r *Reader) addSteps(ctx context.Context, jobs []Job, at map[int64]int, text string) error {
	if len(jobs) == 0 {
		return nil
	}
	numbers := make([]any, 0, len(at))
	for n := range at {
		numbers = append(numbers, n)
	}
	rows, err := r.db.QueryContext(ctx, "SELECT n, place, started, times, fact, "+text+" FROM steps WHERE n IN ("+placeholders(len(numbers))+") ORDER BY n, place", numbers...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var step Step
		var n, started int64
		var fact sql.NullString
		if err := rows.Scan(&n, &step.Place, &started, &step.Times, &fact, &step.Text); err != nil {
			return err
		}
		step.Started = nanos(started)
		if fact.Valid {
			step.Fact = json.RawMessage(fact.String)
		}
		job := &jobs[at[n]]
		job.Steps = append(job.Steps, step)
	}
	return rows.Err()
}
