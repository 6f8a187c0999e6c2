package journal_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/approvals"
	"pointsman/gateway/journal"
)

func TestCallIsRecordedWhole(t *testing.T) {
	j := open(t, newPath(t), options())
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	want := journal.Call{
		ID: "c1", Time: at, Door: "http", Client: "vscode/1", Session: "s", Run: "r", Round: 2, Model: "m",
		Server: "fs", Tool: "write_file", Offered: "fs__write_file", Definition: "abc",
		Arguments: json.RawMessage(`{"path":"/a"}`), Class: approvals.Write, Risky: true, Evidence: []string{"name: write"},
	}
	begin(t, j, want)
	if got := collect(t, j.Calls(t.Context(), journal.Filter{})); !cmp.Equal(got, []journal.Call{want}) {
		t.Errorf("while it runs:\n%s", cmp.Diff(got, []journal.Call{want}))
	}

	yes := true
	edited := approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk, Rule: "r1", Arguments: json.RawMessage(`{"path":"/b"}`)}
	if err := j.Decide(t.Context(), "c1", edited); err != nil {
		t.Fatal(err)
	}
	finish(t, j, "c1", journal.End{Outcome: journal.OK, DurationMS: 7, Result: "done hunter2"})
	want.Arguments, want.Edited = json.RawMessage(`{"path":"/b"}`), true
	want.Outcome, want.Approved, want.Approver, want.Rule = journal.OK, &yes, approvals.ByDesk, "r1"
	want.DurationMS, want.ResultBytes = 7, int64(len("done hunter2"))
	if got := collect(t, j.Calls(t.Context(), journal.Filter{})); !cmp.Equal(got, []journal.Call{want}) {
		t.Errorf("after its end:\n%s", cmp.Diff(got, []journal.Call{want}))
	}
	if got, err := j.Result(t.Context(), "c1"); err != nil || got != "done ***" {
		t.Errorf("Result = %q, %v", got, err)
	}
}

func TestNothingIsStoredUnredacted(t *testing.T) {
	path := newPath(t)
	j := open(t, path, options())
	begin(t, j, journal.Call{ID: "json", Tool: "t", Arguments: json.RawMessage(`{"key":"hunter2"}`), Evidence: []string{"hunter2"}})
	begin(t, j, journal.Call{ID: "text", Tool: "t", Arguments: json.RawMessage(`{"key": hunter2`)})
	if err := j.Decide(t.Context(), "json", approvals.Decision{Reason: "hunter2", Arguments: json.RawMessage(`{"k":"hunter2"}`)}); err != nil {
		t.Fatal(err)
	}
	end := journal.End{Outcome: journal.Failed, Reason: "hunter2", Error: "hunter2", Result: "hunter2"}
	finish(t, j, "json", end)
	finish(t, j, "text", end)
	j.StartRun(journal.Run{ID: "r"})
	j.FinishRun("r", journal.RunEnd{Outcome: journal.Failed, Error: "hunter2"})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "hunter2") {
		t.Error("the file holds the credential")
	}
	if !strings.Contains(string(raw), "***") {
		t.Error("the file does not hold what was redacted either")
	}
}

