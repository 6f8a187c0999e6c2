// Package autostart makes the desktop start the program when its user logs in:
// by an XDG autostart entry, a LaunchAgent on macOS, a value of the Run key on
// Windows. It starts no goroutine, but for what Watch is asked for.
package autostart

import (
	"errors"
	"fmt"
)

// name is what the entry is called where a path or a key needs one.
const name = "pointsman"

// Status is what the desktop would do at the next login.
type Status struct {
	Present bool   // there is an entry, perhaps switched off
	Enabled bool   // it will be started
	Program string // the executable that would be started
}

// Entry is this user's entry for one program. Program is required; the rest is
// for tests.
type Entry struct {
	Program string // absolute path of the executable
	// Getenv reads the environment. Nil: os.Getenv.
	Getenv func(string) string
}

// ErrUnverified says that what was written did not come to be.
var ErrUnverified = errors.New("the entry was written, but the desktop would not start this program")

// Set makes the desktop start the program at login, or not, and looks whether
// it will.
func (e Entry) Set(on bool) error {
	write := e.write
	if !on {
		write = e.remove
	}
	if err := write(); err != nil {
		return fmt.Errorf("changing launch at login: %w", err)
	}
	status, err := e.Status()
	if err != nil {
		return err
	}
	if status.Enabled != on || on && status.Program != e.Program {
		return fmt.Errorf("changing launch at login (%s): %w; it names %q", e.where(), ErrUnverified, status.Program)
	}
	return nil
}

// Repair makes an entry that is switched on, and names a program that is not
// there any more, name this one. It reports whether it did.
func (e Entry) Repair() (bool, error) {
	status, err := e.Status()
	if err != nil || !status.Enabled || status.Program == e.Program || executable(status.Program) {
		return false, err
	}
	return true, e.Set(true)
}
