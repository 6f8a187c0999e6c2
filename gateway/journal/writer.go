package journal

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// write is the writer's goroutine: it alone uses conn and stmts. It ends when
// Close says so, after writing what is queued.
func (j *Journal) write() {
	defer close(j.done)
	k := newKeeper(j.conn, j.opts)
	keep := time.NewTimer(firstKeep)
	defer keep.Stop()
	for {
		select {
		case <-j.wake:
			j.gather()
			runtime.Gosched() // others that are about to record a call come in, too
			if k.wrote(j.flush()) {
				keep.Reset(0)
			}
		case <-keep.C:
			keep.Reset(k.step(context.Background()))
		case <-j.stop:
			j.flush()
			if err := settle(context.Background(), j.conn, j.presence.id); err != nil {
				j.opts.Logger.Error("closing the journal", "err", err)
			}
			return
		}
	}
}

// gather lets more come in, until somebody waits or it has been long enough.
func (j *Journal) gather() {
	t := time.NewTimer(linger)
	defer t.Stop()
	select {
	case <-j.soon:
		t.Reset(lingerCall)
	case <-j.hurry:
		return
	case <-t.C:
		return
	case <-j.stop:
		return
	}
	select {
	case <-j.hurry:
	case <-t.C:
	case <-j.stop:
	}
}

// batch is what one transaction writes.
type batch struct {
	ops      []op
	started  []startedRun
	finished []*runRow // those whose start is on disk already
}

// startedRun is a run to insert. ended is kept here because FinishRun may set
// the run's end while it is written.
type startedRun struct {
	*runRow
	ended bool
}

// take empties the queue.
func (j *Journal) take() batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := batch{ops: j.queue, started: make([]startedRun, 0, len(j.queue))}
	j.queue, j.writing = make([]op, 0, len(j.queue)), true
	for _, o := range b.ops {
		switch {
		case o.run == nil:
		case o.run.queued:
			o.run.queued = false
			b.started = append(b.started, startedRun{o.run, o.run.ended})
		default:
			b.finished = append(b.finished, o.run)
		}
	}
	j.room.Broadcast()
	return b
}

// flush writes what is queued in one transaction, tells those who wait, and
// returns how many rows that touched.
func (j *Journal) flush() int {
	b := j.take()
	defer j.rest()
	if len(b.ops) == 0 {
		return 0
	}
	errs := make([]error, len(b.ops))
	err := j.transact(b, errs)
	j.report(err)
	for i, o := range b.ops {
		if o.done != nil {
			o.done <- cmp.Or(err, errs[i])
		}
	}
	return len(b.ops)
}

func (j *Journal) rest() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writing = false
}

// report logs that writing fails or works again, not each time it does.
func (j *Journal) report(err error) {
	switch {
	case err != nil && !j.failing:
		j.opts.Logger.Error("writing the journal; runs are not recorded, and calls do not run, until it works again", "path", j.path, "err", err)
	case err == nil && j.failing:
		j.opts.Logger.Info("writing the journal works again", "path", j.path)
	}
	j.failing = err != nil
}

// transact writes b. What fails one call goes to errs; what fails them all is
// returned.
func (j *Journal) transact(b batch, errs []error) error {
	ctx := context.Background()
	if _, err := j.stmts.begin.ExecContext(ctx); err != nil {
		return err
	}
	err := j.writeBatch(ctx, b, errs)
	if err == nil {
		_, err = j.stmts.commit.ExecContext(ctx)
	}
	if err != nil {
		// SQLite may have rolled back by itself, as on a full disk.
		_, _ = j.stmts.rollback.ExecContext(ctx)
	}
	return err
}

func (j *Journal) writeBatch(ctx context.Context, b batch, errs []error) error {
	for runs := range slices.Chunk(b.started, runsAtOnce) {
		if err := j.insertRuns(ctx, runs); err != nil {
			return fmt.Errorf("inserting runs: %w", err)
		}
	}
	for _, r := range b.finished {
		if err := j.finishRun(ctx, r); err != nil {
			return fmt.Errorf("updating a run: %w", err)
		}
	}
	for i, o := range b.ops {
		if o.exec != nil {
			errs[i] = o.exec(ctx, j.stmts)
		}
	}
	return nil
}

// insertRuns inserts up to runsAtOnce runs and notes the rows of those that go on.
func (j *Journal) insertRuns(ctx context.Context, runs []startedRun) error {
	if len(runs) < runsAtOnce {
		for _, r := range runs {
			if err := j.insert(ctx, j.stmts.insertRun, r); err != nil {
				return err
			}
		}
		return nil
	}
	return j.insert(ctx, j.stmts.insertRuns, runs...)
}

func (j *Journal) insert(ctx context.Context, st *sql.Stmt, runs ...startedRun) error {
	args := make([]any, 0, len(runs)*strings.Count(runRowSQL, "?"))
	for _, r := range runs {
		args = j.appendRun(args, r)
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return err
	}
	last, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for i, r := range runs {
		// A transaction is alone, so the rows of one statement are consecutive.
		r.n = last - int64(len(runs)-1-i)
	}
	return nil
}

// appendRun appends the values of runColumns.
func (j *Journal) appendRun(args []any, r startedRun) []any {
	args = append(args, r.ID, r.Time.UnixNano(), j.presence.id, r.Door, r.Client, r.Session, r.CWD, r.Model)
	if !r.ended {
		return append(args, nil, 0, 0, 0, nil, 0, "")
	}
	return append(args, string(r.Outcome), r.Rounds, r.PromptTokens, r.CompletionTokens, cost(r.CostUSD), r.DurationMS, r.Error)
}

func (j *Journal) finishRun(ctx context.Context, r *runRow) error {
	_, err := j.stmts.finishRun.ExecContext(ctx, string(r.Outcome), r.Rounds, r.PromptTokens, r.CompletionTokens,
		cost(r.CostUSD), r.DurationMS, r.Error, r.n)
	return err
}

// cost is a price as a value to store, NULL when it is not known.
func cost(usd *float64) any {
	if usd == nil {
		return nil
	}
	return *usd
}
