package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput forgets what was typed at a terminal and not yet read. Where that
// fails, the prompt's own pause still holds.
func flushInput(tty *os.File) { _ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
