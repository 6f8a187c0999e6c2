package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/hooks"
)

// hooked is the real Copilot CLI with our hooks in front of its own tools. Its
// model is the scripted provider itself, so that it goes on when we do not.
type hooked struct {
	*pointsman
	home string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	out  bytes.Buffer
}

// hookCopilot starts Copilot with a prompt, in the folder of p.
func hookCopilot(t *testing.T, p *pointsman, prompt string, flags []string, env ...string) *hooked {
	t.Helper()
	program := copilotProgram(t)
	h := &hooked{pointsman: p, home: t.TempDir(), done: make(chan struct{})}
	content, err := hooks.File(os.Getenv(binaryVariable))
	if err != nil {
		t.Fatal(err)
	}
	h.write(t, "hooks/pointsman.json", content)
	self := fmt.Sprintf(`{"mcpServers":{"pointsman":{"command":%q,"args":["mcp"],"tools":["*"],"env":{"POINTSMAN_HOME":%q}}}}`, os.Getenv(binaryVariable), p.home)
	h.write(t, "mcp-config.json", []byte(self))
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	args := append([]string{"-p", string(p.fill(prompt, "hook")), "-s", "--no-color", "--no-ask-user", "--no-auto-update", "--disable-builtin-mcps", "-C", p.folder}, flags...)
	h.cmd = exec.CommandContext(ctx, program, args...)
	h.cmd.Env = offline(h.home, append([]string{
		"POINTSMAN_HOME=" + p.home, "GORACE=atexit_sleep_ms=0",
		"COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_BASE_URL=" + p.URL + "/v1", "COPILOT_PROVIDER_API_KEY=provider-key", "COPILOT_MODEL=scripted/test",
	}, env...)...)
	h.cmd.Stdout, h.cmd.Stderr = &h.out, &h.out
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = h.cmd.Wait(); cancel(); close(h.done) }()
	t.Cleanup(func() { _ = h.cmd.Process.Kill(); <-h.done })
	return h
}

func (h *hooked) write(t *testing.T, name string, content []byte) {
	t.Helper()
	path := filepath.Join(h.home, ".copilot", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// answer waits for Copilot's end, and returns what it printed.
func (h *hooked) answer(t *testing.T) string {
	t.Helper()
	<-h.done
	return h.out.String()
}

// person answers what comes until Copilot has ended, and returns the tools that
// were asked about. A reason denies, "" approves.
func (h *hooked) person(t *testing.T, reason func(approvals.Request) string) []string {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		_ = h.control.Watch(ctx, func(pending []approvals.Request) { // it ends with Copilot
			for _, req := range pending {
				d := approvals.Decision{Outcome: approvals.Allowed, Reason: reason(req)}
				if d.Reason != "" {
					d.Outcome = approvals.Denied
				}
				if counted, err := h.control.Answer(ctx, req.ID, d); err == nil && counted {
					mu.Lock()
					asked = append(asked, req.Tool)
					mu.Unlock()
				}
			}
		})
	})
	<-h.done
	cancel()
	watching.Wait()
	slices.Sort(asked)
	return asked
}

