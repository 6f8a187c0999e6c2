package journal_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"pointsman/gateway/journal"
)

// TestMain lets the test binary be a writer that is killed half way.
func TestMain(m *testing.M) {
	if path := os.Getenv("JOURNAL_TEST_WRITER"); path != "" {
		writeUntilKilled(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// options redact one word, which stands for any credential.
func options() journal.Options {
	return journal.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }}
}

func open(t testing.TB, path string, opts journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "journal.db") }

func collect[T any](t testing.TB, rows iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

func begin(t testing.TB, j *journal.Journal, c journal.Call) {
	t.Helper()
	if err := j.Begin(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}

func finish(t testing.TB, j *journal.Journal, id string, end journal.End) {
	t.Helper()
	if err := j.Finish(context.Background(), id, end); err != nil {
		t.Fatal(err)
	}
}

// writeUntilKilled begins calls, says so on stdout, and never finishes.
func writeUntilKilled(path string) {
	j, err := journal.Open(path, options())
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	j.StartRun(journal.Run{ID: "run", Door: "http"})
	ctx := context.Background()
	for _, id := range []string{"done", "half"} {
		if err := j.Begin(ctx, journal.Call{ID: id, Run: "run", Server: "fs", Tool: "write_file"}); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
	if err := j.Finish(ctx, "done", journal.End{Outcome: journal.OK}); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}
