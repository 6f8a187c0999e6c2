package journal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// A presence shows other processes that a writer of the record lives: a file
// named after the writer, locked for as long as the process does. The system
// drops the lock even on kill -9, and unlike a process id it is never reused.
type presence struct {
	id   string
	lock *flock.Flock
}

func presenceDir(path string) string { return path + ".writers" }

// enter makes a presence for a new writer of the record at path.
func enter(path string) (*presence, error) {
	dir := presenceDir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("marking this process as a writer: %w", err)
	}
	for {
		p := &presence{id: strings.ToLower(rand.Text()[:12])}
		p.lock = flock.New(filepath.Join(dir, p.id), flock.SetPermissions(0o600))
		locked, err := p.lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("marking this process as a writer: %w", err)
		}
		// A process that swept between our making the file and locking it took
		// it for a dead writer's: try another.
		if locked {
			if _, err := os.Stat(p.lock.Path()); err == nil {
				return p, nil
			}
		}
		_ = p.lock.Close()
	}
}

// leave ends the presence.
func (p *presence) leave() error {
	if err := errors.Join(os.Remove(p.lock.Path()), p.lock.Close()); err != nil {
		// Windows removes no open file.
		if err := os.Remove(p.lock.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// gone reports whether the writer with that id lives no more. A shared lock
// probes, so that two who look at a time do not take each other for the writer.
func gone(path, id string) bool {
	file := filepath.Join(presenceDir(path), id)
	if _, err := os.Stat(file); err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	probe := flock.New(file)
	locked, err := probe.TryRLock()
	defer func() { _ = probe.Close() }()
	return err == nil && locked
}

// The writers of calls and runs that go on, and of jobs. A job outlives its
// writer; what the others were at does not.
const (
	rowWriters = "SELECT writer FROM calls WHERE outcome IS NULL UNION SELECT writer FROM runs WHERE outcome IS NULL"
	jobWriters = "SELECT DISTINCT writer FROM jobs WHERE outcome IS NULL"
)

// goneAmong returns the ids of those writers that a query names and that are gone.
func goneAmong(ctx context.Context, q interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, path, writers string) ([]any, error) {
	rows, err := q.QueryContext(ctx, writers)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []any
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if gone(path, id) {
			ids = append(ids, id)
		}
	}
	return ids, rows.Err()
}

// settleGone gives the rows that dead writers left unfinished their outcome.
func settleGone(ctx context.Context, conn *sql.Conn, path string) error {
	ids, err := goneAmong(ctx, conn, path, rowWriters)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := settle(ctx, conn, id); err != nil {
			return err
		}
	}
	return sweep(presenceDir(path))
}

// settle makes "unknown" of whatever that writer left without an outcome.
func settle(ctx context.Context, conn *sql.Conn, writer any) error {
	for _, table := range []string{"calls", "runs"} {
		_, err := conn.ExecContext(ctx, "UPDATE "+table+" SET outcome = ?, error = CASE error WHEN '' THEN ? ELSE error END"+
			" WHERE outcome IS NULL AND writer = ?", string(Unknown), diedFirst, writer)
		if err != nil {
			return fmt.Errorf("settling unfinished %s: %w", table, err)
		}
	}
	return nil
}

const diedFirst = "the program ended before the outcome was known"

// sweep removes the files of dead writers.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		probe := flock.New(filepath.Join(dir, e.Name()))
		if locked, err := probe.TryRLock(); err == nil && locked {
			_ = os.Remove(probe.Path()) // while it is locked, so that nobody enters by it; Windows may refuse
		}
		_ = probe.Close()
	}
	return nil
}
