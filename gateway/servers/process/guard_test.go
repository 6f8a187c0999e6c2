//go:build unix

package process_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pointsman/gateway/servers/process"
)

// sleeper starts a process in a group of its own.
func sleeper(t *testing.T) (pid int, ended <-chan struct{}) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	return cmd.Process.Pid, done
}

// restoreSignals undoes what the guard does to its process: what we start later
// would inherit the ignored signals. Only Notify takes Ignore back.
func restoreSignals(t *testing.T) {
	t.Cleanup(func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
		signal.Stop(signals)
	})
}

func TestGuardOrders(t *testing.T) {
	tests := []struct {
		name   string
		orders string // %d is the group
		ends   bool
	}{
		{"the host was killed", "mark M\nadd %d\n", true},
		{"the group had ended", "add %d\nremove %d\n", false},
		{"another group had ended", "add %d\nremove 4000000\n", true},
		{"the host quit in order", "add %d\nquit\n", false},
		{"nonsense around it", "add\nadd -1\nadd 0\nadd 1\nadd x\nfrob\n\nadd %d\nremove\n", true},
		{"only nonsense", "add -1\nadd 0\nadd 1\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			restoreSignals(t)
			pid, ended := sleeper(t)
			orders, w := io.Pipe()
			guard := make(chan error, 1)
			go func() { guard <- process.RunGuard(context.Background(), orders) }()
			_, _ = io.WriteString(w, strings.ReplaceAll(test.orders, "%d", strconv.Itoa(pid)))
			w.Close()
			if err := <-guard; err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended:
				if !test.ends {
					t.Error("the group was ended")
				}
			case <-time.After(200 * time.Millisecond): // the guard is done: nothing more will come
				if test.ends {
					t.Error("the group was not ended")
				}
			}
		})
	}
}

func TestGuardEndsWithItsContext(t *testing.T) {
	restoreSignals(t)
	ctx, cancel := context.WithCancel(context.Background())
	orders, w := io.Pipe()
	defer w.Close()
	guard := make(chan error, 1)
	go func() { guard <- process.RunGuard(ctx, orders) }()
	cancel()
	if err := <-guard; err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
