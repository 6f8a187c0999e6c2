package journal

import (
	"context"
	"database/sql"
	"log/slog"
	"math"
	"strconv"
	"time"
)

const (
	firstKeep = time.Minute // after Open: nothing at start-up that can wait
	nextKeep  = 24 * time.Hour
	// pause lies between two steps of a pruning, so that it never holds up a call for long.
	pause = 20 * time.Millisecond
	// sliceRuns, sliceCalls, sliceJobs and slicePages bound what one step deletes and
	// gives back; a call may have a result of megabytes, and so may a job's steps.
	sliceRuns, sliceCalls, sliceJobs, slicePages = 2000, 100, 10, 500
	// spareRuns is how many runs stay before the first call goes for its size:
	// what tools did is worth more than that a request was forwarded.
	spareRuns = 10_000
	// checkEvery is after how many rows the size is looked at out of turn.
	checkEvery = 50_000
)

// keeper keeps the record within its age and size, a small step at a time. It
// runs on the writer's goroutine.
type keeper struct {
	conn     *sql.Conn
	log      *slog.Logger
	now      func() time.Time
	keepDays int
	maxBytes int64
	written  int // rows since the size was last looked at
}

func newKeeper(conn *sql.Conn, opts Options) *keeper {
	return &keeper{conn: conn, log: opts.Logger, now: opts.Now, keepDays: opts.KeepDays, maxBytes: int64(opts.MaxMB) << 20}
}

// wrote counts rows and reports whether a step is due because of them.
func (k *keeper) wrote(rows int) bool {
	if k.maxBytes <= 0 {
		return false
	}
	k.written += rows
	if k.written < checkEvery {
		return false
	}
	k.written = 0
	return true
}

// step does one small piece of work and returns when the next is due.
func (k *keeper) step(ctx context.Context) time.Duration {
	more, err := k.prune(ctx)
	if err != nil {
		k.log.Error("pruning the journal", "err", err)
		return nextKeep
	}
	if more {
		return pause
	}
	return nextKeep
}

// prune deletes one slice of what is too old or too much, or gives free pages
// back, and reports whether there may be more to do.
func (k *keeper) prune(ctx context.Context) (bool, error) {
	if k.keepDays > 0 {
		before := k.now().AddDate(0, 0, -k.keepDays).UnixNano()
		if n, err := k.deleteBefore(ctx, before); n > 0 || err != nil {
			return true, err
		}
	}
	size, free, err := k.measure(ctx)
	if err != nil {
		return false, err
	}
	if k.maxBytes > 0 && size > k.maxBytes {
		n, err := k.deleteOldest(ctx)
		return n > 0, err
	}
	if free == 0 {
		return false, nil
	}
	_, err = k.conn.ExecContext(ctx, "PRAGMA incremental_vacuum("+strconv.Itoa(slicePages)+")")
	return free > slicePages, err
}

// measure returns the bytes in use and the number of free pages.
func (k *keeper) measure(ctx context.Context) (used, free int64, err error) {
	var pages, size int64
	err = k.conn.QueryRowContext(ctx,
		"SELECT page_count, page_size, freelist_count FROM pragma_page_count, pragma_page_size, pragma_freelist_count").
		Scan(&pages, &size, &free)
	return (pages - free) * size, free, err
}

func (k *keeper) deleteBefore(ctx context.Context, before int64) (int64, error) {
	n, err := k.delete(ctx, "runs", before, sliceRuns)
	if n > 0 || err != nil {
		return n, err
	}
	n, err = k.delete(ctx, "jobs", before, sliceJobs)
	if n > 0 || err != nil {
		return n, err
	}
	return k.delete(ctx, "calls", before, sliceCalls)
}

// deleteOldest deletes a slice of runs while there are many, then calls and jobs,
// then the last runs.
func (k *keeper) deleteOldest(ctx context.Context) (int64, error) {
	var many bool
	err := k.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs LIMIT 1 OFFSET ?)", spareRuns).Scan(&many)
	if err != nil {
		return 0, err
	}
	if !many {
		if n, err := k.deleteOldestWork(ctx); n > 0 || err != nil {
			return n, err
		}
	}
	return k.delete(ctx, "runs", math.MaxInt64, sliceRuns)
}

// deleteOldestWork deletes a slice of calls, or of jobs where the oldest of those
// is older.
func (k *keeper) deleteOldestWork(ctx context.Context) (int64, error) {
	var older sql.NullBool // NULL when there is no such job
	err := k.conn.QueryRowContext(ctx, `SELECT (SELECT min(time) FROM jobs WHERE outcome IS NOT NULL) <
		coalesce((SELECT min(time) FROM calls WHERE outcome IS NOT NULL), ?)`, int64(math.MaxInt64)).Scan(&older)
	if err != nil {
		return 0, err
	}
	if older.Bool {
		return k.delete(ctx, "jobs", math.MaxInt64, sliceJobs)
	}
	return k.delete(ctx, "calls", math.MaxInt64, sliceCalls)
}

// delete deletes the oldest rows of a table that are from before a time and do
// not go on, at most limit. Results go with their calls, and steps with their jobs.
func (k *keeper) delete(ctx context.Context, table string, before int64, limit int) (int64, error) {
	tx, err := k.conn.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	victims := "n IN (SELECT n FROM " + table + " WHERE outcome IS NOT NULL AND time < ? ORDER BY time, n LIMIT ?)"
	if parts := map[string]string{"calls": "results", "jobs": "steps"}[table]; parts != "" {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+parts+" WHERE "+victims, before, limit); err != nil {
			return 0, err
		}
	}
	res, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE "+victims, before, limit)
	if err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
