package windows

import (
	"fmt"
	"io"
	"os/exec"
)

// newLine gives a process that is about to start our end of its standard input.
// theirs is closed after the start.
func newLine(cmd *exec.Cmd) (ours io.WriteCloser, theirs io.Closer, err error) {
	ours, err = cmd.StdinPipe()
	if err != nil {
		return nil, nil, fmt.Errorf("starting the windows: %w", err)
	}
	return ours, io.NopCloser(nil), nil // the command closes the other end by itself
}
