//go:build unix

package servers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// shellServer is an MCP server that starts fast.
const shellServer = `while IFS= read -r line; do
	id=${line#*\"id\":}; id=${id%%[,\}]*}
	case $line in
	*'"method":"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
	*'"method":"tools/list"'*) result='{"tools":[{"name":"nothing","inputSchema":{"type":"object"}}]}' ;;
	*'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"; continue ;;
	*) continue ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done`

// A hundred times ten servers are started and stopped: no process, descriptor or
// goroutine is left of them.
func TestStartStopCycles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts descriptors in /proc")
	}
	entries := map[string]config.MCPServer{}
	for i := range 10 {
		entries[fmt.Sprint("s", i)] = config.MCPServer{Command: "sh", Args: []string{"-c", shellServer}}
	}
	records := t.TempDir()
	h := start(t, servers.Options{Guard: guardCommand(t), Records: records}, entries)
	every := func(do func(name string)) {
		var wg sync.WaitGroup
		for name := range entries {
			wg.Go(func() { do(name) })
		}
		wg.Wait()
	}
	stop := func() {
		every(func(name string) {
			if s := h.do(h.Stop, name); s.Live.Status != servers.Stopped {
				t.Errorf("%s is stopped and %+v", name, s.Live)
			}
		})
	}
	for name := range entries {
		h.awaitState(name, servers.Connected)
	}
	stop()
	descriptors, goroutines := countDescriptors(t), runtime.NumGoroutine()
	for range 100 {
		every(func(name string) {
			if s := h.do(h.Start, name); s.Live.Status != servers.Connected || s.Tools != 1 {
				t.Errorf("%s is started and %+v", name, s.Live)
			}
		})
		stop()
	}
	if now := countDescriptors(t); now > descriptors {
		t.Errorf("%d descriptors, then %d", descriptors, now)
	}
	if now := runtime.NumGoroutine(); now > goroutines+2 { // the runtime's own come and go
		t.Errorf("%d goroutines, then %d", goroutines, now)
	}
	h.stop()
	if out, err := exec.Command("pgrep", "-P", fmt.Sprint(os.Getpid()), "-l").Output(); err == nil && !onlyPgrep(string(out)) {
		t.Errorf("processes left:\n%s", out)
	}
	if left, err := filepath.Glob(filepath.Join(records, "*.json")); err != nil || len(left) != 0 {
		t.Errorf("notes left: %v, %v", left, err)
	}
}

// startHost starts a host in a process of its own, which is killed at the end of
// the test at the latest.
func startHost(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	host := exec.Command(self(t))
	host.Env = append(append(os.Environ(), fakeMode+"=host"), env...)
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill(); _ = host.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the host did not get ready: %q, %v", line, err)
	}
	return host
}

// doomedHost starts a host without a guard, and kills it.
func doomedHost(t *testing.T, dir, records string) {
	t.Helper()
	host := startHost(t, "FAKE_LOG="+dir, "FAKE_RECORDS="+records)
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // it was killed
}

// When a host and its guard are killed, the next host ends what they left
// behind, and nothing else.
func TestOrphansAreEndedAtTheNextStart(t *testing.T) {
	if startTimesUnknown {
		t.Skip("who is an orphan cannot be told here")
	}
	dir, records := t.TempDir(), t.TempDir()
	doomedHost(t, dir, records)
	left := processesIn(t, dir)
	if len(left) != 4 {
		t.Fatalf("left behind: %v, want 4", left)
	}
	t.Cleanup(func() {
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	bystander := exec.Command("sleep", "100")
	bystander.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()
	claim(t, records, bystander.Process.Pid)

	living := start(t, servers.Options{Records: records}, oneFake(t, "normal"))
	living.awaitState("fake", servers.Connected)
	if runtime.GOOS == "linux" { // elsewhere what has left its group is not found
		awaitNone(t, dir)
	}
	if !isRunning(bystander.Process.Pid) {
		t.Error("a process that only has the number of one that was noted was ended")
	}
	another := start(t, servers.Options{Records: records}, oneFake(t, "normal"))
	another.awaitState("fake", servers.Connected)
	if !isRunning(living.status("fake").Live.PID) {
		t.Error("a host ended the server of one that lives")
	}
}

// claim notes in the record of the dead host a process that is not its own: as
// if the number had been given to another one since.
func claim(t *testing.T, records string, pid int) {
	t.Helper()
	notes, err := filepath.Glob(filepath.Join(records, "*.json"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("notes: %v, %v", notes, err)
	}
	data, err := os.ReadFile(notes[0])
	if err != nil {
		t.Fatal(err)
	}
	var note struct {
		Mark   string            `json:"mark"`
		Groups map[string]string `json:"groups"`
	}
	if err := json.Unmarshal(data, &note); err != nil || len(note.Groups) != 2 || note.Mark == "" {
		t.Fatalf("the note is %s, %v", data, err)
	}
	note.Groups[fmt.Sprint(pid)] = "12345"
	if data, err = json.Marshal(note); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(notes[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A note that cannot be read is told, and keeps no server from running.
func TestDamagedNote(t *testing.T) {
	records := t.TempDir()
	for name, text := range map[string]string{"X.lock": "", "X.json": "{", "Y.lock": "", "Y.json": `{"mark":"","groups":{"1":"1","0":"","-1":""}}`} {
		if err := os.WriteFile(filepath.Join(records, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, told := logOf()
	h := start(t, servers.Options{Records: records, Logger: log}, oneFake(t, "normal"))
	h.awaitState("fake", servers.Connected)
	if text := told(); !strings.Contains(text, "killed Pointsman") {
		t.Errorf("the log says %s", text)
	}
	notes, err := filepath.Glob(filepath.Join(records, "*.json"))
	if err != nil || len(notes) != 1 {
		t.Errorf("notes: %v, %v", notes, err)
	}
}

const startTimesUnknown = runtime.GOOS != "linux" && runtime.GOOS != "darwin"
