package conformance

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Inspector is the official MCP inspector, without its window.
type Inspector struct {
	node   string
	script string
}

// FindInspector returns the inspector that is installed beside dir, which is this
// package's. It needs the same Node as the runner.
func FindInspector(ctx context.Context, dir string) (*Inspector, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	i := &Inspector{script: filepath.Join(dir, "..", "inspector", "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")}
	if _, err := os.Stat(i.script); err != nil {
		return nil, fmt.Errorf("the inspector is not installed: run `make inspector`: %w", err)
	}
	i.node, err = findNode(ctx, nodeIn(dir))
	return i, err
}

// Run has the inspector ask a server something, and returns what it prints. Its
// own files are in home.
func (i *Inspector) Run(ctx context.Context, home string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, i.node, append([]string{i.script, "--cli"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("running the inspector with %q: %w\n%s", args, err, said.Bytes())
	}
	return out, nil
}
