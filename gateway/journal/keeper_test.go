package journal_test

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/gateway/journal"
)

func TestOldRowsGo(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		opts := options()
		opts.KeepDays = 90
		j := open(t, path, opts)
		old := time.Now().AddDate(0, 0, -91)
		for i := range 250 { // more than one step deletes
			id := fmt.Sprint("old", i)
			j.StartRun(journal.Run{ID: id, Time: old})
			j.FinishRun(id, journal.RunEnd{Outcome: journal.OK})
			begin(t, j, journal.Call{ID: id, Time: old})
			finish(t, j, id, journal.End{Outcome: journal.OK, Result: "result"})
		}
		begin(t, j, journal.Call{ID: "old but going on", Time: old})
		begin(t, j, journal.Call{ID: "new"})
		finish(t, j, "new", journal.End{Outcome: journal.OK, Result: "result"})
		if n := len(collect(t, j.Calls(t.Context(), journal.Filter{}))); n != 252 {
			t.Fatalf("%d calls before, want 252", n)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(collect(t, j.Calls(t.Context(), journal.Filter{}))); n != 2 {
			t.Errorf("%d calls are left, want the new one and the one that goes on", n)
		}
		if n := len(collect(t, j.Runs(t.Context(), journal.Filter{}))); n != 0 {
			t.Errorf("%d runs are left, want none", n)
		}
		if got, err := j.Result(t.Context(), "new"); err != nil || got != "result" {
			t.Errorf("the new call's result is %q (%v)", got, err)
		}
		time.Sleep(91 * 24 * time.Hour) // it prunes daily
		synctest.Wait()
		if n := len(collect(t, j.Calls(t.Context(), journal.Filter{}))); n != 1 {
			t.Errorf("%d calls are left after 91 days, want the one that goes on", n)
		}
	})
	if n := count(t, path, "results"); n != 0 {
		t.Errorf("%d results are left of deleted calls", n)
	}
}

func TestLargeRecordShrinks(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		opts := options()
		opts.MaxMB = 2
		j := open(t, path, opts)
		body := strings.Repeat("x", 16<<10)
		for i := range 300 {
			id := fmt.Sprintf("%03d", i)
			begin(t, j, journal.Call{ID: id, Time: time.Now().Add(time.Duration(i))})
			finish(t, j, id, journal.End{Outcome: journal.OK, Result: body})
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		left := collect(t, j.Calls(t.Context(), journal.Filter{}))
		if len(left) == 0 || len(left) == 300 || left[0].ID != "299" {
			t.Errorf("%d calls are left; the newest must be among them", len(left))
		}
	})
	if info, err := os.Stat(path); err != nil || info.Size() > 2<<20 {
		t.Errorf("the file has %d bytes (%v)", info.Size(), err)
	}
}

func TestCallsOutliveRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 20,000 runs")
	}
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		opts := options()
		opts.MaxMB = 2
		j := open(t, path, opts)
		begin(t, j, journal.Call{ID: "c"})
		finish(t, j, "c", journal.End{Outcome: journal.OK})
		client := strings.Repeat("c", 100)
		for i := range 20_000 {
			id := fmt.Sprint(i)
			j.StartRun(journal.Run{ID: id, Client: client})
			j.FinishRun(id, journal.RunEnd{Outcome: journal.OK})
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := collect(t, j.Calls(t.Context(), journal.Filter{})); len(got) != 1 {
			t.Errorf("the call went before the runs did")
		}
	})
	if n := count(t, path, "runs"); n == 0 || n == 20_000 {
		t.Errorf("%d runs are left, want some", n)
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	path := newPath(t)
	execSQL(t, path, "PRAGMA user_version = 1000")
	if _, err := journal.Open(path, options()); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("Open: %v", err)
	}
	if _, err := journal.OpenReader(path); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("OpenReader: %v", err)
	}
}

// TestOldFormatsOpen opens a file of each version there ever was.
func TestOldFormatsOpen(t *testing.T) {
	files, err := os.ReadDir("testdata/formats")
	if err != nil || len(files) == 0 {
		t.Fatalf("no old formats to test: %v", err)
	}
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			script, err := os.ReadFile("testdata/formats/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			path := newPath(t)
			execSQL(t, path, string(script))
			reader, err := journal.OpenReader(path) // before anybody writes
			if err != nil {
				t.Fatal(err)
			}
			if got := collect(t, reader.Calls(t.Context(), journal.Filter{})); len(got) != 2 {
				t.Errorf("read: %+v", got)
			}
			if err := reader.Close(); err != nil {
				t.Fatal(err)
			}
			j := open(t, path, options())
			got := collect(t, j.Calls(t.Context(), journal.Filter{OldestFirst: true}))
			if len(got) != 2 || got[0].ID != "c1" || got[0].Outcome != journal.OK || got[1].Outcome != journal.Unknown {
				t.Errorf("calls: %+v", got)
			}
			if runs := collect(t, j.Runs(t.Context(), journal.Filter{})); len(runs) != 1 || runs[0].PromptTokens != 10 {
				t.Errorf("runs: %+v", runs)
			}
			begin(t, j, journal.Call{ID: "new"})
			addJob(t, j, "new")
			if job := takeJob(t, j, true); job == nil || job.ID != "new" {
				t.Errorf("the next job: %+v", job)
			}
		})
	}
}

func execSQL(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, path, table string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
