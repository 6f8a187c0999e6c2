package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary builds the program, once.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.Getenv(buildDir), "pointsman")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := exec.Command("go", "build", "-tags", "headless", "-ldflags", "-X main.version=v9.8.7", "-o", path, "pointsman")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w: %s", err, out)
	}
	return path, nil
})

// program is the built program in the rig's home. LANG=C is where libraries
// like to complain.
func (r *rig) program(args ...string) *exec.Cmd {
	r.t.Helper()
	path, err := binary()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.CommandContext(r.t.Context(), path, args...)
	cmd.WaitDelay = patience
	cmd.Env = append(os.Environ(), "LANG=C", "LC_ALL=C", "TZ=Nowhere/Atall")
	for name, value := range r.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// serveProgram starts the built program's serve and waits until it is ready.
func (r *rig) serveProgram(log *syncBuffer) *exec.Cmd {
	r.t.Helper()
	cmd := r.program("serve", "--port", "0")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(r.t, "serve is ready", func() bool { return r.listening() != "" })
	return cmd
}

func TestProgramServesOnceAndStops(t *testing.T) {
	r := newRig(t, "")
	log := &syncBuffer{}
	cmd := r.serveProgram(log)
	var errs bytes.Buffer
	second := r.program("serve")
	second.Stderr = &errs
	if err := second.Run(); second.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "process "+strconv.Itoa(cmd.Process.Pid)) {
		t.Errorf("a second serve ended with %v: %s", err, &errs)
	}
	address := r.listening()
	other := newRig(t, "")
	errs.Reset()
	taken := other.program("serve", "--listen", address)
	taken.Stderr = &errs
	err := taken.Run()
	if taken.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "has the port") {
		t.Errorf("serve on a port in use ended with %v: %s", err, &errs)
	}
	if holder := fmt.Sprintf("process %d (pointsman)", cmd.Process.Pid); runtime.GOOS == "linux" && !strings.Contains(errs.String(), holder) {
		t.Errorf("the error does not name %s: %s", holder, &errs)
	}
	if runtime.GOOS == "windows" {
		return // there is no signal to stop it with
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v: %s", err, log)
	}
}

// A gateway that is killed leaves no child behind, and a row that says that
// nobody knows how the call ended.
func TestKilledProgramLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes are found through their signals")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(t.TempDir(), "pid")
	server := fmt.Sprintf("mcpServers:\n  stubborn: {command: %q, env: {CLI_TEST_SERVER: %q}, trustAnnotations: true}\n", self, note)
	r := newRig(t, withProvider(provider(t, "stubborn__get_report", "{}", "done"), server))
	cmd := r.serveProgram(&syncBuffer{})
	eventually(t, "the server's tool is there", func() bool { return strings.Contains(r.must("tools", "--json").out, "stubborn__get_report") })
	chat := make(chan ended, 1)
	go func() { chat <- r.run("", "chat", "report, please") }()
	pid := 0
	eventually(t, "the call is under way", func() bool {
		text, err := os.ReadFile(note)
		if err == nil {
			pid, err = strconv.Atoi(string(text))
		}
		return err == nil && pid > 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := <-chat; got.code != 1 || !strings.Contains(got.errors, "went away; what it was doing is unknown: see `pointsman journal`") {
		t.Errorf("the attached chat: %+v", got)
	}
	_ = cmd.Wait() // it was killed
	eventually(t, "the server is gone", func() bool { return gone(pid) })
	var row struct{ Tool, Outcome string }
	if err := json.Unmarshal([]byte(strings.Split(r.must("journal", "--json").out, "\n")[0]), &row); err != nil || row.Tool != "get_report" || row.Outcome != "unknown" {
		t.Errorf("the row is %+v, %v", row, err)
	}
	r.serveProgram(&syncBuffer{}) // what was left behind keeps nobody from starting
}

// gone reports whether a process has ended. One that nobody has waited for has.
func gone(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	if process.Signal(syscall.Signal(0)) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestProgramDemo(t *testing.T) {
	for answer, says := range map[string]string{"approve": "you approved it", "deny": "was not allowed"} {
		r := newRig(t, "")
		var out, errs bytes.Buffer
		cmd := r.program("demo", "--answer", answer)
		cmd.Stdout, cmd.Stderr = &out, &errs
		started := time.Now()
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), says) || time.Since(started) > patience {
			t.Errorf("%s: %v, %s, %s", answer, err, &out, &errs)
		}
	}
}

// Nothing of a library may reach the standard error.
func TestProgramIsQuiet(t *testing.T) {
	r := newRig(t, "")
	for _, args := range []string{"version", "models --json", "status --json", "config show", "completion bash", "__complete serve --"} {
		cmd := r.program(strings.Fields(args)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || out.Len() == 0 || errs.Len() > 0 && !strings.HasPrefix(args, "__") {
			t.Errorf("%s: %v, %d bytes, %q", args, err, out.Len(), &errs)
		}
		if args == "version" && !strings.Contains(out.String(), "v9.8.7") {
			t.Errorf("the version is %q", &out)
		}
	}
}
