//go:build !unix

package config

// ownedByUs reports whether dir is this user's runtime directory. Systems other
// than Unix have none.
func ownedByUs(string) bool { return false }

// syncDir does nothing: Windows has no such call for directories.
func syncDir(string) error { return nil }
