package journal_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/approvals"
	"pointsman/gateway/journal"
)

// fillSessions records one session that came by three doors, a run and a call
// without one, and a session of hooks alone.
func fillSessions(t *testing.T, j *journal.Journal) {
	t.Helper()
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	j.StartRun(journal.Run{ID: "r1", Time: at(0), Session: "s1", Door: "http", Client: "OpenAI/JS", Model: "sol"})
	j.FinishRun("r1", journal.RunEnd{Outcome: "auth_failed", Error: "no key"})
	j.StartRun(journal.Run{ID: "alone", Time: at(5), Door: "http", Client: "curl/8", Model: "luna"})
	j.FinishRun("alone", journal.RunEnd{Outcome: journal.OK})
	begin(t, j, journal.Call{ID: "c1", Time: at(1), Session: "s1", Door: "mcp", Client: "copilot-cli", CWD: "/first", Server: "fs", Tool: "write_file", Arguments: json.RawMessage(`{"path":"/poem"}`)})
	begin(t, j, journal.Call{ID: "c2", Time: at(2), Session: "s1", Door: "hook", Client: "copilot-cli/1.0", CWD: "/work", Server: "copilot", Tool: "bash", Class: approvals.Execute, Risky: true})
	begin(t, j, journal.Call{ID: "c3", Time: at(6), Run: "alone", Door: "http", Client: "curl/8", Server: "fs", Tool: "list"})
	begin(t, j, journal.Call{ID: "single", Time: at(7), Door: "mcp", Client: "probe/1", Server: "git", Tool: "push"})
	begin(t, j, journal.Call{ID: "h1", Time: at(3), Session: "s2", Door: "hook", Client: "copilot-cli/1.0", CWD: "/other", Server: "copilot", Tool: "view"})
	finish(t, j, "c1", journal.End{Outcome: journal.OK})
	finish(t, j, "c2", journal.End{Outcome: journal.Denied})
	finish(t, j, "c3", journal.End{Outcome: journal.OK})
	finish(t, j, "single", journal.End{Outcome: journal.Failed, Error: "hung up"})
	j.StartRun(journal.Run{ID: "r2", Time: at(4), Session: "s1", Door: "http", Client: "OpenAI/JS", Model: "sol-2"})
	j.FinishRun("r2", journal.RunEnd{Outcome: journal.OK, DurationMS: 60_000})
	begin(t, j, journal.Call{ID: "c4", Time: at(4), Run: "r2", Session: "s1", Door: "http", Server: "fs", Tool: "list"}) // flushes the runs
}

func TestSessionsPage(t *testing.T) {
	j := open(t, newPath(t), options())
	if page, next, err := j.SessionsPage(t.Context(), journal.Filter{}, nil); err != nil || next != nil || len(page) != 0 {
		t.Errorf("of an empty journal: %v %v %v", page, next, err)
	}
	fillSessions(t, j)
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	page, next, err := j.SessionsPage(t.Context(), journal.Filter{}, nil)
	if err != nil || next != nil {
		t.Fatal(next, err)
	}
	want := []journal.Session{
		{Call: "single", Client: "probe/1", Began: at(7), Last: at(7), Ended: at(7), Calls: 1, Outcome: journal.Failed, Error: "hung up"},
		{Run: "alone", Client: "curl/8", Model: "luna", Began: at(5), Last: at(6), Ended: at(6), Turns: 1, Calls: 1, Outcome: journal.OK},
		{ID: "s1", Client: "copilot-cli/1.0", CWD: "/work", Model: "sol-2", Began: at(0), Last: at(4), Ended: at(5), Turns: 2, Calls: 3, Denied: 1, Open: 1, Outcome: journal.OK},
		{ID: "s2", Client: "copilot-cli/1.0", CWD: "/other", Began: at(3), Last: at(3), Ended: at(3), Calls: 1, Open: 1},
	}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("the sessions (-want +got):\n%s", diff)
	}
	for _, s := range page {
		if runs, calls := len(collect(t, j.Runs(t.Context(), s.Rows()))), len(collect(t, j.Calls(t.Context(), s.Rows()))); runs != s.Turns || calls != s.Calls {
			t.Errorf("%s has %d runs and %d calls, not %d and %d", keyOf(s), runs, calls, s.Turns, s.Calls)
		}
	}
}

