//go:build unix

package windows

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// newLine gives a process that is about to start our end of its standard input.
// It is a socket, not a pipe: the other programs of the same user can open a
// process's pipe through /proc, and read what was meant for it. theirs is closed
// after the start.
func newLine(cmd *exec.Cmd) (ours io.WriteCloser, theirs io.Closer, err error) {
	syscall.ForkLock.RLock() // no process of somebody else's starts meanwhile and keeps an end
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("starting the windows: %w", err)
	}
	end := os.NewFile(uintptr(pair[1]), "the windows' end")
	cmd.Stdin = end
	return os.NewFile(uintptr(pair[0]), "the resident's end"), end, nil
}
