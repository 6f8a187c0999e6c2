//go:build !linux

package cli

// dropOwnPages leaves it to the system.
func dropOwnPages() {}

// dropFilePages leaves it to the system.
func dropFilePages() {}