func keyOf(s journal.Session) string { return s.ID + s.Run + s.Call }

func TestSessionsPageFilter(t *testing.T) {
	j := open(t, newPath(t), options())
	fillSessions(t, j)
	for _, test := range []struct {
		name string
		f    journal.Filter
		want string
	}{
		{"a limit", journal.Filter{Limit: 2}, "single alone"},
		{"text in a call", journal.Filter{Text: "poem"}, "s1"},
		{"text of a run", journal.Filter{Text: "luna"}, "alone"},
		{"a server", journal.Filter{Server: "fs"}, "alone s1"},
		{"a tool", journal.Filter{Tool: "push"}, "single"},
		{"an outcome of a call", journal.Filter{Outcome: journal.Denied}, "s1"},
		{"any failure", journal.Filter{Outcome: journal.Failed}, "single s1"},
		{"since", journal.Filter{Since: noon.Add(5 * time.Minute)}, "single alone"},
		{"until", journal.Filter{Until: noon.Add(3 * time.Minute)}, "s1"},
		{"a session", journal.Filter{Session: "s2"}, "s2"},
		{"nothing", journal.Filter{Text: "nowhere"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			page, _, err := j.SessionsPage(t.Context(), test.f, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range page {
				got = append(got, keyOf(s))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", strings.Join(got, " "), test.want)
			}
		})
	}
}

// TestSessionsArePaged: none is lost or told twice, also where many are of one time.
func TestSessionsArePaged(t *testing.T) {
	j := open(t, newPath(t), options())
	const n = 90
	for i := range n {
		at := noon.Add(time.Duration(i/30) * time.Second)
		j.StartRun(journal.Run{ID: fmt.Sprint("run", i), Time: at})
		j.FinishRun(fmt.Sprint("run", i), journal.RunEnd{Outcome: journal.OK})
		begin(t, j, journal.Call{ID: fmt.Sprint("call", i), Time: at})
		begin(t, j, journal.Call{ID: fmt.Sprint("in", i), Time: at, Session: fmt.Sprint("session", i)})
	}
	for _, f := range []journal.Filter{{Limit: 7}, {Limit: 7, Since: noon}} {
		seen := map[string]bool{}
		var last time.Time
		var after *journal.SessionCursor
		for {
			page, next, err := j.SessionsPage(t.Context(), f, after)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page {
				if seen[keyOf(s)] || !last.IsZero() && s.Last.After(last) {
					t.Errorf("%s comes again, or late", keyOf(s))
				}
				seen[keyOf(s)], last = true, s.Last
			}
			if after = next; next == nil {
				break
			}
		}
		if len(seen) != 3*n {
			t.Errorf("%d sessions, not %d", len(seen), 3*n)
		}
	}
}

// BenchmarkSessionsPage is the first page of a journal with 20,000 runs and 40,000
// calls, of which half belong to 200 sessions.
func BenchmarkSessionsPage(b *testing.B) {
	j := open(b, newPath(b), options())
	for i := range 20_000 {
		run := journal.Run{ID: fmt.Sprint(i), Time: noon.Add(time.Duration(i) * time.Second), Client: "OpenAI/JS", Model: "sol"}
		if i%2 == 0 {
			run.Session = fmt.Sprint("session", i/100)
		}
		j.StartRun(run)
		j.FinishRun(run.ID, journal.RunEnd{Outcome: journal.OK})
	}
	var wg sync.WaitGroup // so that many share a commit
	for i := range 40_000 {
		c := journal.Call{ID: fmt.Sprint("call", i), Time: noon.Add(time.Duration(i/2) * time.Second), Run: fmt.Sprint(i / 2), Arguments: json.RawMessage(`{"path":"/home/me/file.go"}`)}
		if i/2%2 == 0 {
			c.Session = fmt.Sprint("session", i/200)
		}
		wg.Go(func() { begin(b, j, c) })
		if i%1000 == 999 {
			wg.Wait()
		}
	}
	for b.Loop() {
		if page, _, err := j.SessionsPage(b.Context(), journal.Filter{}, nil); err != nil || len(page) != 200 {
			b.Fatal(len(page), err)
		}
	}
}
