//go:build unix

package config

import (
	"os"
	"syscall"
)

// ownedByUs reports whether dir is a directory (not a link to one) of this user.
func ownedByUs(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
