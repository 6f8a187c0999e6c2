//go:build !linux

package cli

// shield leaves it to the system, which lets no program read another's memory
// without the user's consent (macOS), or offers no such switch.
func shield() {}
