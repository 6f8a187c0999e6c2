//go:build unix && !linux

package cli

import "golang.org/x/sys/unix"

// readQueue is FREAD of <sys/fcntl.h>: the input's queue.
const readQueue = 1

// flushInput forgets what was typed at a terminal and not yet read. Where that
// fails, the prompt's own pause still holds.
func flushInput(tty int) {
	_ = unix.IoctlSetPointerInt(tty, unix.TIOCFLUSH, readQueue)
}
