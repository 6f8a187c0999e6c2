package cli

import "golang.org/x/sys/unix"

// shield keeps the other programs of this user, the MCP servers among them, from
// reading this process's memory, environment and files through /proc or a
// debugger: what they would find are keys, and the right to answer approvals. It
// also means that no core is dumped. That it fails leaves things as they are
// everywhere else.
func shield() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
