package journal

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"pointsman/approvals"
)

// pageRows is how many rows are read at a time. Between pages nothing is held,
// so that a slow consumer never keeps the write-ahead log from shrinking.
const pageRows = 200

// Filter chooses rows. The zero Filter is all of them, newest first; a field
// that is empty chooses nothing.
type Filter struct {
	Since, Until time.Time // Since included, Until not
	Server       string
	Tool         string // the server's own name, or the offered one
	Outcome      Outcome
	Run          string
	Session      string // what a client's runs and calls have in common, whatever their door
	Call         string // the call of that id; of runs, the one that made it
	Text         string // somewhere in names, arguments, reason or error; any case of ASCII letters
	Limit        int    // zero: no limit
	OldestFirst  bool
	// Deep lets a run be chosen for one of its calls, too: for a call that has
	// Server, Tool, Outcome and Text. Failed is then any error that a run ended
	// with.
	Deep bool
}

// Reader reads the record while its writers go on. It is safe for concurrent
// use. A row that a dead process left without an outcome reads as "unknown".
type Reader struct {
	path string
	db   *sql.DB
	// written waits until what was recorded before in this process can be read; nil
	// when there is nothing to wait for.
	written func(ctx context.Context)
}

// OpenReader opens the record at path for reading, in any process. When there
// is none yet the error is fs.ErrNotExist.
func OpenReader(path string) (*Reader, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	r, err := newReader(path)
	if err != nil {
		return nil, fmt.Errorf("opening the journal %q: %w", path, err)
	}
	v, err := version(context.Background(), r.db)
	switch {
	case err == nil && v == 0:
		err = errors.New("it is no journal")
	case err == nil && v < len(migrations): // nobody has written since this program was updated
		err = update(path)
	}
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("opening the journal %q: %w", path, err)
	}
	return r, nil
}

