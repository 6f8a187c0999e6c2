package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
)

// watched is a resident as a process of its own, with a server whose calls leave a
// trace, and a person at its control socket.
type watched struct {
	*rig
	note     string
	resident *exec.Cmd
	control  *control.Client
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{note: filepath.Join(t.TempDir(), "note")}
	w.rig = newRig(t, scratchConfig+fmt.Sprintf("  stubborn: {command: %q, env: {CLI_TEST_SERVER: %q, CLI_TEST_MEEK: yes}}\napprovals: {control: true}\n", self, w.note))
	w.resident = w.serveProgram(&syncBuffer{})
	home, err := config.Locate(func(name string) string { return w.env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if w.control, err = control.Dial(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.control.Close)
	eventually(t, "the server's tools are there", func() bool { return strings.Contains(w.must("tools", "--json").out, "stubborn__send_report") })
	return w
}

// ran counts the calls with a mark that have run.
func (w *watched) ran(mark string) int {
	text, err := os.ReadFile(w.note + ranSuffix)
	if err != nil {
		return 0 // none has
	}
	return strings.Count(string(text), mark+"\n")
}

// waiting waits until the call with a mark waits for the person.
func (w *watched) waiting(t *testing.T, mark string) string {
	t.Helper()
	id := ""
	eventually(t, "the call waits", func() bool {
		pending, err := w.control.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(pending, func(req approvals.Request) bool { return strings.Contains(string(req.Arguments), mark) })
		if i >= 0 {
			id = pending[i].ID
		}
		return i >= 0
	})
	return id
}

// until brings the call with a mark, which was made, to a step of its life.
func (w *watched) until(t *testing.T, step, mark string) (id string) {
	t.Helper()
	if step == "before" {
		return ""
	}
	id = w.waiting(t, mark)
	if step == "waiting" {
		return id
	}
	d := approvals.Decision{Outcome: approvals.Allowed}
	if step == "denied" {
		d.Outcome = approvals.Denied
	}
	if counted, err := w.control.Answer(t.Context(), id, d); err != nil || !counted {
		t.Fatalf("the answer counted: %v, %v", counted, err)
	}
	if step == "running" {
		eventually(t, "the call runs", func() bool { return w.ran(mark) == 1 })
	}
	return id
}

// row returns what the record says of the call with a mark, when that has ended.
func (w *watched) row(t *testing.T, mark string) gjson.Result {
	t.Helper()
	var row gjson.Result
	eventually(t, "the record tells the call's end", func() bool {
		row = gjson.Parse(w.must("journal", "--json", "--text", mark).out)
		return row.Get("outcome").Str != ""
	})
	return row
}

// late approves what does not wait any more.
func (w *watched) late(t *testing.T, id string) {
	t.Helper()
	if counted, err := w.control.Answer(t.Context(), id, approvals.Decision{Outcome: approvals.Allowed}); err != nil || counted {
		t.Errorf("a late answer counted: %v, %v", counted, err)
	}
}

// stop ends the resident with a signal.
func (w *watched) stop(signal os.Signal) {
	_ = w.resident.Process.Signal(signal)
	_ = w.resident.Wait()
}

// The steps of a call's life at which a process is killed: before it asks, while it
// waits, just when it was denied or allowed, and while it runs.
var steps = []string{"before", "waiting", "denied", "allowed", "running"}

// endings are the outcomes that a call may have that was cut short at a step, by
// whether the resident lives on.
func endings(step string, resident bool) []string {
	switch {
	case step == "waiting" && resident:
		return []string{"withdrawn"}
	case step == "denied" && resident:
		return []string{"denied"}
	case step == "running" && resident:
		return []string{"cancelled"}
	case step == "waiting" || step == "running":
		return []string{"unknown", "withdrawn", "cancelled"}
	case step == "denied":
		return []string{"unknown", "denied", "withdrawn"}
	default:
		return []string{"unknown", "withdrawn", "cancelled", "failed", "ok", "denied"}
	}
}

// check checks what became of a call that was cut short at a step.
func (w *watched) check(t *testing.T, step, mark string, resident bool) {
	t.Helper()
	ran := w.ran(mark)
	if step == "before" {
		if ran != 0 {
			t.Error("a call that was not asked about ran")
		}
		return
	}
	row := w.row(t, mark)
	if outcome := row.Get("outcome").Str; !slices.Contains(endings(step, resident), outcome) {
		t.Errorf("the record says %s", row.Raw)
	}
	switch approved := row.Get("approved").Bool(); {
	case ran > 0 && !approved, ran > 1:
		t.Errorf("it ran %d times, and the record says %s", ran, row.Raw)
	case (step == "waiting" || step == "denied") && (ran > 0 || approved):
		t.Errorf("nobody had allowed it, it ran %d times, and the record says %s", ran, row.Raw)
	case step == "running" && ran != 1:
		t.Errorf("it ran %d times", ran)
	}
}

// TestKilledMCP kills each process on the way of an MCP client's call, at each step
// of it: what nobody has allowed never runs, and what was allowed runs at most once.
func TestKilledMCP(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	shared := newWatched(t)
	for _, victim := range []string{"client", "mcp", "resident", "resident is told to end"} {
		for _, step := range steps {
			t.Run(victim+"/"+step, func(t *testing.T) {
				w := shared
				if strings.HasPrefix(victim, "resident") {
					w = newWatched(t)
				}
				mark := "mark-" + victim[:3] + "-" + step
				m := w.mcp()
				if step != "before" {
					m.send(sendReport(mark))
				}
				id := w.until(t, step, mark)
				switch victim {
				case "client": // its ends of the streams go with it
					_ = m.in.Close()
					_ = m.stdout.Close()
				case "mcp":
					_ = m.cmd.Process.Kill()
				case "resident":
					w.stop(syscall.SIGKILL)
				default:
					w.stop(syscall.SIGTERM)
				}
				if w != shared {
					m.refused(step, mark)
				} else {
					_ = m.cmd.Wait() // it ends, too
					if step == "waiting" {
						eventually(t, "the request is withdrawn", func() bool {
							pending, err := w.control.Pending(t.Context())
							return err == nil && len(pending) == 0
						})
						w.late(t, id)
					}
				}
				w.check(t, step, mark, w == shared)
			})
		}
	}
}

func sendReport(mark string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"stubborn__send_report","arguments":{"mark":%q}}}`, mark)
}

// refused expects that a client whose resident has gone at a step is told so: its
// call is not made again by other means.
func (m *mcpProgram) refused(step, mark string) {
	m.t.Helper()
	var answer gjson.Result
	if step == "before" {
		answer = m.ask(sendReport(mark))
	} else {
		answer = m.answer("7")
	}
	if !answer.Get("error").Exists() && !answer.Get("result.isError").Bool() {
		m.t.Errorf("the client was told %s", answer.Raw)
	}
}

// TestKilledHook is the same for Copilot's hooks: Copilot runs its tool when the
// hook has said so and ended well, and then a person has allowed it.
func TestKilledHook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	shared := newWatched(t)
	for _, victim := range []string{"hook", "hook is told to end", "resident", "resident is told to end"} {
		for _, step := range steps[:len(steps)-1] { // it is Copilot that runs it
			t.Run(victim+"/"+step, func(t *testing.T) {
				w := shared
				if strings.HasPrefix(victim, "resident") {
					w = newWatched(t)
				}
				mark := fmt.Sprintf("mark-%d-%s", len(victim), step)
				h := w.hook(t, mark, step == "before")
				id := w.until(t, step, mark)
				switch victim {
				case "hook":
					_ = h.cmd.Process.Kill()
				case "hook is told to end":
					_ = h.cmd.Process.Signal(syscall.SIGTERM)
				case "resident":
					w.stop(syscall.SIGKILL)
				default:
					w.stop(syscall.SIGTERM)
				}
				allowed := h.allowed()
				if allowed && step != "allowed" {
					t.Errorf("Copilot would run it: %s", &h.out)
				}
				if step == "before" {
					return
				}
				if step == "waiting" && w == shared {
					w.row(t, mark)
					w.late(t, id)
				}
				if w == shared && step == "allowed" {
					return // whether Copilot ran it, its next hook tells
				}
				w.check(t, step, mark, w == shared)
			})
		}
	}
}

// hookProgram is the built program's hook, as Copilot starts it.
type hookProgram struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out bytes.Buffer
}

// hook has Copilot ask about a command, or be about to.
func (w *watched) hook(t *testing.T, mark string, half bool) *hookProgram {
	t.Helper()
	h := &hookProgram{cmd: w.program("hook", "copilot", "preToolUse")}
	h.cmd.Stdout = &h.out
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.cmd.Process.Kill(); _ = h.cmd.Wait() })
	event := fmt.Sprintf(`{"sessionId":"s1","cwd":%q,"toolName":"bash","toolArgs":{"command":"touch %s"}}`, w.home, mark)
	if half {
		event = event[:len(event)/2]
	}
	if _, err := io.WriteString(h.in, event); err != nil {
		t.Fatal(err)
	}
	if !half {
		_ = h.in.Close()
	}
	return h
}

// allowed waits for the hook's end, and reports whether Copilot takes its answer for
// a yes.
func (h *hookProgram) allowed() bool {
	_ = h.in.Close()
	err := h.cmd.Wait()
	return err == nil && gjson.Get(h.out.String(), "permissionDecision").Str == "allow"
}
