// Package clipboard puts text on the desktop's clipboard, by the programs that
// desktops have for it: the resident has no window toolkit, and needs no more
// than this. It starts no goroutine.
package clipboard

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// patience bounds a copy.
const patience = 3 * time.Second

// ErrMissing says that there is no program to copy with.
var ErrMissing = errors.New("nothing here can copy")

// Clipboard is a desktop's. It is safe for concurrent use.
type Clipboard struct {
	command []string
	missing string // what to install; "" when there is a command
}

// Missing says what has to be installed before anything can be copied, in a few
// words, or "".
func (c Clipboard) Missing() string { return c.missing }

// Copy puts text on the clipboard. The text is given on the program's standard
// input: a command line can be read by others.
func (c Clipboard) Copy(ctx context.Context, text string) error {
	if len(c.command) == 0 {
		return fmt.Errorf("copying to the clipboard: %w: %s", ErrMissing, c.missing)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.command[0], c.command[1:]...)
	// The program stays, as the owner of the clipboard, until something else is
	// copied. It must not hold a pipe of ours open meanwhile.
	cmd.Stdin = strings.NewReader(text)
	cmd.WaitDelay = patience
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("copying to the clipboard with %s: %w", c.command[0], err)
	}
	return nil
}

// choose takes the first of commands that is installed.
func choose(commands [][]string, missing string) Clipboard {
	for _, command := range commands {
		if path, err := exec.LookPath(command[0]); err == nil {
			return Clipboard{command: append([]string{path}, command[1:]...)}
		}
	}
	return Clipboard{missing: missing}
}
