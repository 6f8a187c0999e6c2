package cli

import "golang.org/x/sys/windows"

// flushInput forgets what was typed at a console and not yet read. Where that
// fails, the prompt's own pause still holds.
func flushInput(tty int) { _ = windows.FlushConsoleInputBuffer(windows.Handle(tty)) }
