package cli

import "golang.org/x/sys/windows"

// The system's own errors for a port that is taken, and for a pipe that nobody
// reads any more.
const (
	addressInUse = windows.WSAEADDRINUSE
	pipeClosed   = windows.ERROR_NO_DATA
)
