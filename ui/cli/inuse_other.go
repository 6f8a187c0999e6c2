//go:build !windows

package cli

import "syscall"

// addressInUse is the system's own error for a port that is taken.
const addressInUse = syscall.EADDRINUSE
