package cli

import "golang.org/x/sys/windows"

// pipeClosed is the system's error for a pipe that nobody reads any more.
const pipeClosed = windows.ERROR_NO_DATA
