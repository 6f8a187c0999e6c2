//go:build !windows

package cli

import "syscall"

// The system's own errors for a port that is taken, and for a pipe that nobody
// reads any more.
const (
	addressInUse = syscall.EADDRINUSE
	pipeClosed   = syscall.EPIPE
)
