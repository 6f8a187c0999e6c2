package diagnostics

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// The bounds of a Query.
const (
	DefaultMax = 100
	MaxMax     = 500
	MaxWait    = time.Minute
)

// Query says what to read.
type Query struct {
	Server string
	Cursor string        // of an earlier Page; "": from the oldest record that is kept
	Max    int           // records; zero: DefaultMax
	Wait   time.Duration // how long to wait for a record when there is none
	Level  Level         // leave out what is less grave; "": nothing
}

// Page is what a read returns. Its cursor is always set.
type Page struct {
	Entries      []Entry `json:"entries"`
	Cursor       string  `json:"cursor"` // where the next read begins
	CursorStatus string  `json:"cursorStatus"`
	DroppedCount int64   `json:"droppedCount"` // records between the cursor and the first that is kept
	Level        Level   `json:"level"`        // how much is kept; off: nothing
}

// The states of the cursor that a read began with.
const (
	CursorOK      = "ok"
	CursorExpired = "expired" // records after it are not kept any more
)

// A QueryError says that a query was refused.
type QueryError struct {
	Param  string // server, cursor, max, waitMs or level
	Reason string
}

func (e *QueryError) Error() string {
	return fmt.Sprintf("reading diagnostics: %s: %s", e.Param, e.Reason)
}

// ParseQuery reads a query as a URL has it: server, cursor, max, waitMs, level.
// The error is a *QueryError.
func ParseQuery(v url.Values) (Query, error) {
	q := Query{Server: v.Get("server"), Cursor: v.Get("cursor"), Level: Level(v.Get("level"))}
	for name := range v {
		if !slices.Contains([]string{"server", "cursor", "max", "waitMs", "level"}, name) {
			return Query{}, &QueryError{name, "is not known; there are server, cursor, max, waitMs and level"}
		}
	}
	var wait int
	for name, to := range map[string]*int{"max": &q.Max, "waitMs": &wait} {
		if text := v.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				return Query{}, &QueryError{name, fmt.Sprintf("%q is not a whole number", text)}
			}
			if *to = n; name == "max" && n == 0 {
				*to = -1 // to be refused: zero would be the default
			}
		}
	}
	q.Wait = time.Duration(min(max(int64(wait), -1), 2*MaxWait.Milliseconds())) * time.Millisecond
	return q, q.check()
}

// Values writes the query as a URL has it.
func (q Query) Values() url.Values {
	v := url.Values{"server": {q.Server}}
	for name, text := range map[string]string{"cursor": q.Cursor, "level": string(q.Level)} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if q.Max != 0 {
		v.Set("max", strconv.Itoa(q.Max))
	}
	if q.Wait != 0 {
		v.Set("waitMs", strconv.FormatInt(q.Wait.Milliseconds(), 10))
	}
	return v
}

func (q Query) check() error {
	switch {
	case q.Server == "":
		return &QueryError{"server", "name the MCP server"}
	case q.Max < 0 || q.Max > MaxMax:
		return &QueryError{"max", fmt.Sprintf("must be from 1 to %d", MaxMax)}
	case q.Wait < 0 || q.Wait > MaxWait:
		return &QueryError{"waitMs", fmt.Sprintf("must be from 0 to %d", MaxWait.Milliseconds())}
	case q.Level != "" && (q.Level == Off || !slices.Contains(levels[:], q.Level)):
		return &QueryError{"level", fmt.Sprintf("must be one of %v", levels[1:])}
	}
	return nil
}

// Read returns the records after the query's cursor. When there is none, it
// waits as long as the query says, or until ctx ends, or the Log is turned off.
// The error is a *QueryError.
func (l *Log) Read(ctx context.Context, q Query) (Page, error) {
	if err := q.check(); err != nil {
		return Page{}, err
	}
	if q.Max == 0 {
		q.Max = DefaultMax
	}
	ctx, cancel := context.WithTimeout(ctx, q.Wait)
	defer cancel()
	for {
		page, wake, err := l.look(q)
		if err != nil || len(page.Entries) > 0 || page.CursorStatus == CursorExpired || page.Level == Off || ctx.Err() != nil {
			return page, err
		}
		q.Cursor = page.Cursor // past what was left out
		select {
		case <-wake:
		case <-ctx.Done():
			return page, nil
		}
	}
}

// look returns what there is now, and what is closed when there is more.
func (l *Log) look(q Query) (Page, <-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.ringLocked(q.Server)
	page := Page{Entries: []Entry{}, CursorStatus: CursorOK, Level: l.Level()}
	at, err := r.position(q)
	if err != nil {
		return Page{}, nil, err
	}
	if at < r.first {
		page.CursorStatus, page.DroppedCount = CursorExpired, r.first-max(at, 0)
		if at < 0 {
			page.DroppedCount = 0 // of an earlier run: nobody knows how many
		}
		at = r.first
	}
	for ; at < r.end() && len(page.Entries) < q.Max; at++ {
		if e := r.entries[at-r.first]; q.Level == "" || q.Level.covers(e.Level) {
			page.Entries = append(page.Entries, e)
		}
	}
	page.Cursor = cursor{q.Server, r.id, at}.text()
	if r.wake == nil {
		r.wake = make(chan struct{})
	}
	return page, r.wake, nil
}

// cursor is a position in a server's records.
type cursor struct {
	Server string `json:"s"`
	Ring   string `json:"r"`
	Number int64  `json:"n"` // of the next record
}

func (c cursor) text() string {
	data, _ := json.Marshal(c) // strings and a number cannot fail
	return base64.RawURLEncoding.EncodeToString(data)
}

// position returns the number of the record that the query's cursor points at,
// or -1 for a cursor of an earlier run of the program.
func (r *ring) position(q Query) (int64, error) {
	if q.Cursor == "" {
		return r.first, nil
	}
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	switch {
	case err != nil || c.Ring == "" || c.Number < 0:
		return 0, &QueryError{"cursor", "is not one that was given out; leave it out to begin anew"}
	case c.Server != q.Server:
		return 0, &QueryError{"cursor", "is of another server"}
	case c.Ring != r.id:
		return -1, nil
	case c.Number > r.end():
		return 0, &QueryError{"cursor", "is not one that was given out; leave it out to begin anew"}
	}
	return c.Number, nil
}
