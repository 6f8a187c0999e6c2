package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// LinkTarget is the file that writing to path has to replace so that links stay
// links. It need not be there.
func LinkTarget(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return danglingTarget(path)
	}
	return target, err
}

// danglingTarget is where a link without a file points, or path itself.
func danglingTarget(path string) (string, error) {
	link, err := os.Readlink(path)
	if err != nil {
		return path, nil
	}
	if !filepath.IsAbs(link) {
		link = filepath.Join(filepath.Dir(path), link)
	}
	return link, nil
}

// WriteFile replaces a file, which is no link, in one step: after a crash it is
// the old or the new one. last is asked just before; nil: nothing. Its error leaves
// the old one.
func WriteFile(path string, text []byte, mode fs.FileMode, last func() error) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(text); err != nil {
		return err
	}
	if mode != 0o600 {
		if err = temp.Chmod(mode); err != nil {
			return err
		}
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	if last != nil {
		if err = last(); err != nil {
			return err
		}
	}
	if err = os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
