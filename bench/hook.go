package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// hookEvent is what Copilot tells a hook before a tool that only looks.
const hookEvent = `{"sessionId":"bench","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":{"command":"git status","description":"look"}}`

// hookCalls answers Copilot's hook for an allowed read again and again, each time
// with a process of its own.
func (b *bench) hookCalls(ctx context.Context) error {
	home := filepath.Join(b.stage.dir, "gateway")
	var took []float64
	for range 10 * b.opts.starts {
		cmd := exec.CommandContext(ctx, b.stage.binary, "hook", "copilot", "preToolUse")
		cmd.Env, cmd.Stdin = b.stage.env(home), bytes.NewReader([]byte(hookEvent))
		began := time.Now()
		out, err := cmd.Output()
		took = append(took, micros(time.Since(began))/1e3)
		if err != nil || !bytes.Contains(out, []byte(`"allow"`)) {
			return fmt.Errorf("the hook answered %q: %w", out, err)
		}
	}
	median, most := newRow("a hook's answer for an allowed read, with its start, median", "ms", atMost(15)),
		newRow("the same, 95th of 100", "ms", nothing)
	median.set(gateway, quantile(took, 0.5))
	most.set(gateway, quantile(took, 0.95))
	b.rep.add(median, most)
	return nil
}
