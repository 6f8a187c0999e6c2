package journal

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
)

// Session is what belongs together in the record, in brief: the runs and calls
// of one session of a client's, whatever door they came by, or one run, or one
// call, of a client that names no session.
type Session struct {
	ID   string // the client's; "" when it names none
	Run  string // without a session, the id of the run
	Call string // of a call with neither, its id

	Client      string    // as its hooks name it, else as an MCP client does, else as its requests do
	CWD         string    // the latest that the same doors tell
	Model       string    // of the latest run
	Began, Last time.Time // when the first row began, and the latest
	Ended       time.Time // when the last of it had ended that has

	Turns, Calls, Denied int
	Open                 int     // runs and calls that go on
	Outcome              Outcome // of the latest run; of a call that is alone, its own
	Error                string  // of the same
}

// Rows chooses the session's runs and calls.
func (s Session) Rows() Filter { return Filter{Session: s.ID, Run: s.Run, Call: s.Call} }

// SessionCursor is where a session stands in the order, for reading on from there.
type SessionCursor struct {
	time int64
	key  string
}

// SessionsPage returns the next sessions with a run or a call that f chooses, as
// CallsPage does: those first that have a row begun the latest. f is taken to be
// Deep.
func (r *Reader) SessionsPage(ctx context.Context, f Filter, after *SessionCursor) ([]Session, *SessionCursor, error) {
	page, next, err := r.sessionsPage(ctx, f, after)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the journal's sessions: %w", err)
	}
	return page, next, nil
}

func (r *Reader) sessionsPage(ctx context.Context, f Filter, after *SessionCursor) ([]Session, *SessionCursor, error) {
	r.catchUp(ctx)
	dead, err := goneAmong(ctx, r.db, r.path, rowWriters)
	if err != nil {
		return nil, nil, err
	}
	want := cmp.Or(f.Limit, pageRows)
	keys, last, err := r.sessionKeys(ctx, f, dead, after, want)
	if err != nil {
		return nil, nil, err
	}
	page, err := r.summaries(ctx, keys, dead)
	if err != nil || len(keys) < want {
		return page, nil, err
	}
	return page, &last, nil
}

// The kinds of sessions, which their keys begin with: by the id that a client
// gives, or by the row of a run or a call.
const ofClient, ofRun, ofCall = 's', 'r', 'c'

// sessionKeys returns the keys of the next sessions, and where the last stands.
func (r *Reader) sessionKeys(ctx context.Context, f Filter, dead []any, after *SessionCursor, want int) (keys []string, last SessionCursor, err error) {
	text, args := keysSQL(f, dead, after, want)
	rows, err := r.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, last, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&last.key, &last.time); err != nil {
			return nil, last, err
		}
		keys = append(keys, last.key)
	}
	return keys, last, rows.Err()
}

func keysSQL(f Filter, dead []any, after *SessionCursor, want int) (string, []any) {
	f.Limit, f.OldestFirst, f.Deep = 0, false, false
	all := f == Filter{}
	var s statement
	s.add(`SELECT key, max(last) FROM (
		SELECT 's' || session AS key, max(time) AS last FROM runs WHERE session <> '' GROUP BY session
		UNION ALL SELECT 's' || session, max(time) FROM calls WHERE session <> '' GROUP BY session`)
	for _, kind := range []string{"'r' || n AS key, time FROM runs WHERE session = ''", "'c' || n AS key, time FROM calls WHERE session = '' AND run = ''"} {
		s.add(" UNION ALL SELECT key, time FROM (SELECT " + kind)
		if after != nil {
			s.where("time <= ? AND (time < ? OR key < ?)", after.time, after.time, after.key)
		}
		if all { // there may be very many, and no more than a page of them can be on it
			s.add(" ORDER BY time DESC, key DESC LIMIT ?", want)
		}
		s.add(")")
	}
	s.add(") WHERE 1")
	if !all {
		f.Deep = true
		s.add(" AND key IN (SELECT CASE session WHEN '' THEN 'r' || n ELSE 's' || session END FROM ")
		chosen(&s, runQuery(), f, dead, "1")
		s.add(" UNION SELECT CASE session WHEN '' THEN 'c' || n ELSE 's' || session END FROM ")
		chosen(&s, callQuery(), f, dead, "(session <> '' OR run = '')")
		s.add(")")
	}
	s.add(" GROUP BY key")
	if after != nil {
		s.add(" HAVING (max(last), key) < (?, ?)", after.time, after.key)
	}
	s.add(" ORDER BY max(last) DESC, key DESC LIMIT ?", want)
	return s.text.String(), s.args
}

