//go:build unix

package process_test

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"pointsman/gateway/servers/process"
)

// TestStop runs programs that end in different ways when they are told to.
func TestStop(t *testing.T) {
	const closed, term, ended = "closing its stdin", "it did not end by itself: TERM", "its processes have ended"
	tests := []struct {
		name, script string
		told         []string
	}{
		{"ends with its stdin", `echo up; read line`, []string{closed, ended}},
		{"ignores its stdin", `echo up; exec sleep 60`, []string{closed, term, ended}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			guard := process.NewGuard(nil, "", slog.New(slog.DiscardHandler))
			defer guard.Close()
			given, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			p, err := process.Start(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", test.script}, Env: []string{guard.Variable()}, ExtraFiles: []*os.File{given}}, process.Options{
				Guard:  guard,
				Stderr: func(r io.Reader) { _, _ = io.Copy(io.Discard, r) },
				Told:   func(what string) { told = append(told, what) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); line != "up\n" {
				t.Errorf("it says %q, %v", line, err)
			}
			if given.Close() == nil {
				t.Error("what it was given is still open here")
			}
			p.Stop()
			p.Stop() // does nothing
			if !slices.Equal(told, test.told) {
				t.Errorf("told is %q", told)
			}
			if err := syscall.Kill(-p.PID(), 0); err != syscall.ESRCH {
				t.Errorf("its group after the end: %v", err)
			}
		})
	}
}

func TestStartOfWhatIsNotThere(t *testing.T) {
	guard := process.NewGuard(nil, "", slog.New(slog.DiscardHandler))
	defer guard.Close()
	if p, err := process.Start(&exec.Cmd{Path: "/nowhere/program"}, process.Options{Guard: guard}); err == nil {
		p.Stop()
		t.Fatal("it was started")
	}
}
