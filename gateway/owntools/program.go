package owntools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxOutput is how much of the end of a program's output is kept, in bytes.
const maxOutput = 8 << 10

// program is one run of another program.
type program struct {
	path    string
	args    []string
	env     []string // beyond our own
	timeout time.Duration
}

// run runs the program and returns what it printed, without the blanks around it.
func (p program) run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, fmt.Errorf("it did not end within %s", p.timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.WaitDelay = 2 * time.Second // what it started may hold its output open
	out, err := cmd.CombinedOutput()
	said := strings.TrimSpace(string(out[max(0, len(out)-maxOutput):]))
	if err == nil {
		return said, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return said, fmt.Errorf("running %s %s: %w: %s", p.path, strings.Join(p.args, " "), err, said)
}

// find returns where a program is; "" when it is not installed.
func find(name string) string {
	path, err := exec.LookPath(name)
	if err != nil || errors.Is(err, exec.ErrDot) {
		return ""
	}
	return path
}
