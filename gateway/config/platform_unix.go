//go:build unix

package config

import (
	"errors"
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

// syncDir makes a rename in dir survive a loss of power. File systems that
// cannot do so say EINVAL.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