// chosen adds the rows of a kind that f chooses and for which a condition holds.
func chosen(s *statement, q query, f Filter, dead []any, condition string) {
	q.shown(s, dead)
	s.add(" WHERE " + condition)
	q.filter(s, f)
}

// summaries returns the sessions of keys, in their order.
func (r *Reader) summaries(ctx context.Context, keys []string, dead []any) ([]Session, error) {
	page := make([]Session, len(keys))
	at := map[string]*tally{}
	values := map[byte][]any{}
	for i, key := range keys {
		at[key] = &tally{Session: &page[i]}
		values[key[0]] = append(values[key[0]], key[1:])
		if key[0] == ofClient {
			page[i].ID = key[1:]
		}
	}
	for _, p := range []portion{
		{runQuery(), "'s' || session", "session", values[ofClient]},
		{callQuery(), "'s' || session", "session", values[ofClient]},
		{runQuery(), "'r' || n", "n", values[ofRun]},
		{callQuery(), "'c' || n", "n", values[ofCall]},
	} {
		if err := r.tallyUp(ctx, p, dead, at); err != nil {
			return nil, err
		}
	}
	byRun := map[string]*tally{}
	var runs []any
	for _, t := range at {
		if t.Run != "" {
			byRun[t.Run] = t
			runs = append(runs, t.Run)
		}
	}
	err := r.tallyUp(ctx, portion{callQuery(), "run", "run", runs}, dead, byRun)
	return page, err
}

// tally is a session as it is added up.
type tally struct {
	*Session
	client, cwd string // with what says how much they count before them
}

// portion is rows of one kind, added up by a key: those with a value in a column.
type portion struct {
	query  query
	key    string
	column string
	values []any
}

// sumsSQL are what is added up of the rows of one key. A text that begins with a
// number of a fixed length is the greatest where that is.
const sumsSQL = `, min(id), count(*), min(time), max(time), max(time + duration_ms * 1000000), sum(ended = ''), sum(ended = 'denied'),
	max(CASE client WHEN '' THEN '' ELSE ` + rankSQL + ` || client END),
	max(CASE cwd WHEN '' THEN '' ELSE ` + rankSQL + ` || printf('%020d', time) || cwd END),
	max(printf('%020d', time) || model || char(31) || ended || char(31) || failure) FROM `

// rankSQL is how well the door of a row knows the client, in one digit: hooks and
// MCP clients say who they are, and where they work.
const rankSQL = `CASE door WHEN 'hook' THEN '2' WHEN 'mcp' THEN '1' ELSE '0' END`

const timeDigits = 20

func (r *Reader) tallyUp(ctx context.Context, p portion, dead []any, at map[string]*tally) error {
	if len(p.values) == 0 {
		return nil
	}
	var s statement
	s.add("SELECT " + p.key + sumsSQL)
	p.query.shown(&s, dead)
	s.add(" WHERE "+p.column+" IN ("+placeholders(len(p.values))+") GROUP BY 1", p.values...)
	rows, err := r.db.QueryContext(ctx, s.text.String(), s.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key, id, client, cwd, latest string
		var n, open, denied int
		var began, last, over int64
		if err := rows.Scan(&key, &id, &n, &began, &last, &over, &open, &denied, &client, &cwd, &latest); err != nil {
			return err
		}
		t := at[key]
		if t == nil {
			continue // it went on while we read
		}
		t.span(nanos(began), nanos(last), nanos(over))
		t.Open += open
		t.Denied += denied
		t.name(client, cwd)
		t.count(p, id, n, latest)
	}
	return rows.Err()
}

// span widens the session's time.
func (t *tally) span(began, last, over time.Time) {
	if t.Began.IsZero() || began.Before(t.Began) {
		t.Began = began
	}
	if last.After(t.Last) {
		t.Last = last
	}
	if over.After(t.Ended) {
		t.Ended = over
	}
}

// name takes over a client and a folder, if they count for more.
func (t *tally) name(client, cwd string) {
	if t.client = max(t.client, client); t.client != "" {
		t.Client = t.client[1:]
	}
	if t.cwd = max(t.cwd, cwd); t.cwd != "" {
		t.CWD = t.cwd[1+timeDigits:]
	}
}

// count adds n rows of a kind, whose id and latest state are of use where it is
// one row, or a run.
func (t *tally) count(p portion, id string, n int, latest string) {
	fields := strings.SplitN(latest[timeDigits:], "\x1f", 3)
	if p.query.table == "calls" {
		t.Calls += n
		if p.column == "n" {
			t.Call, t.Outcome, t.Error = id, Outcome(fields[1]), fields[2]
		}
		return
	}
	t.Turns += n
	t.Model, t.Outcome, t.Error = fields[0], Outcome(fields[1]), fields[2]
	if p.column == "n" {
		t.Run = id
	}
}
