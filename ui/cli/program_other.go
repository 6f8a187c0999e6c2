//go:build !windows

package cli

import "os"

// residentProgram is what the desktop starts for a resident: this program.
func residentProgram() (string, error) { return os.Executable() }
