//go:build !linux

package cli

// dropFilePages leaves it to the system.
func dropFilePages() {}
