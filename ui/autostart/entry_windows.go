package autostart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/windows/registry"
)

const (
	runKey = `Software\Microsoft\Windows\CurrentVersion\Run`
	// approvedKey is where Windows' settings keep what a user has switched off.
	approvedKey = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
)

func (e Entry) where() string { return `HKEY_CURRENT_USER\` + runKey }

// Status reads the entry as it is now, also when somebody else wrote it.
func (e Entry) Status() (Status, error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, fmt.Errorf("reading launch at login: %w", err)
	}
	defer key.Close()
	line, _, err := key.GetStringValue(name)
	if errors.Is(err, registry.ErrNotExist) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, fmt.Errorf("reading launch at login: %w", err)
	}
	program := firstArgument(line)
	return Status{Present: true, Program: program, Enabled: program != "" && !switchedOff()}, nil
}

// switchedOff reports whether the user has switched the entry off in Windows'
// settings: then the first byte is odd.
func switchedOff() bool {
	key, err := registry.OpenKey(registry.CURRENT_USER, approvedKey, registry.QUERY_VALUE)
	if err != nil {
		return false // nothing was ever switched off
	}
	defer key.Close()
	data, _, err := key.GetBinaryValue(name)
	return err == nil && len(data) > 0 && data[0]&1 == 1
}

func (e Entry) write() error {
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer key.Close()
	if err := key.SetStringValue(name, `"`+e.Program+`"`); err != nil {
		return err
	}
	return deleteValue(approvedKey)
}

func (e Entry) remove() error {
	return errors.Join(deleteValue(runKey), deleteValue(approvedKey))
}

func deleteValue(path string) error {
	key, err := registry.OpenKey(registry.CURRENT_USER, path, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer key.Close()
	if err := key.DeleteValue(name); !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return nil
}

// firstArgument is the program of a command line.
func firstArgument(line string) string {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, `"`); ok {
		program, _, _ := strings.Cut(rest, `"`)
		return program
	}
	program, _, _ := strings.Cut(line, " ")
	return program
}

// executable reports whether path can be run.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Watch returns at once: the registry is read whenever the menu is.
func (e Entry) Watch(context.Context, func()) error { return nil }
