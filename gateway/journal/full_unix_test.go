//go:build unix

package journal_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"pointsman/gateway/journal"
)

// TestFullDisk stands in for a full disk with a bound on the size of files,
// which holds for a whole process: so it runs in one of its own.
func TestFullDisk(t *testing.T) {
	if path := os.Getenv("JOURNAL_TEST_FULL"); path != "" {
		fillDisk(t, path)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), "JOURNAL_TEST_FULL="+newPath(t))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
		t.Errorf("%v\n%s", err, out)
	}
}

func fillDisk(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ)
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
		t.Fatal(err)
	}
	j := open(t, path, options())
	room := lim
	lim.Cur = 256 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	args := fmt.Appendf(nil, "%q", strings.Repeat("x", 20<<10))
	var stored []string
	var failed error
	for i := 0; failed == nil && i < 100; i++ {
		id := fmt.Sprint(i)
		if failed = j.Begin(ctx, journal.Call{ID: id, Arguments: args}); failed == nil {
			stored = append(stored, id)
		}
	}
	if failed == nil {
		t.Fatal("a call was recorded on a full disk")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
		t.Fatal(err)
	}
	begin(t, j, journal.Call{ID: "room again"})
	stored = append(stored, "room again")
	var got []string
	for _, c := range collect(t, j.Calls(ctx, journal.Filter{})) {
		got = append(got, c.ID)
	}
	if len(got) != len(stored) {
		t.Errorf("stored %q, want exactly those told to be: %q", got, stored)
	}
}