// made lists the files in the folder.
func (p *pointsman) made(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(p.folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

// outcomes lists the journal's rows as tool:outcome, sorted.
func (p *pointsman) outcomes(t *testing.T) string {
	t.Helper()
	var all []string
	for _, row := range p.journal(t) {
		all = append(all, row.Get("tool").String()+":"+row.Get("outcome").String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

var everything = []string{"--allow-all-tools"} // what Copilot would run without asking

// TestHook has the real Copilot's own tools, in parallel and of a sub-agent, come
// before the desk: each is asked about or allowed as its class says.
func TestHook(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{extra: "approvals: {control: true}\n"})
	h := hookCopilot(t, p, `@tool view {"path":"%FOLDER%/poem.txt"}
@tool bash {"command":"ls","description":"list"}
@tool bash {"command":"touch made.txt","description":"make"}
@tool bash {"command":"touch secret.txt","description":"make"}
@tool create {"path":"%FOLDER%/new.txt","file_text":"hello\n"}
@tool edit {"path":"%FOLDER%/poem.txt","old_str":"roses","new_str":"weeds"}
@tool task {"description":"d","prompt":"@tool bash {\"command\":\"touch agent.txt\"}","agent_type":"general-purpose","name":"n","mode":"sync"}`, everything)
	asked := h.person(t, func(req approvals.Request) string {
		if args := string(req.Arguments); strings.Contains(args, "made.txt") || strings.Contains(args, "new.txt") {
			return ""
		}
		return "leave that alone"
	})
	answer := h.answer(t)
	expect(t, "asked about", strings.Join(asked, " "), "bash bash bash create edit")
	expect(t, "the files", p.made(t), "made.txt new.txt poem.txt")
	for _, part := range []string{"roses are red", "leave that alone"} {
		contains(t, "the answer", answer, part)
	}
	expect(t, "the record", p.outcomes(t), "bash:denied bash:denied bash:ok bash:ok create:ok edit:denied task:ok view:ok")
	sessions := map[string]bool{}
	for _, row := range p.journal(t) {
		sessions[row.Get("session").String()] = true
		expect(t, "the server", row.Get("server").String(), hooks.Server)
		contains(t, "the client", row.Get("client").String(), "copilot-cli")
	}
	expect(t, "sessions", len(sessions), 1)
	if strings.Contains(p.stderr.String(), "alarm") {
		t.Error("an alarm was raised")
	}
}

// TestHookPermission: where Copilot would ask for permission itself, the ticket
// of an approved call answers.
func TestHookPermission(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{extra: "approvals: {control: true}\n"})
	h := hookCopilot(t, p, `@tool create {"path":"%FOLDER%/new.txt","file_text":"hello\n"}
@tool edit {"path":"%FOLDER%/poem.txt","old_str":"roses","new_str":"weeds"}`, nil)
	h.person(t, func(approvals.Request) string { return "" })
	expect(t, "the record", p.outcomes(t), "create:ok edit:ok")
	expect(t, "the files", p.made(t), "new.txt poem.txt")
	poem, err := os.ReadFile(filepath.Join(p.folder, "poem.txt"))
	if err != nil || string(poem) != "weeds are red" {
		t.Errorf("the poem is %q, %v", poem, err)
	}
}

// TestHookPatch: the models that patch files are asked about, too.
func TestHookPatch(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{extra: "approvals: {control: true}\n"})
	h := hookCopilot(t, p, `@tool apply_patch {"input":"*** Begin Patch\n*** Add File: %FOLDER%/yes.txt\n+hi\n*** End Patch"}
@tool apply_patch {"input":"*** Begin Patch\n*** Add File: %FOLDER%/no.txt\n+hi\n*** End Patch"}
@tool rg {"pattern":"roses"}`, everything, "COPILOT_PROVIDER_MODEL_ID=gpt-5.4")
	asked := h.person(t, func(req approvals.Request) string {
		if strings.HasSuffix(gjson.GetBytes(req.Arguments, "files.0").String(), "/yes.txt") {
			return ""
		}
		return "not that file"
	})
	expect(t, "asked about", strings.Join(asked, " "), "apply_patch apply_patch")
	expect(t, "the files", p.made(t), "poem.txt yes.txt")
	expect(t, "the record", p.outcomes(t), "apply_patch:denied apply_patch:ok rg:ok")
}

// TestHookServers: a tool of an MCP server that Copilot has itself is asked about;
// one that comes through our own MCP door is asked about once, by the door.
func TestHookServers(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	other := filepath.Join(p.home, "mcp.json")
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"other": map[string]any{
		"command": "node", "args": []string{npm(t, "@modelcontextprotocol/server-everything/dist/index.js"), "stdio"}, "tools": []string{"*"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, config, 0o600); err != nil {
		t.Fatal(err)
	}
	h := hookCopilot(t, p, `@tool other-echo {"message":"hi"}
@tool pointsman-fs__write_file {"path":"%FOLDER%/door.txt","content":"x"}
@tool pointsman-fs__read_text_file {"path":"%FOLDER%/poem.txt"}`, append([]string{"--additional-mcp-config", "@" + other}, everything...))
	asked := h.person(t, func(approvals.Request) string { return "" })
	contains(t, "the answer", h.answer(t), "roses are red")
	expect(t, "asked about", strings.Join(asked, " "), "other-echo write_file")
	expect(t, "the files", p.made(t), "door.txt poem.txt")
	expect(t, "the record", p.outcomes(t), "other-echo:ok read_text_file:ok write_file:ok")
	sessions := map[string]bool{}
	for _, row := range p.journal(t) {
		sessions[row.Get("session").String()] = true
	}
	expect(t, "sessions", len(sessions), 1)
}

// TestHookKilled ends each process while a call waits for a person, in each way:
// nothing runs.
func TestHookKilled(t *testing.T) {
	t.Parallel()
	const prompt = `@tool bash {"command":"touch made.txt","description":"make"}
@then
@tool bash {"command":"ls","description":"list"}
@tool bash {"command":"touch later.txt","description":"make"}`
	tests := []struct {
		name  string
		extra string
		kill  func(t *testing.T, h *hooked)
		says  string
		later bool // the desk is asked again
	}{
		{"nobody answers", "approvals: {control: true, timeout: 1s}\n", func(*testing.T, *hooked) {}, "nobody answered in time", false},
		{"the resident is killed", "", func(t *testing.T, h *hooked) { _ = h.pointsman.cmd.Process.Kill() }, "Pointsman is not running", false},
		{"the resident is stopped", "", func(t *testing.T, h *hooked) { _ = h.pointsman.cmd.Process.Signal(syscall.SIGTERM) }, "shutting down", false},
		{"the hook is killed", "", func(t *testing.T, h *hooked) { signalHooks(t, h, syscall.SIGKILL) }, "", true},
		{"the hook is told to end", "", func(t *testing.T, h *hooked) { signalHooks(t, h, syscall.SIGTERM) }, "", true},
		{"Copilot is killed", "", func(t *testing.T, h *hooked) { _ = h.cmd.Process.Kill() }, "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			extra := test.extra
			if extra == "" {
				extra = "approvals: {control: true}\n"
			}
			p := serve(t, setup{extra: extra})
			h := hookCopilot(t, p, prompt, everything)
			p.pending(t, 1)
			test.kill(t, h)
			if test.later {
				await(t, "the request to be withdrawn, and the next", func() bool {
					pending, err := p.control.Pending(t.Context())
					return err == nil && len(pending) == 1 && strings.Contains(string(pending[0].Arguments), "later.txt")
				})
				p.decide(t, p.pending(t, 1)[0], false, "no more")
			}
			contains(t, "the answer", h.answer(t), test.says)
			expect(t, "the files", p.made(t), "poem.txt")
			if test.name == "Copilot is killed" {
				p.pending(t, 0)
			}
		})
	}
}

// TestHookOrphaned: when only the program is killed that has started a hook, the
// hook, whose input and output live on, withdraws its request and denies.
func TestHookOrphaned(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{extra: "approvals: {control: true}\n"})
	hook := p.command(t.Context(), "hook", "copilot", "preToolUse")
	parent := p.command(t.Context())
	parent.Path, parent.Args = "/bin/sh", append([]string{"sh", "-c", `"$@"; :`, "sh"}, hook.Args...)
	parent.Stdin = strings.NewReader(p.bash("touch made.txt"))
	var out bytes.Buffer
	parent.Stdout, parent.Stderr, parent.WaitDelay = &out, &out, patience
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	asked := p.pending(t, 1)[0]
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // until the hook has closed its output, too
	contains(t, "the hook's answer", out.String(), `"permissionDecision":"deny"`)
	contains(t, "the hook's answer", out.String(), "has gone")
	p.pending(t, 0)
	if counted, err := p.control.Answer(t.Context(), asked.ID, approvals.Decision{Outcome: approvals.Allowed}); err == nil && counted {
		t.Error("a request that was withdrawn can be allowed")
	}
	await(t, "the end of the row", func() bool { return p.row(t).Get("outcome").String() == "withdrawn" })
}

// signalHooks signals the hook's process that waits.
func signalHooks(t *testing.T, h *hooked, signal syscall.Signal) {
	t.Helper()
	for _, pid := range descendants(t, h.cmd.Process.Pid) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(line, []byte("\x00hook\x00copilot\x00")) {
			_ = syscall.Kill(pid, signal)
			return
		}
	}
	t.Error("no hook waits")
}
