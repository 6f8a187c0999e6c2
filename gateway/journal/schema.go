package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite" // also registers the driver
	sqlite3 "modernc.org/sqlite/lib"
)

// migrations bring a file from one version (PRAGMA user_version) to the next.
// Those that were released never change; new ones are appended.
//
// outcome is NULL while something goes on, so that the partial indexes find
// what a dead process left behind without looking at the rest. Times are
// nanoseconds since 1970.
var migrations = []string{`
CREATE TABLE calls (
	n            INTEGER PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	time         INTEGER NOT NULL,
	writer       TEXT NOT NULL,
	door         TEXT NOT NULL,
	client       TEXT NOT NULL,
	session      TEXT NOT NULL,
	run          TEXT NOT NULL,
	round        INTEGER NOT NULL,
	model        TEXT NOT NULL,
	server       TEXT NOT NULL,
	tool         TEXT NOT NULL,
	offered      TEXT NOT NULL,
	definition   TEXT NOT NULL,
	arguments    TEXT NOT NULL,
	edited       INTEGER NOT NULL,
	class        TEXT NOT NULL,
	risky        INTEGER NOT NULL,
	evidence     TEXT NOT NULL,
	outcome      TEXT,
	approved     INTEGER,
	approver     TEXT NOT NULL DEFAULT '',
	rule         TEXT NOT NULL DEFAULT '',
	reason       TEXT NOT NULL DEFAULT '',
	duration_ms  INTEGER NOT NULL DEFAULT 0,
	result_bytes INTEGER NOT NULL DEFAULT 0,
	error        TEXT NOT NULL DEFAULT ''
);
CREATE INDEX calls_time ON calls (time);
CREATE INDEX calls_run ON calls (run);
CREATE INDEX calls_open ON calls (writer) WHERE outcome IS NULL;
CREATE TABLE results (
	n    INTEGER PRIMARY KEY, -- the call's
	body TEXT NOT NULL
);
CREATE TABLE runs (
	n                 INTEGER PRIMARY KEY,
	id                TEXT NOT NULL,
	time              INTEGER NOT NULL,
	writer            TEXT NOT NULL,
	door              TEXT NOT NULL,
	client            TEXT NOT NULL,
	session           TEXT NOT NULL,
	model             TEXT NOT NULL,
	outcome           TEXT,
	rounds            INTEGER NOT NULL,
	prompt_tokens     INTEGER NOT NULL,
	completion_tokens INTEGER NOT NULL,
	cost_usd          REAL,
	duration_ms       INTEGER NOT NULL,
	error             TEXT NOT NULL
);
CREATE INDEX runs_time ON runs (time);
CREATE INDEX runs_open ON runs (writer) WHERE outcome IS NULL;
`, `
CREATE TABLE jobs (
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	time    INTEGER NOT NULL,
	writer  TEXT NOT NULL, -- whose process is to do it
	door    TEXT NOT NULL,
	client  TEXT NOT NULL,
	session TEXT NOT NULL,
	body    TEXT NOT NULL,
	outcome TEXT,
	ended   INTEGER
);
CREATE INDEX jobs_time ON jobs (time);
CREATE INDEX jobs_open ON jobs (writer) WHERE outcome IS NULL;
CREATE TABLE steps (
	n       INTEGER NOT NULL, -- the job's
	place   INTEGER NOT NULL,
	started INTEGER NOT NULL,
	times   INTEGER NOT NULL,
	fact    TEXT,             -- NULL until its end is known
	text    TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (n, place)
) WITHOUT ROWID;
`, `
ALTER TABLE calls ADD COLUMN cwd TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN cwd TEXT NOT NULL DEFAULT '';
CREATE INDEX calls_session ON calls (session, time) WHERE session <> '';
CREATE INDEX calls_alone ON calls (time) WHERE session = '' AND run = '';
CREATE INDEX runs_session ON runs (session, time);
`}

// openSound opens the file for writing and brings it to the newest version. A
// damaged one is moved aside first; then the second result says where to.
func openSound(ctx context.Context, path string, opts Options) (*sql.DB, string, error) {
	db, err := openPatiently(ctx, path)
	if err == nil || !damaged(err) {
		return db, "", err
	}
	aside := path + ".corrupt-" + opts.Now().UTC().Format("20060102T150405.000")
	opts.Logger.Error("the journal is damaged; it is kept and a new one begun", "path", path, "kept", aside, "err", err)
	// The write-ahead log belongs to the damaged file, and would be applied to
	// the new one.
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", fmt.Errorf("moving the damaged file aside: %w", err)
		}
	}
	db, err = openPatiently(ctx, path)
	return db, aside, err
}

// openPatience is how long the first opening of a file may wait for another's.
const openPatience = 10 * time.Second

// openPatiently opens the file, again while it is locked: of two processes that
// make a new file's write-ahead log at once, SQLite refuses one without the wait
// that every other lock gets.
func openPatiently(ctx context.Context, path string) (*sql.DB, error) {
	for deadline := time.Now().Add(openPatience); ; {
		db, err := openFile(ctx, path)
		if !locked(err) || time.Now().After(deadline) {
			return db, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// locked reports whether err says that another connection has the file.
func locked(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

func openFile(ctx context.Context, path string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making its directory: %w", err)
	}
	// SQLite would create it readable for everyone; its side files take its mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path,
		"_auto_vacuum=INCREMENTAL", "_journal_mode=WAL", "_synchronous=NORMAL", "_txlock=immediate",
		"_pragma=wal_autocheckpoint(2000)", "_pragma=journal_size_limit(16777216)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// update brings a record to the newest version.
func update(path string) error {
	db, err := openPatiently(context.Background(), path)
	if err != nil {
		return err
	}
	return db.Close()
}

// dsn names the file to the driver. Each connection waits for another process's
// lock up to 10 s.
func dsn(path string, params ...string) string {
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		p = "/" + p
	}
	u := url.URL{Scheme: "file", Path: p, OmitHost: true}
	return u.String() + "?_busy_timeout=10000&_dqs=0&" + strings.Join(params, "&")
}

func migrate(ctx context.Context, db *sql.DB) error {
	if v, err := version(ctx, db); err != nil || v == len(migrations) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	// Read again: another process may have migrated while we waited for the lock.
	v, err := version(ctx, tx)
	if err != nil {
		return err
	}
	for ; v < len(migrations); v++ {
		if _, err := tx.ExecContext(ctx, migrations[v]); err != nil {
			return fmt.Errorf("migrating it from version %d: %w", v, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v)); err != nil {
		return err
	}
	return tx.Commit()
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the file's version, or an error when a newer program wrote it.
func version(ctx context.Context, q queryer) (int, error) {
	var v int
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v); err != nil {
		return 0, err
	}
	if v > len(migrations) {
		return 0, fmt.Errorf("a newer version of this program wrote it (format %d, this one knows %d): update, or move the file away", v, len(migrations))
	}
	return v, nil
}

// damaged reports whether err says that the file's content is at fault.
func damaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	default:
		return false
	}
}

// nanos is the time that a stored number stands for.
func nanos(n int64) time.Time { return time.Unix(0, n).UTC() }
