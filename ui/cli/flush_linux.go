package cli

import "golang.org/x/sys/unix"

// flushInput forgets what was typed at a terminal and not yet read. Where that
// fails, the prompt's own pause still holds.
func flushInput(tty int) { _ = unix.IoctlSetInt(tty, unix.TCFLSH, unix.TCIFLUSH) }
