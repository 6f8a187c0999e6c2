package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"pointsman/approvals"
)

// hook runs the hook's command to its end, and returns what it printed and its
// exit code.
func (p *pointsman) hook(t *testing.T, event string, args ...string) (stdout string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := p.command(ctx, append([]string{"hook", "copilot"}, args...)...)
	cmd.Stdin = strings.NewReader(event)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("the hook: %v", err)
	}
	if stderr.Len() > 0 {
		t.Errorf("the hook said: %s", stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n"), cmd.ProcessState.ExitCode()
}

// bash is the event before a command runs.
func (p *pointsman) bash(command string) string {
	return fmt.Sprintf(`{"sessionId":"s1","timestamp":1,"cwd":%q,"toolName":"bash","toolArgs":{"command":%q}}`, p.folder, command)
}

const hookAllows = `{"permissionDecision":"allow"}`

// TestHookCommand: one JSON object and nothing else, and an exit code that blocks
// whenever there is no clear answer.
func TestHookCommand(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{extra: "approvals: {control: true, timeout: 1s}\n"})
	event := p.bash("ls")
	tests := []struct {
		name, event string
		args        []string
		code        int
		says        string // part of it; "": it allows
	}{
		{"a read", event, nil, 0, ""},
		{"a read, by its name", event, []string{"preToolUse"}, 0, ""},
		{"nobody answers", p.bash("touch x"), nil, 0, `"deny","permissionDecisionReason":"nobody answered in time"`},
		{"nothing", "", nil, 2, `"deny"`},
		{"garbage", "rubbish", nil, 2, `"deny"`},
		{"two events", event + event, nil, 2, `"deny"`},
		{"another event", event, []string{"postToolUse"}, 2, `"deny"`},
		{"an unknown event", event, []string{"x"}, 2, `"deny"`},
		{"too many arguments", event, []string{"preToolUse", "x"}, 2, `"deny"`},
		{"an unknown flag", event, []string{"--x", "preToolUse"}, 0, ""},
		{"no ticket", `{"hookName":"permissionRequest","sessionId":"s1","cwd":"/","toolName":"bash","toolInput":{"command":"ls x"}}`, nil, 0, `{"behavior":"deny"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, code := p.hook(t, test.event, test.args...)
			expect(t, "the exit code", code, test.code)
			if test.says == "" {
				expect(t, "the answer", out, hookAllows)
			} else {
				contains(t, "the answer", out, test.says)
			}
		})
	}
	p.end(t)
	out, code := p.hook(t, event)
	expect(t, "a read without a resident", out, hookAllows)
	expect(t, "its exit code", code, 0)
	out, code = p.hook(t, p.bash("touch x"))
	expect(t, "a write without a resident", out, `{"permissionDecision":"deny","permissionDecisionReason":"Pointsman is not running"}`)
	expect(t, "its exit code", code, 2)
}

// TestHookRule: a command's first words are remembered for a folder, over a
// restart too.
func TestHookRule(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{extra: "approvals: {control: true, timeout: 20s}\n"})
	answered := make(chan string, 1)
	go func() {
		out, _ := p.hook(t, p.bash("git commit -m first"))
		answered <- out
	}()
	req := p.pending(t, 1)[0]
	counted, err := p.control.Answer(t.Context(), req.ID, approvals.Decision{Outcome: approvals.Allowed, Scope: &approvals.Scope{
		Lifetime: approvals.Always, CommandPrefix: []string{"git", "commit"}, Folder: p.folder,
	}})
	if err != nil || !counted {
		t.Fatalf("counted %v, %v", counted, err)
	}
	expect(t, "the answer", <-answered, hookAllows)
	p.end(t)
	p.start(t, "serve", "--listen", freeAddress(t))
	out, _ := p.hook(t, p.bash("git commit -m second"))
	expect(t, "the answer after a restart", out, hookAllows)
	rows := p.rows(t) // Copilot has not told of their ends
	expect(t, "who said yes", rows[0].Get("approver").String()+" "+rows[1].Get("approver").String(), "rule desk")
}
