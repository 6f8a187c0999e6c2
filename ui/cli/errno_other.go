//go:build !windows

package cli

import "syscall"

// pipeClosed is the system's error for a pipe that nobody reads any more.
const pipeClosed = syscall.EPIPE