// newReader connects with the first query.
func newReader(path string) (*Reader, error) {
	db, err := sql.Open("sqlite", dsn(path, "mode=rw", "_query_only=1"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(2)
	db.SetConnMaxIdleTime(30 * time.Second)
	return &Reader{path: path, db: db}, nil
}

// Close ends reading. A Journal closes its own Reader.
func (r *Reader) Close() error { return r.db.Close() }

// catchUp has what was recorded before be there to be read.
func (r *Reader) catchUp(ctx context.Context) {
	if r.written != nil {
		r.written(ctx)
	}
}

// callQuery and runQuery are how the two kinds of rows are read.
func callQuery() query {
	return query{
		table: "calls",
		columns: `n, time, id, door, client, session, cwd, run, round, model, server, tool, offered, definition, arguments,
			edited, class, risky, evidence, approved, approver, rule, reason, duration_ms, result_bytes`,
		text: callText, outcome: "ended",
	}
}

func runQuery() query {
	return query{
		table:   "runs",
		columns: "n, time, id, door, client, session, cwd, model, rounds, prompt_tokens, completion_tokens, cost_usd, duration_ms",
		text:    "door client model error",
		outcome: "ended",
	}
}

// callText names the columns of a call that Filter.Text looks into.
const callText = "door client model server tool offered arguments reason error"

// Calls returns the calls that f chooses. An error ends the sequence.
func (r *Reader) Calls(ctx context.Context, f Filter) iter.Seq2[Call, error] {
	return pages(ctx, r, f, callQuery(), scanCall)
}

// Runs returns the runs that f chooses; Server and Tool choose runs in which
// such a call was made.
func (r *Reader) Runs(ctx context.Context, f Filter) iter.Seq2[Run, error] {
	return pages(ctx, r, f, runQuery(), scanRun)
}

// CallsPage returns the next calls that f chooses, at most f.Limit of them (200
// when that is zero), after a place where an earlier page ended; nil is the
// beginning. The place returned is nil when there are no more.
func (r *Reader) CallsPage(ctx context.Context, f Filter, after *Cursor) ([]Call, *Cursor, error) {
	return onePage(ctx, r, f, callQuery(), after, scanCall)
}

// RunsPage returns the next runs that f chooses, as CallsPage does.
func (r *Reader) RunsPage(ctx context.Context, f Filter, after *Cursor) ([]Run, *Cursor, error) {
	return onePage(ctx, r, f, runQuery(), after, scanRun)
}

func onePage[T any](ctx context.Context, r *Reader, f Filter, q query, after *Cursor, scan func(scanner) (T, Cursor, error)) ([]T, *Cursor, error) {
	want := cmp.Or(f.Limit, pageRows)
	page, last, err := readPage(ctx, r, f, q, after, want, scan)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the journal's %s: %w", q.table, err)
	}
	if len(page) < want {
		return page, nil, nil
	}
	return page, &last, nil
}

// Result returns what is kept of a call's result, "" when nothing is.
func (r *Reader) Result(ctx context.Context, id string) (string, error) {
	r.catchUp(ctx)
	var body string
	err := r.db.QueryRowContext(ctx,
		"SELECT coalesce((SELECT body FROM results JOIN calls USING (n) WHERE id = ?), '')", id).Scan(&body)
	if err != nil {
		return "", fmt.Errorf("reading the result of call %q: %w", id, err)
	}
	return body, nil
}

// query is a kind of rows to read.
type query struct {
	table   string
	columns string // n and time first; outcome and error are added at the end
	text    string // the columns that Filter.Text looks into
	outcome string // the column that Filter.Outcome looks into
}

// Cursor is where a row stands in the order, for reading on from there.
type Cursor struct{ time, n int64 }

// scanner reads a row into dest: what the kind selects, in its order.
type scanner func(dest ...any) error

// pages yields the rows of q page by page.
func pages[T any](ctx context.Context, r *Reader, f Filter, q query, scan func(scanner) (T, Cursor, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		var after *Cursor
		for left := f.Limit; ; {
			want := pageRows
			if f.Limit > 0 {
				want = min(want, left)
			}
			page, last, err := readPage(ctx, r, f, q, after, want, scan)
			if err != nil {
				yield(zero, fmt.Errorf("reading the journal's %s: %w", q.table, err))
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			left -= len(page)
			if len(page) < want || f.Limit > 0 && left == 0 {
				return
			}
			after = &last
		}
	}
}

func readPage[T any](ctx context.Context, r *Reader, f Filter, q query, after *Cursor, want int, scan func(scanner) (T, Cursor, error)) (page []T, last Cursor, err error) {
	r.catchUp(ctx)
	dead, err := goneAmong(ctx, r.db, r.path, rowWriters)
	if err != nil {
		return nil, last, err
	}
	text, args := q.sql(f, dead, after, want)
	rows, err := r.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, last, err
	}
	defer rows.Close()
	for rows.Next() {
		var row T
		if row, last, err = scan(rows.Scan); err != nil {
			return nil, last, err
		}
		page = append(page, row)
	}
	return page, last, rows.Err()
}

// sql returns the statement for one page, and its arguments. dead are the
// writers whose unfinished rows are unknown by now.
func (q query) sql(f Filter, dead []any, after *Cursor, want int) (string, []any) {
	var s statement
	s.add("SELECT " + q.columns + ", ended, failure FROM ")
	q.shown(&s, dead)
	s.add(" WHERE 1")
	q.filter(&s, f)
	op, dir := "<", "DESC"
	if f.OldestFirst {
		op, dir = ">", "ASC"
	}
	if after != nil {
		s.where("(time, n) "+op+" (?, ?)", after.time, after.n)
	}
	s.add(" ORDER BY time "+dir+", n "+dir+" LIMIT ?", want)
	return s.text.String(), s.args
}

// shown adds the table as it is seen now: with ended and failure, which tell what
// became of the rows that the dead have left.
func (q query) shown(s *statement, dead []any) {
	orphan := "outcome IS NULL AND writer IN (" + placeholders(len(dead)) + ")"
	s.add("(SELECT *, CASE WHEN "+orphan+" THEN 'unknown' ELSE coalesce(outcome, '') END AS ended", dead...)
	s.add(", CASE WHEN error = '' AND "+orphan+" THEN '"+diedFirst+"' ELSE error END AS failure", dead...)
	s.add(" FROM " + q.table + ")")
}

// filter adds what Filter says of the rows of the kind.
func (q query) filter(s *statement, f Filter) {
	if !f.Since.IsZero() {
		s.where("time >= ?", f.Since.UnixNano())
	}
	if !f.Until.IsZero() {
		s.where("time < ?", f.Until.UnixNano())
	}
	if f.Deep && q.table == "runs" && (f.Outcome != "" || f.Text != "") {
		q.chooseDeep(s, f)
	} else {
		q.choose(s, f)
	}
}

// chooseDeep adds what Filter says of a run, or of one of its calls.
func (q query) chooseDeep(s *statement, f Filter) {
	s.add(" AND ((1")
	if f.Outcome == Failed {
		s.add(" AND ended NOT IN ('', 'ok', 'cancelled', 'unknown') AND ended NOT LIKE 'stopped%'")
		shallow := f
		shallow.Outcome = ""
		q.choose(s, shallow)
	} else {
		q.choose(s, f)
	}
	s.add(") OR id IN (SELECT run FROM calls WHERE 1")
	query{table: "calls", text: callText, outcome: "outcome"}.choose(s, f)
	s.add("))")
}

// choose adds what Filter says of a row: of a call itself, or of a run and the
// calls it made.
func (q query) choose(s *statement, f Filter) {
	if f.Outcome != "" {
		s.where(q.outcome+" = ?", string(f.Outcome))
	}
	if f.Text != "" {
		columns := strings.ReplaceAll(q.text, " ", " || char(10) || ")
		s.where("("+columns+`) LIKE ? ESCAPE '\'`, "%"+likeEscaper.Replace(f.Text)+"%")
	}
	if f.Session != "" {
		s.where("session = ?", f.Session)
	}
	run := "run"
	if q.table == "runs" {
		run = "id"
	}
	if f.Run != "" {
		s.where(run+" = ?", f.Run)
	}
	if q.table == "calls" {
		chooseCall(s, f)
	} else if f.Server != "" || f.Tool != "" || f.Call != "" {
		s.add(" AND id IN (SELECT run FROM calls WHERE 1")
		chooseCall(s, f)
		s.add(")")
	}
}

func chooseCall(s *statement, f Filter) {
	if f.Call != "" {
		s.where("id = ?", f.Call)
	}
	if f.Server != "" {
		s.where("server = ?", f.Server)
	}
	if f.Tool != "" {
		s.where("(tool = ? OR offered = ?)", f.Tool, f.Tool)
	}
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// statement is SQL with its arguments as they come.
type statement struct {
	text strings.Builder
	args []any
}

func (s *statement) add(text string, args ...any) {
	s.text.WriteString(text)
	s.args = append(s.args, args...)
}

func (s *statement) where(cond string, args ...any) { s.add(" AND "+cond, args...) }

func placeholders(n int) string {
	return strings.TrimSuffix(strings.Repeat("?, ", n), ", ")
}

func scanCall(scan scanner) (Call, Cursor, error) {
	var c Call
	var at Cursor
	var arguments, evidence, class, outcome string
	var approved sql.NullBool
	err := scan(&at.n, &at.time, &c.ID, &c.Door, &c.Client, &c.Session, &c.CWD, &c.Run, &c.Round, &c.Model, &c.Server, &c.Tool,
		&c.Offered, &c.Definition, &arguments, &c.Edited, &class, &c.Risky, &evidence, &approved, &c.Approver, &c.Rule,
		&c.Reason, &c.DurationMS, &c.ResultBytes, &outcome, &c.Error)
	if err != nil {
		return c, at, err
	}
	c.Time, c.Arguments = nanos(at.time), json.RawMessage(arguments)
	c.Class, c.Outcome = approvals.Class(class), Outcome(outcome)
	if approved.Valid {
		c.Approved = &approved.Bool
	}
	if err := json.Unmarshal([]byte(evidence), &c.Evidence); err != nil {
		c.Evidence = []string{evidence} // redaction may have cut across its JSON
	}
	return c, at, nil
}

func scanRun(scan scanner) (Run, Cursor, error) {
	var r Run
	var at Cursor
	var outcome string
	var usd sql.NullFloat64
	err := scan(&at.n, &at.time, &r.ID, &r.Door, &r.Client, &r.Session, &r.CWD, &r.Model, &r.Rounds,
		&r.PromptTokens, &r.CompletionTokens, &usd, &r.DurationMS, &outcome, &r.Error)
	if err != nil {
		return r, at, err
	}
	r.Time, r.Outcome = nanos(at.time), Outcome(outcome)
	if usd.Valid {
		r.CostUSD = &usd.Float64
	}
	return r, at, nil
}
