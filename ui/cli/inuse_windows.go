package cli

import "golang.org/x/sys/windows"

// addressInUse is the system's own error for a port that is taken.
const addressInUse = windows.WSAEADDRINUSE
