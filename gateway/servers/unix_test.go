//go:build unix

package servers_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// doomedEntries are two servers started by a shell. Both ignore a closed stdin,
// HUP and TERM, and have a grandchild that does too; the second one's has left
// the group. Each writes its pid to a file in dir.
func doomedEntries(exe, dir string) map[string]config.MCPServer {
	const stubborn = `sh -c 'trap "" HUP TERM; echo $$ > "$0"; while :; do sleep 0.1; done' `
	script := func(name, launcher string) config.MCPServer {
		pids := filepath.Join(dir, name)
		return config.MCPServer{
			Command: "sh",
			Args: []string{"-c", `trap "" HUP TERM; echo $$ > ` + pids + `-shell.pid; ` +
				launcher + stubborn + pids + `-grandchild.pid </dev/null >/dev/null 2>&1 & ` +
				`while ! [ -s ` + pids + `-grandchild.pid ]; do sleep 0.01; done; ` + exe + `; true`},
			Env: map[string]config.Secret{fakeMode: "stubborn"},
		}
	}
	launcher := ""
	if runtime.GOOS == "linux" {
		launcher = "setsid "
	}
	return map[string]config.MCPServer{"near": script("near", ""), "far": script("far", launcher)}
}

func TestKillingTheHostEndsEverything(t *testing.T) {
	dir := t.TempDir()
	host := startHost(t, "FAKE_LOG="+dir)
	if got := processesIn(t, dir); len(got) != 4 {
		t.Fatalf("running before: %v, want 4", got)
	}
	if err := syscall.Kill(host.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitNone(t, dir)
}

func awaitNone(t *testing.T, dir string) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(10 * time.Second)
	for len(processesIn(t, dir)) > 0 {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("still running: %v", processesIn(t, dir))
		}
	}
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	dir := t.TempDir()
	entries := doomedEntries(self(t), dir)
	want := 4
	if runtime.GOOS != "linux" {
		delete(entries, "far") // who has left the group cannot be found
		want = 2
	}
	h := start(t, servers.Options{}, entries)
	for name := range entries {
		h.awaitState(name, servers.Connected)
	}
	if got := processesIn(t, dir); len(got) != want {
		t.Fatalf("running before: %v, want %d", got, want)
	}
	h.stop()
	if got := processesIn(t, dir); len(got) != 0 {
		t.Errorf("still running: %v", got)
	}
	if got := h.status("near").Live.Status; got != servers.Stopped {
		t.Errorf("status after the end: %s", got)
	}
}

func TestServersEndInParallel(t *testing.T) {
	entries := map[string]config.MCPServer{}
	for i := range 4 {
		entries[fmt.Sprint("s", i)] = fakeServer(t, "stubborn")
	}
	h := start(t, servers.Options{}, entries)
	for name := range entries {
		h.awaitState(name, servers.Connected)
	}
	h.stop() // checks the 5 seconds
}

func TestGuardIsRestarted(t *testing.T) {
	h := start(t, servers.Options{Guard: guardCommand(t)}, oneFake(t, "normal"))
	h.awaitState("fake", servers.Connected)
	first := guardPID(t, 0)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if second := guardPID(t, first); second == first {
		t.Error("no other guard was started")
	}
}

func guardCommand(t testing.TB) []string {
	return []string{"env", "GORACE=atexit_sleep_ms=0", self(t), "guard"}
}

// guardPID returns the guard among this process's children that is not not.
func guardPID(t *testing.T, not int) int {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(10 * time.Second)
	for {
		out, err := exec.Command("pgrep", "-P", fmt.Sprint(os.Getpid()), "-f", "guard$").Output()
		if err == nil {
			for _, line := range strings.Fields(string(out)) {
				var pid int
				if fmt.Sscan(line, &pid); pid != not && isRunning(pid) {
					return pid
				}
			}
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatal("there is no guard process")
		}
	}
}

func TestCyclesLeaveNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts descriptors in /proc")
	}
	cycle := func() {
		h := start(t, servers.Options{Guard: guardCommand(t)}, map[string]config.MCPServer{
			"a": fakeServer(t, "normal"), "b": fakeServer(t, "junk"),
		})
		h.text("a", "echo", `{}`)
		h.text("b", "echo", `{}`)
		h.stop()
	}
	cycle()
	descriptors, goroutines := countDescriptors(t), runtime.NumGoroutine()
	for range 20 {
		cycle()
	}
	if now := countDescriptors(t); now > descriptors {
		t.Errorf("%d descriptors, then %d", descriptors, now)
	}
	if now := runtime.NumGoroutine(); now > goroutines+2 { // the runtime's own come and go
		t.Errorf("%d goroutines, then %d", goroutines, now)
	}
	if out, err := exec.Command("pgrep", "-P", fmt.Sprint(os.Getpid()), "-l").Output(); err == nil && !onlyPgrep(string(out)) {
		t.Errorf("processes left:\n%s", out)
	}
}

func onlyPgrep(out string) bool {
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if !strings.HasSuffix(line, "pgrep") {
			return false
		}
	}
	return true
}

func countDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
