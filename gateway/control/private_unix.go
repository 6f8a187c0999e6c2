//go:build unix

package control

import (
	"fmt"
	"os"
	"syscall"
)

// ownPrivate checks that dir is a folder of ours that nobody else can open: a
// folder in a shared place may have been put there by somebody else.
func ownPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("checking %s: %w", dir, err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || info.Mode().Perm() != 0o700 || int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a private folder of yours; remove it", dir)
	}
	return nil
}
