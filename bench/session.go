package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// sessionScript starts a command in a desktop session of its own.
const sessionScript = "scripts/session.sh"

// addDesktop measures the tray and the windows in a session of their own, and
// adds the rows to a report, or why there are none.
func addDesktop(ctx context.Context, opts options, rep *report, progress io.Writer) error {
	if why := noDesktop(ctx, opts.binary); why != "" {
		rep.Skipped = "the tray and the windows: " + why
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintln(progress, "measuring the tray and the windows, in a session of their own (four minutes; one with -short) …")
	dir, err := os.MkdirTemp("", "pointsman-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	result := filepath.Join(dir, "rows.json") // others in the session print, too
	args := []string{self, "desktop", result, "-binary", opts.binary}
	if opts.short {
		args = append(args, "-short")
	}
	cmd := exec.CommandContext(ctx, sessionScript, args...)
	var said bytes.Buffer // the session's programs chatter there, too
	cmd.Stderr, cmd.Stdout = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * farewell
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("measuring the desktop: %w\n%s", err, said.Bytes())
	}
	out, err := os.ReadFile(result)
	if err != nil {
		return err
	}
	var rows []*row
	if err := json.Unmarshal(out, &rows); err != nil {
		return fmt.Errorf("reading what was measured on the desktop: %w\n%s", err, out)
	}
	rep.Rows = append(rep.Rows, rows...)
	return nil
}

// noDesktop says why the tray and the windows cannot be measured here; "" when
// they can.
func noDesktop(ctx context.Context, binary string) string {
	if _, err := os.Stat(sessionScript); err != nil {
		return "it is not run in the module's folder, which has " + sessionScript
	}
	for _, program := range []string{"Xvfb", "openbox", "xfce4-panel", "dbus-run-session", "gnome-keyring-daemon", "gdbus"} {
		if _, err := exec.LookPath(program); err != nil {
			return err.Error() + "; `make deps` installs what a session needs"
		}
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if out, _ := exec.CommandContext(ctx, binary, "window").CombinedOutput(); bytes.Contains(out, []byte("no windows in this build")) {
		return binary + " is built without windows"
	}
	return ""
}

// runDesktop measures in the session it is started in, and writes rows to the file
// that is its first argument.
func runDesktop(ctx context.Context, args []string, stderr io.Writer) error {
	if len(args) == 0 {
		return errors.New("desktop: no file to write to")
	}
	opts, err := parse(args[1:], stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pointsman-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rows, err := measureDesktop(ctx, opts, dir, stderr)
	if err != nil {
		return err
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], text, 0o600)
}

// awaitEnd waits until a process that is not a child of ours has gone.
func awaitEnd(ctx context.Context, pid int, patience time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("process %d has not ended within %s", pid, patience))
	defer cancel()
	for !hasEnded(pid) {
		if err := rest(ctx, 5*time.Millisecond); err != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// hasEnded reports whether a process has gone, or waits to be noticed.
func hasEnded(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return true
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}
