package cli

import "runtime/debug"

// giveBack returns to the system what an idle program does not need: the memory
// that the collector keeps free, and the pages of its own file.
func giveBack() {
	debug.FreeOSMemory()
	dropOwnPages()
}
