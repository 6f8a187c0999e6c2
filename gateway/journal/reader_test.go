package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/approvals"
	"pointsman/gateway/journal"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fill records five calls of two runs, a minute apart.
func fill(t *testing.T, j *journal.Journal) {
	t.Helper()
	for i, c := range []journal.Call{
		{ID: "a", Run: "r1", Session: "s1", Server: "fs", Tool: "read_file", Offered: "fs__read_file", Arguments: json.RawMessage(`{"path":"/100%_sure"}`)},
		{ID: "b", Run: "r1", Server: "fs", Tool: "write_file", Offered: "fs__write_file", Arguments: json.RawMessage(`{"path":"/Notes"}`)},
		{ID: "c", Run: "r2", Server: "git", Tool: "push", Offered: "git__push"},
		{ID: "d", Run: "r2", Server: "git", Tool: "status", Offered: "git__status"},
		{ID: "e", Run: "r2", Session: "s1", Server: "git", Tool: "push", Offered: "git__push"},
	} {
		c.Time = noon.Add(time.Duration(i) * time.Minute)
		begin(t, j, c)
	}
	finish(t, j, "a", journal.End{Outcome: journal.OK})
	finish(t, j, "b", journal.End{Outcome: journal.Denied, Reason: "not in my folder"})
	finish(t, j, "c", journal.End{Outcome: journal.Failed, Error: "remote hung up"})
	finish(t, j, "d", journal.End{Outcome: journal.OK})
	for i, id := range []string{"r1", "r2"} {
		j.StartRun(journal.Run{ID: id, Session: "s" + id[1:], Model: "gpt-" + id, Time: noon.Add(time.Duration(i) * time.Hour)})
		j.FinishRun(id, journal.RunEnd{Outcome: journal.OK})
	}
	begin(t, j, journal.Call{ID: "zz", Time: noon.Add(-time.Hour), Tool: "old"}) // flushes the runs
}

