//go:build !windows

package port

import "syscall"

// addressInUse is the system's error for a port that is taken.
const addressInUse = syscall.EADDRINUSE
