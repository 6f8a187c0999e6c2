//go:build !windows

package autostart

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Status reads the entry as it is now, also when somebody else wrote it.
func (e Entry) Status() (Status, error) {
	path, err := e.path()
	if err != nil {
		return Status{}, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, fmt.Errorf("reading launch at login: %w", err)
	}
	return parse(data), nil
}

func (e Entry) where() string {
	path, err := e.path()
	if err != nil {
		return err.Error()
	}
	return path
}

func (e Entry) write() error {
	path, err := e.path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temp := path + ".new"
	if err := os.WriteFile(temp, e.render(), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func (e Entry) remove() error {
	path, err := e.path()
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// executable reports whether path can be run.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// Watch calls changed when it has begun to watch, and after the entry may have
// changed, until ctx ends. It returns at once when there is no folder of entries
// yet.
func (e Entry) Watch(ctx context.Context, changed func()) error {
	path, err := e.path()
	if err != nil {
		return err
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching launch at login: %w", err)
	}
	defer notify.Close()
	err = notify.Add(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("watching launch at login: %w", err)
	}
	changed()
	for {
		select {
		case event, ok := <-notify.Events:
			if !ok {
				return errors.New("watching launch at login: the system ended the watch")
			}
			if event.Name == path {
				changed()
			}
		case <-notify.Errors: // events were lost: look
			changed()
		case <-ctx.Done():
			return nil
		}
	}
}