func TestCallsFilter(t *testing.T) {
	j := open(t, newPath(t), options())
	fill(t, j)
	for _, tc := range []struct {
		name string
		f    journal.Filter
		want string
	}{
		{"all, newest first", journal.Filter{}, "e d c b a zz"},
		{"oldest first", journal.Filter{OldestFirst: true}, "zz a b c d e"},
		{"limit", journal.Filter{Limit: 2}, "e d"},
		{"since includes, until does not", journal.Filter{Since: noon.Add(time.Minute), Until: noon.Add(3 * time.Minute)}, "c b"},
		{"server", journal.Filter{Server: "fs"}, "b a"},
		{"tool by its own name", journal.Filter{Tool: "push"}, "e c"},
		{"tool by its offered name", journal.Filter{Tool: "git__push"}, "e c"},
		{"outcome", journal.Filter{Outcome: journal.OK}, "d a"},
		{"run", journal.Filter{Run: "r1"}, "b a"},
		{"session", journal.Filter{Session: "s1"}, "e a"},
		{"call", journal.Filter{Call: "b"}, "b"},
		{"text in arguments, any case", journal.Filter{Text: "notes"}, "b"},
		{"text in the reason", journal.Filter{Text: "my folder"}, "b"},
		{"text in the error", journal.Filter{Text: "hung up"}, "c"},
		{"text with the signs of a pattern", journal.Filter{Text: "100%_S"}, "a"},
		{"a pattern is only text", journal.Filter{Text: "p%h"}, ""},
		{"text does not run over columns", journal.Filter{Text: "gitpush"}, ""},
		{"a quote is only text", journal.Filter{Text: `' OR 1=1 --`, Server: `'; DROP TABLE calls`}, ""},
		{"all at once", journal.Filter{Server: "git", Tool: "push", Outcome: journal.Failed, Run: "r2", Text: "remote", Limit: 1}, "c"},
		{"nothing", journal.Filter{Server: "nobody"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ids []string
			for _, c := range collect(t, j.Calls(t.Context(), tc.f)) {
				ids = append(ids, c.ID)
			}
			if got := strings.Join(ids, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRunsFilter(t *testing.T) {
	j := open(t, newPath(t), options())
	fill(t, j)
	for _, tc := range []struct {
		name string
		f    journal.Filter
		want string
	}{
		{"all, newest first", journal.Filter{}, "r2 r1"},
		{"oldest first", journal.Filter{OldestFirst: true}, "r1 r2"},
		{"by id", journal.Filter{Run: "r1"}, "r1"},
		{"by session", journal.Filter{Session: "s2"}, "r2"},
		{"by the tools they called", journal.Filter{Tool: "push"}, "r2"},
		{"by the servers they called", journal.Filter{Server: "fs"}, "r1"},
		{"text", journal.Filter{Text: "GPT-R1"}, "r1"},
		{"since", journal.Filter{Since: noon.Add(time.Minute)}, "r2"},
		{"outcome", journal.Filter{Outcome: journal.Failed}, ""},
		{"by a call", journal.Filter{Call: "c"}, "r2"},
		{"deep: nothing asked", journal.Filter{Deep: true}, "r2 r1"},
		{"deep: a call's outcome", journal.Filter{Deep: true, Outcome: journal.Failed}, "r2"},
		{"deep: its own outcome", journal.Filter{Deep: true, Outcome: journal.OK}, "r2 r1"},
		{"deep: a call's text", journal.Filter{Deep: true, Text: "my folder"}, "r1"},
		{"deep: its own text", journal.Filter{Deep: true, Text: "gpt-r1"}, "r1"},
		{"deep: one call has it all", journal.Filter{Deep: true, Tool: "push", Outcome: journal.Failed, Text: "hung up"}, "r2"},
		{"deep: no call has it all", journal.Filter{Deep: true, Tool: "read_file", Outcome: journal.Denied}, ""},
		{"deep: within a run", journal.Filter{Deep: true, Run: "r1", Outcome: journal.Failed}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ids []string
			for _, r := range collect(t, j.Runs(t.Context(), tc.f)) {
				ids = append(ids, r.ID)
			}
			if got := strings.Join(ids, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPagingLosesAndRepeatsNothing(t *testing.T) {
	j := open(t, newPath(t), options())
	const n = 450 // three pages, with many rows of one time
	for i := range n {
		j.StartRun(journal.Run{ID: fmt.Sprint(i), Time: noon.Add(time.Duration(i/100) * time.Second)})
	}
	begin(t, j, journal.Call{ID: "flush"})
	for _, f := range []journal.Filter{{}, {OldestFirst: true}, {Limit: 201}, {Limit: 400}} {
		seen := map[string]bool{}
		for _, r := range collect(t, j.Runs(t.Context(), f)) {
			seen[r.ID] = true
		}
		want := n
		if f.Limit > 0 {
			want = f.Limit
		}
		if len(seen) != want {
			t.Errorf("%+v: %d different runs, want %d", f, len(seen), want)
		}
	}
}

func TestPages(t *testing.T) {
	j := open(t, newPath(t), options())
	fill(t, j)
	for _, tc := range []struct {
		name string
		f    journal.Filter
		want string
	}{
		{"a rest", journal.Filter{Limit: 4}, "e d c b | a zz"},
		{"no rest", journal.Filter{Limit: 3}, "e d c | b a zz | "},
		{"chosen ones", journal.Filter{Limit: 1, Server: "fs", OldestFirst: true}, "a | b | "},
		{"no limit", journal.Filter{}, "e d c b a zz"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var pages []string
			var after *journal.Cursor
			for len(pages) == 0 || after != nil {
				page, next, err := j.CallsPage(t.Context(), tc.f, after)
				if err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, c := range page {
					ids = append(ids, c.ID)
				}
				pages, after = append(pages, strings.Join(ids, " ")), next
			}
			if got := strings.Join(pages, " | "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	runs, next, err := j.RunsPage(t.Context(), journal.Filter{Limit: 1}, nil)
	if err != nil || len(runs) != 1 || runs[0].ID != "r2" || next == nil {
		t.Errorf("a page of runs is %+v, %v, %v", runs, next, err)
	}
}

// TestDeepFindsErrorsOfRuns: a run's outcome may be a code of the error set.
func TestDeepFindsErrorsOfRuns(t *testing.T) {
	j := open(t, newPath(t), options())
	for _, outcome := range []journal.Outcome{"ok", "auth_failed", "cancelled", "stopped_rounds", "timeout"} {
		j.StartRun(journal.Run{ID: string(outcome), Time: noon})
		j.FinishRun(string(outcome), journal.RunEnd{Outcome: outcome})
	}
	j.StartRun(journal.Run{ID: "goes on", Time: noon})
	begin(t, j, journal.Call{ID: "flush"})
	var ids []string
	for _, r := range collect(t, j.Runs(t.Context(), journal.Filter{Deep: true, Outcome: journal.Failed, OldestFirst: true})) {
		ids = append(ids, r.ID)
	}
	if got := strings.Join(ids, " "); got != "auth_failed timeout" {
		t.Errorf("got %q", got)
	}
}

func TestReadingStops(t *testing.T) {
	j := open(t, newPath(t), options())
	fill(t, j)
	for range j.Calls(t.Context(), journal.Filter{}) {
		break // must not leave anything behind; Close would report it
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var got error
	for _, err := range j.Calls(ctx, journal.Filter{}) {
		got = err
	}
	if !errors.Is(got, context.Canceled) {
		t.Errorf("with a cancelled context: %v", got)
	}
}

func TestReaderOfAnotherProcess(t *testing.T) {
	path := newPath(t)
	if _, err := journal.OpenReader(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	j := open(t, path, options())
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 3 {
		begin(t, j, journal.Call{ID: fmt.Sprint(i)})
		if got := collect(t, r.Calls(t.Context(), journal.Filter{})); len(got) != i+1 {
			t.Errorf("after call %d the reader sees %d", i, len(got))
		}
	}
}

func TestReaderRefusesWhatIsNoJournal(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "garbage": strings.Repeat("no database ", 500)} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := journal.OpenReader(path); err == nil {
				t.Error("no error")
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != content {
				t.Errorf("reading changed the file (%v)", err)
			}
		})
	}
}

// exported has one row that tries everything.
func exported(t *testing.T) *journal.Journal {
	j := open(t, newPath(t), options())
	begin(t, j, journal.Call{
		ID: "c1", Time: noon, Door: "mcp", Client: "=cmd|'/c calc'!A0", Run: "r1", Round: 1, Model: "m", Server: "fs",
		Tool: "write_file", Offered: "fs__write_file", Definition: "abc", Arguments: json.RawMessage(`{"a":"<b>","c":"x, \"y\""}`),
		Class: approvals.Write, Risky: true, Evidence: []string{"one", "two"},
	})
	no := false
	finish(t, j, "c1", journal.End{Outcome: journal.Denied, Approved: &no, Approver: "desk", Rule: "r", Reason: "-1+1", Error: "@x", DurationMS: 3, ResultBytes: 9})
	usd := 0.5
	j.StartRun(journal.Run{ID: "r1", Time: noon, Door: "http", Client: "+x", Model: "m"})
	j.FinishRun("r1", journal.RunEnd{Outcome: journal.OK, Rounds: 2, PromptTokens: 3, CompletionTokens: 4, CostUSD: &usd, DurationMS: 5})
	begin(t, j, journal.Call{ID: "c2", Time: noon.Add(time.Second), Tool: "plain"})
	return j
}

func TestExport(t *testing.T) {
	j := exported(t)
	calls := j.Calls(t.Context(), journal.Filter{OldestFirst: true})
	runs := j.Runs(t.Context(), journal.Filter{})
	for _, tc := range []struct {
		name  string
		write func(*strings.Builder) error
		want  string
	}{
		{"calls as JSON", func(b *strings.Builder) error { return journal.WriteJSON(b, calls) }, "calls.jsonl"},
		{"calls as CSV", func(b *strings.Builder) error { return journal.WriteCSV(b, calls) }, "calls.csv"},
		{"runs as JSON", func(b *strings.Builder) error { return journal.WriteJSON(b, runs) }, "runs.jsonl"},
		{"runs as CSV", func(b *strings.Builder) error { return journal.WriteCSV(b, runs) }, "runs.csv"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b strings.Builder
			if err := tc.write(&b); err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile("testdata/" + tc.want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("testdata/%s (-) differs from what was written (+):\n%s", tc.want, diff)
			}
		})
	}
}

func TestExportReportsErrors(t *testing.T) {
	broken := errors.New("broken")
	rows := func(yield func(journal.Call, error) bool) { yield(journal.Call{}, broken) }
	if err := journal.WriteJSON(&strings.Builder{}, rows); !errors.Is(err, broken) {
		t.Errorf("JSON: %v", err)
	}
	if err := journal.WriteCSV(&strings.Builder{}, rows); !errors.Is(err, broken) {
		t.Errorf("CSV: %v", err)
	}
}

func TestTools(t *testing.T) {
	j := open(t, newPath(t), options())
	fill(t, j)
	got, err := j.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []journal.ToolName{{Server: "", Tool: "old"}, {Server: "fs", Tool: "read_file"}, {Server: "fs", Tool: "write_file"}, {Server: "git", Tool: "push"}, {Server: "git", Tool: "status"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
