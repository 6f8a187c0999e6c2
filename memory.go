package main

import (
	"os"
	"runtime/debug"
)

const (
	// collectAt lets the heap grow to five times what is alive before it is
	// collected: forwarding makes little that lives, and collecting at the
	// default of twice that costs a fifth of the program's CPU under load.
	collectAt = 400
	// memoryLimit is where that ends, in bytes; the gateway gives memory back
	// when it has been idle for some seconds.
	memoryLimit = 256 << 20
)

// tuneMemory trades memory for CPU, unless the user has chosen by Go's own
// variables.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
