package port

import "golang.org/x/sys/windows"

// addressInUse is the system's error for a port that is taken.
const addressInUse = windows.WSAEADDRINUSE
