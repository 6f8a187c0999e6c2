package windows_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pointsman/ui/model"
	"pointsman/ui/windows"
)

// patience bounds every wait.
const patience = 20 * time.Second

const secret = "gives the right"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "window" {
		os.Exit(pretend(os.Args[2], os.Args[3]))
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // the processes of these tests end at once
	goleak.VerifyTestMain(m)
}

// pretend is the process of the windows. It notes its pid in a file of the folder
// dir, and what it is asked to show in another.
func pretend(how, dir string) int {
	if how == "break" {
		fmt.Fprintln(os.Stderr, "first words")
		fmt.Fprintln(os.Stderr, "there is no GL")
		return 3
	}
	if how == "crash" {
		panic("a screen broke")
	}
	parent, err := windows.Meet(os.Stdin, os.Stdout)
	if err != nil || parent.Secret != secret {
		fmt.Fprintln(os.Stderr, "no greeting:", err)
		return 4
	}
	note(dir, "pids", strconv.Itoa(os.Getpid()))
	if how == "leave" {
		return 0
	}
	err = parent.Commands(func(c windows.Command) {
		note(dir, "shown", string(c.Show))
		if c.Failed != "" {
			note(dir, "failed", "1")
		}
		parent.Open(c.Show == model.Open)
		if how != "mute" {
			parent.Shown(c)
		}
	})
	note(dir, "ends", "input closed")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 5
	}
	return 0
}

func note(dir, name, line string) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintln(f, line)
	_ = f.Close()
}

// rig is a Process at work.
type rig struct {
	*windows.Process
	dir     string
	changed chan struct{}
	end     func()
}

func start(t *testing.T, how string, edit func(*windows.Options)) *rig {
	t.Helper()
	r := &rig{dir: t.TempDir(), changed: make(chan struct{}, 100)}
	opts := windows.Options{
		Command: []string{os.Args[0], "window", how, r.dir}, Secret: secret,
		Changed: func() { r.changed <- struct{}{} },
	}
	if edit != nil {
		edit(&opts)
	}
	r.Process = windows.New(opts)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	r.end = func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("Run does not end")
		}
	}
	t.Cleanup(r.end)
	return r
}

// lines returns what the processes noted, when there are n lines of it.
func (r *rig) lines(t *testing.T, name string, n int) []string {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if lines := strings.Fields(string(data)); len(lines) >= n {
			return lines
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s never had %d lines: %q", name, n, data)
		}
	}
}

func (r *rig) show(t *testing.T, action model.Action) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return r.Show(ctx, action)
}

func TestShow(t *testing.T) {
	r := start(t, "work", nil)
	for _, action := range []model.Action{model.Open, model.Settings} {
		if err := r.show(t, action); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.lines(t, "shown", 2); got[0] != "open" || got[1] != "settings" {
		t.Errorf("shown were %q", got)
	}
	if pids := r.lines(t, "pids", 1); len(pids) != 1 {
		t.Errorf("%d processes were started", len(pids))
	}
	r.end()
	r.lines(t, "ends", 1)
}

// TestNeed: the process is there as long as something waits, whatever happens to
// it, and is not started for nothing.
func TestNeed(t *testing.T) {
	r := start(t, "work", nil)
	r.Need(false)
	r.Need(true)
	for killed := range 3 {
		pids := r.lines(t, "pids", killed+1)
		kill(t, pids[killed])
	}
	r.lines(t, "pids", 4)
	if fault := r.Fault(); fault != "" {
		t.Errorf("the fault is %q", fault)
	}
}

// TestLeft: a process that goes by itself, having nothing to show, is no fault,
// and comes back for the next thing.
func TestLeft(t *testing.T) {
	r := start(t, "leave", nil)
	for range 6 {
		if err := r.show(t, model.Open); err == nil || !strings.Contains(err.Error(), "ended") {
			t.Fatalf("showing gives %v", err)
		}
	}
	if fault := r.Fault(); fault != "" {
		t.Errorf("the fault is %q", fault)
	}
}

// TestBroken: a process that dies at once is not tried for ever; who asks for a
// window is told why, in one line, and that tries again.
func TestBroken(t *testing.T) {
	for how, why := range map[string]string{"break": "there is no GL", "crash": "panic: a screen broke"} {
		t.Run(how, func(t *testing.T) {
			r := start(t, how, nil)
			r.Need(true)
			select {
			case <-r.changed:
			case <-time.After(patience):
				t.Fatal("nothing was said")
			}
			if got := r.Fault(); got != why {
				t.Errorf("the fault is %q", got)
			}
			if err := r.show(t, model.Open); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("showing gives %v", err)
			}
		})
	}
}

// TestOpenAgain: a process that dies with the main window open is followed by one
// that opens it again, and knows why; one that dies without is not.
func TestOpenAgain(t *testing.T) {
	r := start(t, "work", nil)
	if err := r.show(t, model.Open); err != nil {
		t.Fatal(err)
	}
	kill(t, r.lines(t, "pids", 1)[0])
	r.lines(t, "failed", 1)
	if got := r.lines(t, "shown", 2); got[1] != string(model.Open) {
		t.Errorf("shown were %q", got)
	}
	if err := r.show(t, model.Settings); err != nil { // which leaves no main window here
		t.Fatal(err)
	}
	kill(t, r.lines(t, "pids", 2)[1])
	if err := r.show(t, model.Settings); err != nil && !strings.Contains(err.Error(), "ended") {
		t.Fatal(err)
	}
	if got := r.lines(t, "failed", 1); len(got) != 1 {
		t.Errorf("%d processes were told of another's end", len(got))
	}
}

func TestWarm(t *testing.T) {
	r := start(t, "work", nil)
	r.Warm()
	r.lines(t, "pids", 1)
	if err := r.show(t, model.Approvals); err != nil {
		t.Fatal(err)
	}
	if pids := r.lines(t, "pids", 1); len(pids) != 1 {
		t.Errorf("%d processes were started", len(pids))
	}
}

func TestImpossible(t *testing.T) {
	r := start(t, "work", func(o *windows.Options) { o.Impossible = "no display" })
	r.Need(true)
	if err := r.show(t, model.Open); err == nil || err.Error() != "no display" {
		t.Errorf("showing gives %v", err)
	}
	if got := r.Fault(); got != "no display" {
		t.Errorf("the fault is %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "pids")); err == nil {
		t.Error("a process was started")
	}
}

func TestNoProgram(t *testing.T) {
	r := start(t, "work", func(o *windows.Options) { o.Command = []string{filepath.Join(t.TempDir(), "nothing")} })
	if err := r.show(t, model.Open); err == nil || !strings.Contains(err.Error(), "starting the windows") {
		t.Errorf("showing gives %v", err)
	}
}

// TestShowEnds: a window that does not come up does not keep who asked for it.
func TestShowEnds(t *testing.T) {
	r := start(t, "mute", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	r.Warm()
	r.lines(t, "pids", 1)
	enough := errors.New("enough")
	go func() { r.lines(t, "shown", 1); cancel(enough) }()
	if err := r.Show(ctx, model.Open); !errors.Is(err, enough) {
		t.Errorf("showing gives %v", err)
	}
}

// TestByHand: nobody becomes the windows by starting them.
func TestByHand(t *testing.T) {
	for _, said := range []string{"", "\n", "{}\n", "x\n", `{"secret":""}` + "\n", `{"secret":1}` + "\n", `{"secret":"x"}`} {
		if parent, err := windows.Meet(strings.NewReader(said), io.Discard); err == nil {
			t.Errorf("%q makes windows with the secret %q", said, parent.Secret)
		}
	}
}

func kill(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(n)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
}
