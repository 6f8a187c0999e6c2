package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// newFileComment stands at the head of a file that the program makes.
const newFileComment = `# Pointsman's configuration. Everything has a default: what is not set here need not be.
# "pointsman config show" prints all that can be set, "pointsman config check" what is wrong.
# Keep secrets in the keychain ("pointsman keys set NAME") and write keychain:NAME here.
`

// ErrChanged says that the file kept changing under an update.
var ErrChanged = errors.New("the configuration file is being changed by another program; try again")

// lockWait bounds how long an update waits for another process's.
const lockWait = 5 * time.Second

func sameConfig(a, b *Config) bool {
	return equal(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem(), false)
}

// Update changes the file's configuration and puts the result in force. mutate
// gets a copy of what the file says now: not of the environment, nor of flags.
// The result must be valid; an error of mutate, an invalid result or a file that
// cannot be read leaves everything as it was. What other programs wrote in the
// meantime stays. mutate may be called more than once.
func (s *Store) Update(mutate func(*Config) error) error {
	return s.update(func([]byte) error { return nil }, mutate)
}

// UpdateSetting is Update of the setting at path, in the file's own keys. While
// another program's change to it is held, nothing is changed: a *HeldError.
func (s *Store) UpdateSetting(path []string, mutate func(*Config) error) error {
	return s.Update(func(c *Config) error {
		if err := s.refuseHeld(c, []Edit{{Path: path}}); err != nil {
			return err
		}
		return mutate(c)
	})
}

// update is Update for a file whose text expected does not refuse.
func (s *Store) update(expected func(text []byte) error, mutate func(*Config) error) error {
	s.updating.Lock()
	defer s.updating.Unlock()
	unlock, err := s.lockFile()
	if err != nil {
		return fmt.Errorf("saving configuration: %w", err)
	}
	defer unlock()
	for range 3 {
		err = s.tryUpdate(expected, mutate)
		if !errors.Is(err, ErrChanged) {
			break
		}
	}
	return err
}

// lockFile keeps other processes of ours from updating at the same time.
func (s *Store) lockFile() (func(), error) {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(filepath.Join(dir, "."+filepath.Base(s.path)+".lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, fmt.Errorf("waiting for another update: %w", err)
	}
	return func() { _ = lock.Close() }, nil // closing releases it; nothing was written
}

func (s *Store) tryUpdate(expected func(text []byte) error, mutate func(*Config) error) error {
	before, err := s.readToEdit()
	if err != nil {
		return fmt.Errorf("saving configuration: %w; it was not overwritten", err)
	}
	if err := expected(before.text); err != nil {
		return fmt.Errorf("saving configuration: %w", err)
	}
	after := before.config.Clone()
	if err := mutate(after); err != nil {
		return err
	}
	if err := newFaults(before.config, after); err != nil {
		return fmt.Errorf("changing configuration: %w", err)
	}
	if err := s.refuseBorrowed(before.config, after); err != nil {
		return fmt.Errorf("changing configuration: %w", err)
	}
	if sameConfig(before.config, after) {
		return nil
	}
	base := before.text
	if len(bytes.TrimSpace(base)) == 0 {
		base = []byte(newFileComment)
	}
	text, err := editText(s.path, base, before.config, after)
	if err != nil {
		return err
	}
	read, err := readText(s.path, text)
	if err != nil {
		return err
	}
	_, problems, err := s.overlay(read.config, read.decoded)
	if err != nil {
		return fmt.Errorf("changing configuration: %w", err)
	}
	if err := s.replaceFile(before.text, text); err != nil {
		return err
	}
	// What was held and is not part of this change stays held.
	return s.adopt(read, problems, func(g gate) bool {
		return !reflect.DeepEqual(g.value(before.config), g.value(after))
	})
}

// readToEdit reads the file for a change: one with faults is not touched.
func (s *Store) readToEdit() (reading, error) {
	text, err := readFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return reading{}, err
	}
	read, err := readText(s.path, text)
	if err == nil {
		_, _, err = s.overlay(read.config, read.decoded)
	}
	return read, err
}

// newFaults are the faults of after that before did not have.
func newFaults(before, after *Config) error {
	had := map[string]bool{}
	for _, p := range validate(before, nil) {
		had[p.Error()] = true
	}
	return Faults(slices.DeleteFunc(validate(after, nil), func(p Problem) bool { return had[p.Error()] }))
}

// refuseBorrowed keeps secrets that came with the environment out of the file.
func (s *Store) refuseBorrowed(before, after *Config) error {
	var errs []error
	had := map[string]bool{}
	eachText(reflect.ValueOf(before).Elem(), "", func(path, text string, _ bool) { had[path+"\x00"+text] = true })
	eachText(reflect.ValueOf(after).Elem(), "", func(path, text string, secret bool) {
		if !secret || had[path+"\x00"+text] {
			return
		}
		if strings.Contains(text, hidden) {
			errs = append(errs, Problem{Path: path, Message: "the mark of a hidden secret cannot be saved; leave the secret as it was, or give a new one"})
		}
		for value, name := range s.env.secrets {
			if strings.Contains(text, value) {
				errs = append(errs, Problem{Path: path, Message: "the value of " + name + " belongs to the environment and is not written to the file; write os.environ/NAME"})
			}
		}
	})
	return errors.Join(errs...)
}

// replaceFile writes text in the place of the file, which must still hold
// before, and keeps that beside it.
func (s *Store) replaceFile(before, text []byte) error {
	target, err := LinkTarget(s.path) // a link stays a link
	if err != nil {
		return fmt.Errorf("saving configuration: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return fmt.Errorf("saving configuration: %w", err)
	}
	if len(before) > 0 {
		if err := WriteFile(s.path+".bak", before, 0o600, nil); err != nil {
			return fmt.Errorf("keeping the previous configuration: %w", err)
		}
	}
	unchanged := func() error {
		now, err := readFile(target)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(now, before) {
			return ErrChanged
		}
		return nil
	}
	if err := WriteFile(target, text, 0o600, unchanged); err != nil {
		return fmt.Errorf("saving configuration: %w", err)
	}
	return nil
}
