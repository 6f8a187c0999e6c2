//go:build unix

package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// File returns where the machine's policy is, if there is one.
func File() (string, error) {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/pointsman/policy.yaml", nil
	}
	return "/etc/pointsman/policy.yaml", nil
}

// trusted returns why somebody other than root may have written the file, or
// could put another one in its place; nil when nobody could.
func trusted(file string) error {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	for path := real; ; path = filepath.Dir(path) {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case !ok || stat.Uid != 0:
			return fmt.Errorf("%s does not belong to root; an administrator has to own it (chown root)", path)
		case info.Mode().Perm()&0o022 != 0 && !sticky(info):
			return fmt.Errorf("%s can be written by others than root (chmod go-w)", path)
		case path == real && !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a regular file", path)
		case path == filepath.Dir(path):
			return nil
		}
	}
}

// sticky says whether only a file's owner can rename or remove it in this folder,
// whoever may write there. The bit means nothing of the kind on a file.
func sticky(info os.FileInfo) bool {
	return info.IsDir() && info.Mode()&os.ModeSticky != 0
}
