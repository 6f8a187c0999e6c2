package wake_test

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"

	"pointsman/ui/wake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bus is a bus of the test's own in the place of the system's. It returns a
// connection that has logind's name there.
func bus(t *testing.T) *dbus.Conn {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("skipped: there is no dbus-daemon")
	}
	cmd := exec.Command(daemon, "--session", "--nofork", "--print-address")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", strings.TrimSpace(address))
	logind, err := dbus.ConnectSystemBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = logind.Close() })
	if reply, err := logind.RequestName("org.freedesktop.login1", 0); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	return logind
}

func TestWatch(t *testing.T) {
	logind := bus(t)
	ctx, cancel := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 1000), make(chan error, 1)
	go func() { ended <- wake.Watch(ctx, func() { woken <- struct{}{} }) }()
	emit := func(member string, body ...any) {
		if err := logind.Emit("/org/freedesktop/login1", "org.freedesktop.login1.Manager."+member, body...); err != nil {
			t.Fatal(err)
		}
	}
	wakes, heard := 0, 0
	deadline := time.After(10 * time.Second)
	wakeUntilHeard := func() {
		for before := heard; heard == before; {
			emit("PrepareForSleep", false)
			wakes++
			select {
			case <-woken:
				heard++
			case <-time.After(20 * time.Millisecond): // it may not listen yet
			case <-deadline:
				t.Fatal("nothing is heard")
			}
		}
	}
	wakeUntilHeard()
	for range wakes + 10 { // more than wakes that may have been missed
		emit("PrepareForSleep", true)
		emit("PrepareForSleep")
		emit("PrepareForSleep", "false")
		emit("PrepareForShutdown", false)
	}
	for range 3 { // signals come in order: after these, the others have come
		wakeUntilHeard()
	}
	cancel()
	if err := <-ended; err != nil || heard+len(woken) > wakes {
		t.Errorf("%d wakes were heard as %d, %v", wakes, heard+len(woken), err)
	}
}

func TestWithoutABus(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+t.TempDir()+"/none")
	if err := wake.Watch(t.Context(), func() {}); !errors.Is(err, wake.ErrUntold) {
		t.Errorf("got %v", err)
	}
}
