package journal

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

const (
	// runsAtOnce is how many runs one statement inserts.
	runsAtOnce = 16
	runColumns = "id, time, writer, door, client, session, cwd, model, outcome, rounds, prompt_tokens, completion_tokens, cost_usd, duration_ms, error"
	runRowSQL  = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

// statements are the writer's, prepared once on its connection.
type statements struct {
	begin, commit, rollback *sql.Stmt

	beginCall, decideCall, finishCall, keepResult *sql.Stmt

	insertRun, insertRuns, finishRun *sql.Stmt

	addJob, adoptJob, beginStep, endStep, endJob *sql.Stmt
}

func prepare(ctx context.Context, conn *sql.Conn) (*statements, error) {
	s := &statements{}
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.rollback, "ROLLBACK"},
		{&s.beginCall, `INSERT INTO calls (id, time, writer, door, client, session, cwd, run, round, model,
			server, tool, offered, definition, arguments, edited, class, risky, evidence)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.decideCall, `UPDATE calls SET approved = ?, approver = ?, rule = ?, reason = ?,
			arguments = coalesce(?, arguments), edited = edited OR ? WHERE id = ? AND outcome IS NULL`},
		{&s.finishCall, `UPDATE calls SET outcome = ?, approved = coalesce(?, approved),
			approver = coalesce(nullif(?, ''), approver), rule = coalesce(nullif(?, ''), rule),
			reason = coalesce(nullif(?, ''), reason), duration_ms = ?, result_bytes = ?, error = ?
			WHERE id = ? AND outcome IS NULL`},
		{&s.keepResult, "INSERT INTO results (n, body) SELECT n, ? FROM calls WHERE id = ?"},
		{&s.insertRun, "INSERT INTO runs (" + runColumns + ") VALUES " + runRowSQL},
		{&s.insertRuns, "INSERT INTO runs (" + runColumns + ") VALUES " + strings.Repeat(runRowSQL+", ", runsAtOnce-1) + runRowSQL},
		{&s.finishRun, `UPDATE runs SET outcome = ?, rounds = ?, prompt_tokens = ?, completion_tokens = ?,
			cost_usd = ?, duration_ms = ?, error = ? WHERE n = ?`},
		{&s.addJob, "INSERT INTO jobs (id, time, writer, door, client, session, body) VALUES (?, ?, ?, ?, ?, ?, ?)"},
		{&s.adoptJob, "UPDATE jobs SET writer = ? WHERE id = ? AND outcome IS NULL AND writer = ?"},
		{&s.beginStep, `INSERT INTO steps (n, place, started, times)
			SELECT n, ?, ?, 1 FROM jobs WHERE id = ? AND outcome IS NULL AND writer = ?
			ON CONFLICT (n, place) DO UPDATE SET started = excluded.started, times = times + 1 WHERE fact IS NULL`},
		{&s.endStep, `UPDATE steps SET fact = ?, text = ? WHERE place = ? AND fact IS NULL
			AND n = (SELECT n FROM jobs WHERE id = ? AND writer = ?)`},
		{&s.endJob, "UPDATE jobs SET outcome = ?, ended = ? WHERE id = ? AND outcome IS NULL"},
	} {
		var err error
		if *p.to, err = conn.PrepareContext(ctx, p.sql); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func (s *statements) close() error {
	var errs []error
	for _, st := range []*sql.Stmt{
		s.begin, s.commit, s.rollback, s.beginCall, s.decideCall, s.finishCall, s.keepResult,
		s.insertRun, s.insertRuns, s.finishRun, s.addJob, s.adoptJob, s.beginStep, s.endStep, s.endJob,
	} {
		if st != nil {
			errs = append(errs, st.Close())
		}
	}
	return errors.Join(errs...)
}
