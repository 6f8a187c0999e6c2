//go:build unix

package gateway_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/servers"
)

// TestFullDisk stands in for a full disk with a bound on the size of files, which
// holds for a whole process: so it runs in one of its own.
func TestFullDisk(t *testing.T) {
	if os.Getenv("GATEWAY_TEST_FULL") != "" {
		callOnAFullDisk(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), "GATEWAY_TEST_FULL=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
		t.Errorf("%v\n%s", err, out)
	}
}

// callOnAFullDisk: without a row nothing runs, whoever has agreed to it; the
// answer says why; and with room again all is as before.
func callOnAFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	d := newDesk(t, "", func(o *gateway.Options) { o.Approver = approvals.AllowAll{} })
	before := liveOf(d, "scratch")
	var room syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
		t.Fatal(err)
	}
	full := room
	full.Cur = 1 // a file that is as large already cannot be written at all
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	result, err := d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go"})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
		t.Fatal(err)
	}
	if err != nil || len(result.Invocations) == 0 {
		t.Fatalf("the run ends with %v, %+v", err, result)
	}
	for _, call := range result.Invocations {
		if call.Tool != "update_plan" && (call.Executed || !call.IsError || !strings.Contains(call.Reason, "record")) {
			t.Errorf("a call without a row: %+v", call)
		}
	}
	file := filepath.Join(d.folder, "hello.txt")
	if _, err := os.Stat(file); err == nil {
		t.Error("the file was written")
	}
	if got := liveOf(d, "scratch"); got.Status != servers.Connected || got.ConnectionID != before.ConnectionID {
		t.Errorf("the server is %+v", got)
	}
	if _, err := d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