func TestArgumentsAreAlwaysJSON(t *testing.T) {
	breaking := options()
	breaking.RedactJSON = func(json.RawMessage) json.RawMessage { return json.RawMessage(`{"cut`) }
	for _, tc := range []struct {
		name, in, want string
		opts           journal.Options
	}{
		{"none", ``, `{}`, options()},
		{"object", `{"a":1}`, `{"a":1}`, options()},
		{"broken by the model", `{"a":`, `"{\"a\":"`, options()},
		{"broken by redaction", `{"a":1}`, `"{\"cut"`, breaking},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := open(t, newPath(t), tc.opts)
			begin(t, j, journal.Call{ID: "c", Arguments: json.RawMessage(tc.in)})
			if got := string(collect(t, j.Calls(t.Context(), journal.Filter{}))[0].Arguments); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestResultsAreKeptAsTold(t *testing.T) {
	long := strings.Repeat("ä", 3<<20) // 6 MiB
	for _, tc := range []struct {
		name, results, in string
		want              int
	}{
		{"redacted", "redacted", "abc", 3},
		{"by default", "", "abc", 3},
		{"none", "none", "abc", 0},
		{"cut at 4 MiB between characters", "", "x" + long, 4<<20 - 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opts := options()
			opts.Results = tc.results
			j := open(t, newPath(t), opts)
			begin(t, j, journal.Call{ID: "c"})
			finish(t, j, "c", journal.End{Outcome: journal.OK, Result: tc.in})
			got, err := j.Result(t.Context(), "c")
			if err != nil || len(got) != tc.want || !strings.HasPrefix(tc.in, got) {
				t.Errorf("kept %d bytes, want %d (%v)", len(got), tc.want, err)
			}
			if n := collect(t, j.Calls(t.Context(), journal.Filter{}))[0].ResultBytes; n != int64(len(tc.in)) {
				t.Errorf("ResultBytes = %d, want %d", n, len(tc.in))
			}
		})
	}
}

func TestMisuseIsAnError(t *testing.T) {
	j := open(t, newPath(t), options())
	ctx := t.Context()
	begin(t, j, journal.Call{ID: "a"})
	begin(t, j, journal.Call{ID: "b"})
	finish(t, j, "b", journal.End{Outcome: journal.OK})
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range map[string]error{
		"no id":               j.Begin(ctx, journal.Call{}),
		"id twice":            j.Begin(ctx, journal.Call{ID: "a"}),
		"caller gone":         j.Begin(cancelled, journal.Call{ID: "c"}),
		"finish without id":   j.Finish(ctx, "nobody", journal.End{Outcome: journal.OK}),
		"finish twice":        j.Finish(ctx, "b", journal.End{Outcome: journal.Failed}),
		"finish without word": j.Finish(ctx, "a", journal.End{}),
		"decide after end":    j.Decide(ctx, "b", approvals.Decision{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := collect(t, j.Calls(ctx, journal.Filter{})); len(got) != 2 {
		t.Errorf("%d rows, want 2", len(got))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Begin(ctx, journal.Call{ID: "late"}); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	j.StartRun(journal.Run{ID: "late"}) // is dropped, and does not block
}

func TestOneBadCallDoesNotFailItsNeighbours(t *testing.T) {
	j := open(t, newPath(t), options())
	begin(t, j, journal.Call{ID: "taken"})
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Go(func() {
			id := "taken"
			if i%2 == 0 {
				id = fmt.Sprint(i)
			}
			errs[i] = j.Begin(context.Background(), journal.Call{ID: id})
		})
	}
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i%2 == 1) {
			t.Errorf("caller %d: %v", i, err)
		}
	}
}

func TestKillLeavesUnknown(t *testing.T) {
	path := newPath(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JOURNAL_TEST_WRITER="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("the writer said %q (%v)", line, err)
	}

	// While the writer lives, its open rows are neither settled nor shown as unknown.
	beside := open(t, path, options())
	check(t, beside.Reader, "while it lives", map[string]journal.Outcome{"done": journal.OK, "half": ""}, "")

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := map[string]journal.Outcome{"done": journal.OK, "half": journal.Unknown}
	check(t, r, "read after the kill", want, journal.Unknown)
	if got := collect(t, r.Calls(t.Context(), journal.Filter{Outcome: journal.Unknown})); len(got) != 1 || got[0].Error == "" {
		t.Errorf("the filter finds %v", got)
	}
	again := open(t, path, options())
	check(t, again.Reader, "opened after the kill", want, journal.Unknown)
	finishErr := again.Finish(t.Context(), "half", journal.End{Outcome: journal.OK})
	if finishErr == nil {
		t.Error("a settled row could be finished")
	}
	if left, _ := filepath.Glob(filepath.Join(path+".writers", "*")); len(left) != 2 {
		t.Errorf("%d marks of writers, want those of the two that live", len(left))
	}
}

func check(t *testing.T, r *journal.Reader, when string, calls map[string]journal.Outcome, run journal.Outcome) {
	t.Helper()
	got := map[string]journal.Outcome{}
	for _, c := range collect(t, r.Calls(t.Context(), journal.Filter{})) {
		got[c.ID] = c.Outcome
	}
	if diff := cmp.Diff(calls, got); diff != "" {
		t.Errorf("%s: %s", when, diff)
	}
	if runs := collect(t, r.Runs(t.Context(), journal.Filter{})); len(runs) != 1 || runs[0].Outcome != run {
		t.Errorf("%s: runs %v, want outcome %q", when, runs, run)
	}
}

func TestCloseSettlesWhatGoesOn(t *testing.T) {
	path := newPath(t)
	j := open(t, path, options())
	begin(t, j, journal.Call{ID: "c"})
	j.StartRun(journal.Run{ID: "r"})
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	check(t, r, "after Close", map[string]journal.Outcome{"c": journal.Unknown}, journal.Unknown)
}

func TestRunsAreWrittenSoon(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		j := open(t, path, options())
		j.StartRun(journal.Run{ID: "slow", Model: "m"})
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		runs := collect(t, j.Runs(t.Context(), journal.Filter{}))
		if len(runs) != 1 || runs[0].Outcome != "" {
			t.Fatalf("50 ms after its start: %v", runs)
		}
		usd := 0.25
		j.FinishRun("slow", journal.RunEnd{Outcome: journal.OK, Rounds: 3, PromptTokens: 10, CompletionTokens: 4, CostUSD: &usd, DurationMS: 60})
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		want := journal.Run{ID: "slow", Time: runs[0].Time, Model: "m", Outcome: journal.OK, Rounds: 3,
			PromptTokens: 10, CompletionTokens: 4, CostUSD: &usd, DurationMS: 60}
		if got := collect(t, j.Runs(t.Context(), journal.Filter{})); !cmp.Equal(got, []journal.Run{want}) {
			t.Errorf("after its end:\n%s", cmp.Diff(got, []journal.Run{want}))
		}
	})
}

func TestBeginWritesWhatWasQueuedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := open(t, newPath(t), options())
		for i := range 20 { // one statement of many rows, and some of one
			j.StartRun(journal.Run{ID: fmt.Sprint(i)})
		}
		begin(t, j, journal.Call{ID: "c"})
		if got := collect(t, j.Runs(t.Context(), journal.Filter{})); len(got) != 20 {
			t.Errorf("%d runs, want 20", len(got))
		}
		for i := range 20 { // each update finds its own row
			j.FinishRun(fmt.Sprint(i), journal.RunEnd{Outcome: journal.OK, Rounds: i})
		}
		finish(t, j, "c", journal.End{Outcome: journal.OK})
		for _, r := range collect(t, j.Runs(t.Context(), journal.Filter{})) {
			if r.ID != fmt.Sprint(r.Rounds) || r.Outcome != journal.OK {
				t.Errorf("run %s got the end of run %d", r.ID, r.Rounds)
			}
		}
	})
}

// TestAnEndNobodyWaitsFor is seen at once in its own process, and soon in others;
// one that cannot be recorded is logged.
func TestAnEndNobodyWaitsFor(t *testing.T) {
	var log strings.Builder
	path, opts := newPath(t), options()
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	j := open(t, path, opts)
	other, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for i := range 50 {
		id := fmt.Sprint(i)
		begin(t, j, journal.Call{ID: id})
		j.FinishSoon(id, journal.End{Outcome: journal.OK, Result: "result " + id})
		body, err := j.Result(t.Context(), id)
		if got := collect(t, j.Calls(t.Context(), journal.Filter{Call: id})); err != nil || body != "result "+id || got[0].Outcome != journal.OK {
			t.Fatalf("call %s has ended, and reads as %+v, %q (%v)", id, got, body, err)
		}
	}
	begin(t, j, journal.Call{ID: "last"})
	j.FinishSoon("last", journal.End{Outcome: journal.OK})
	deadline := time.Now().Add(10 * time.Second)
	for collect(t, other.Calls(t.Context(), journal.Filter{Call: "last"}))[0].Outcome != journal.OK {
		if time.Now().After(deadline) {
			t.Fatal("another process never sees that the call has ended")
		}
	}
	j.FinishSoon("last", journal.End{Outcome: journal.Failed})
	j.FinishSoon("silent", journal.End{})
	begin(t, j, journal.Call{ID: "closing"})
	j.FinishSoon("closing", journal.End{Outcome: journal.OK})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j.FinishSoon("late", journal.End{Outcome: journal.OK})
	if got := collect(t, other.Calls(t.Context(), journal.Filter{Call: "closing"})); got[0].Outcome != journal.OK {
		t.Errorf("closing the record lost the end of a call: %+v", got)
	}
	for _, id := range []string{"last", "silent", "late"} {
		if !strings.Contains(log.String(), "call="+id) {
			t.Errorf("that call %s has no end is not logged:\n%s", id, log.String())
		}
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	j := open(t, newPath(t), options())
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for k := range 50 {
				id := fmt.Sprintf("%d-%d", i, k)
				j.StartRun(journal.Run{ID: id})
				if err := j.Begin(context.Background(), journal.Call{ID: id, Run: id}); err != nil {
					t.Error(err)
				}
				if err := j.Finish(context.Background(), id, journal.End{Outcome: journal.OK}); err != nil {
					t.Error(err)
				}
				j.FinishRun(id, journal.RunEnd{Outcome: journal.OK})
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			for _, err := range j.Calls(context.Background(), journal.Filter{}) {
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
	wg.Wait()
	if got := collect(t, j.Calls(t.Context(), journal.Filter{Outcome: journal.OK})); len(got) != 800 {
		t.Errorf("%d calls, want 800", len(got))
	}
}

func TestTheQueueBlocksRatherThanLoses(t *testing.T) {
	path := newPath(t)
	j := open(t, path, options())
	const n = 50_000 // more than the queue holds
	for i := range n {
		id := fmt.Sprint(i)
		j.StartRun(journal.Run{ID: id})
		j.FinishRun(id, journal.RunEnd{Outcome: journal.OK})
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	count := 0
	for _, err := range r.Runs(t.Context(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != n {
		t.Errorf("%d runs, want %d", count, n)
	}
}

func TestOpenRefuses(t *testing.T) {
	bad := options()
	bad.Results = "raw"
	for _, tc := range []struct {
		name string
		path func(t *testing.T) string
		opts journal.Options
		want string
	}{
		{"without redaction", func(t *testing.T) string { return newPath(t) }, journal.Options{}, "redaction"},
		{"an unknown way to keep results", func(t *testing.T) string { return newPath(t) }, bad, "redacted or none"},
		{"a directory that cannot be made", func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(file, "journal.db")
		}, options(), "directory"},
		{"a directory as the file", func(t *testing.T) string { return t.TempDir() }, options(), "directory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := journal.Open(tc.path(t), tc.opts)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "opening the journal") {
				t.Errorf("got %v, want it to say %q", err, tc.want)
			}
		})
	}
}

func TestUnwritableDirectory(t *testing.T) {
	if os.Getuid() <= 0 || runtime.GOOS == "windows" {
		t.Skip("permissions do not hold for this user")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(filepath.Join(dir, "journal.db"), options()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestDamagedFileIsKeptAside(t *testing.T) {
	path := newPath(t)
	garbage := []byte(strings.Repeat("this is no database ", 500))
	if err := os.WriteFile(path, garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, path, options())
	if !strings.HasPrefix(j.SetAside(), path+".corrupt-") {
		t.Fatalf("SetAside = %q", j.SetAside())
	}
	if kept, err := os.ReadFile(j.SetAside()); err != nil || string(kept) != string(garbage) {
		t.Errorf("the damaged file is not what it was: %v", err)
	}
	begin(t, j, journal.Call{ID: "c"})
	if got := collect(t, j.Calls(t.Context(), journal.Filter{})); len(got) != 1 {
		t.Errorf("%d rows in the new file, want 1", len(got))
	}
}

func TestRecordIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folder's list rules there")
	}
	path := newPath(t)
	j := open(t, path, options())
	begin(t, j, journal.Call{ID: "c"})
	for _, file := range []string{path, path + "-wal"} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info.Mode(), err)
		}
	}
}
