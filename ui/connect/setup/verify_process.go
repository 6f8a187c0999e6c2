package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/hooks"
	"pointsman/gateway/secrets"
	"pointsman/ui/connect/edit"
)

// stopping is how long a process may take to end when it is told to.
const stopping = 2 * time.Second

// tryServer starts the MCP server that a program's file names, and asks for its
// tools.
func (s *Setup) tryServer(ctx context.Context, c client, p part, text []byte) (what, words string, err error) {
	entries, err := p.ours(text)
	if err != nil || len(entries) == 0 {
		return "", "", errors.Join(err, ErrNotSet)
	}
	entry, err := serverIn(p.format, text, entries[0])
	if err != nil {
		return "", "", err
	}
	what = strings.Join(append([]string{entry.Command}, entry.Args...), " ")
	cmd := exec.CommandContext(ctx, entry.Command, entry.Args...)
	cmd.Env, cmd.Dir = s.environmentOf(c), os.TempDir()
	envText(entry.Env, func(name, value string) { cmd.Env = append(cmd.Env, name+"="+value) })
	var complaints tail
	cmd.Stderr = &complaints
	begun := time.Now()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "pointsman-connect", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: stopping}, nil)
	if err != nil {
		return what, "", fmt.Errorf("starting the MCP server that is written there: %w%s", err, complaints.said())
	}
	tools, err := session.ListTools(ctx, nil)
	if closed := session.Close(); err == nil && closed != nil {
		err = closed
	}
	if err != nil {
		return what, "", fmt.Errorf("asking the MCP server for its tools: %w", err)
	}
	return what, fmt.Sprintf("it answered in %s, with %d tools", time.Since(begun).Round(10*time.Millisecond), len(tools.Tools)), nil
}

// tail keeps the end of what a process has complained of, which may still go on.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
}

// tailLength bounds what is kept, in bytes.
const tailLength = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailLength):]
	return len(p), nil
}

// said is the last line, for the end of an error.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	last := lines[len(lines)-1]
	if last == "" {
		return ""
	}
	var redactor secrets.Redactor
	return "; it says: " + redactor.Redact(last)
}

// server is an entry that starts a process.
type server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

func serverIn(format edit.Format, text []byte, e edit.Entry) (server, error) {
	var entry server
	o, _, err := format.Get(text, e)
	if err != nil {
		return entry, err
	}
	data, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(data, &entry)
	}
	if err != nil || entry.Command == "" {
		return entry, errors.New("its entry for Pointsman names no command that can be started")
	}
	return entry, nil
}

// tryHook runs the hook that a hooks file names, for a call that only reads.
func (s *Setup) tryHook(ctx context.Context, text []byte) (what, words string, err error) {
	first := gjson.GetBytes(text, "hooks."+hooks.PreToolUse+".0")
	program := first.Get("exec").String()
	if !json.Valid(text) || program == "" {
		return "", "", errors.New("it names no hook before a tool, or is not plain JSON: Copilot does not load it")
	}
	var args []string
	for _, arg := range first.Get("args").Array() {
		args = append(args, arg.String())
	}
	what = strings.Join(append([]string{program}, args...), " ")
	folder := os.TempDir()
	event, err := json.Marshal(map[string]any{
		"sessionId": "pointsman-connect-verify", "timestamp": time.Now().UnixMilli(), "cwd": folder, "toolName": "view", "toolArgs": map[string]string{"path": folder},
	})
	if err != nil {
		return what, "", err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.WaitDelay = os.Environ(), folder, bytes.NewReader(event), stopping
	begun := time.Now()
	out, err := cmd.Output()
	if decision := gjson.GetBytes(out, "permissionDecision").String(); err != nil || decision != "allow" {
		return what, "", fmt.Errorf("the hook did not let a read pass: %s%s", gjson.GetBytes(out, "permissionDecisionReason").String(), ending(err))
	}
	return what, fmt.Sprintf("it let a read pass, in %s", time.Since(begun).Round(time.Millisecond)), nil
}

func ending(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf(" (%v)", err)
}

// shell runs a command line as Copilot does, and returns what it prints.
func shell(ctx context.Context, line string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/C", line)
	}
	cmd.WaitDelay = stopping
	var complaints tail
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w%s", err, complaints.said())
	}
	return strings.TrimSpace(string(out)), nil
}
