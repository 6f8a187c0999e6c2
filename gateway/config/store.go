package config

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Store holds the configuration that is in force and the file behind it. It is
// safe for concurrent use. It starts no goroutine; Watch runs on its caller's.
type Store struct {
	// fixed at creation
	path  string
	named bool
	env   *environment
	flags func(*Config)
	check func(*Config) []Problem // nil: nothing else has to hold

	updating sync.Mutex // held by one change at a time; taken before mu

	mu        sync.Mutex // guards the fields below
	text      []byte     // the file as last read or written
	file      *Config    // what text says
	running   *Config    // file, less what is held
	effective *Config    // running under environment and flags
	held      []string
	problems  []Problem
	notices   []Problem // of the .env file; also in problems
	failed    string    // the last error that was told, so that it is told once
	watchers  []*watcher

	removed removed
}

// Change tells a watcher what happened to the configuration.
type Change struct {
	Old, New *Config  // what was in force, and what is; the same when Err is set
	Held     []string // what of the file waits for AcceptHeld or the next start, in sentences
	Err      error    // why the file's new content is not in force
}

// watcher is one running Watch and what it has not yet been told.
type watcher struct {
	wake    chan struct{} // of size one
	pending []Change      // guarded by Store.mu
}

// Config returns what is in force. It never changes: callers may keep it, and
// must not write to it.
func (s *Store) Config() *Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effective
}

// Path is the absolute path of the file, which may not exist yet.
func (s *Store) Path() string { return s.path }

// Problems returns the warnings of the last load.
func (s *Store) Problems() []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// Notices returns what Problems says of the .env file: which settings came from
// it, and which were refused.
func (s *Store) Notices() []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notices)
}

// Fault says why what the file holds now is not in force, in a line for each
// fault; empty when it is.
func (s *Store) Fault() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faultLocked()
}

func (s *Store) faultLocked() []string {
	if s.failed == "" {
		return nil
	}
	return strings.Split(s.failed, "\n")
}

// Held says what of the file is not in force because it loosens a gate and was
// written by another program.
func (s *Store) Held() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.held)
}

// LookupEnv reads a variable of the real environment, where an empty one counts
// as unset. It is what references to variables are resolved with, so a .env file
// has no part in it.
func (s *Store) LookupEnv(name string) (string, bool) { return s.env.real(name) }

// AcceptHeld puts in force what is held of the file of that revision. It is the
// person's yes to what they have seen; ErrStale says that it is another by now.
func (s *Store) AcceptHeld(revision string) error {
	s.updating.Lock()
	defer s.updating.Unlock()
	s.mu.Lock()
	text := s.text
	s.mu.Unlock()
	if revisionOf(text) != revision {
		return fmt.Errorf("accepting what is held: %w", ErrStale)
	}
	read, err := readText(s.path, text)
	if err != nil {
		return err
	}
	_, problems, err := s.overlay(read.config, read.decoded)
	if err != nil {
		return fmt.Errorf("applying configuration: %w", err)
	}
	return s.adopt(read, problems, func(gate) bool { return true })
}

// adopt puts a reading of the file in force, but for the loosened gates that
// are not trusted. The caller holds updating.
func (s *Store) adopt(read reading, problems []Problem, trusted func(gate) bool) error {
	s.mu.Lock()
	before := s.running
	s.mu.Unlock()
	running, gates := s.holding(trusted).apply(before, read.config)
	held := sentences(gates)
	effective, _, err := s.overlay(running, nil)
	if err != nil {
		return fmt.Errorf("applying configuration: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	change := Change{Old: s.effective, New: effective, Held: held}
	quiet := reflect.DeepEqual(s.effective, effective) && slices.Equal(s.held, held) && s.failed == ""
	s.text, s.file, s.running, s.effective = read.text, read.config, running, effective
	s.held, s.problems, s.notices, s.failed = held, problems, s.env.dotenv.notices, ""
	if !quiet {
		s.tellLocked(change)
	}
	return nil
}

// holding is what holds changes of the file, where the environment's own keys go
// to the addresses that the file gives.
func (s *Store) holding(trusted func(gate) bool) holding {
	h := holding{trusted: trusted, borrowed: map[string]Secret{}}
	borrow := func(part, name, address string) {
		_, moved := s.env.real(address)
		if _, set := s.env.real(name); set && !moved {
			h.borrowed[part] = Secret("os.environ/" + name)
		}
	}
	provider, _ := s.env.real("LLM_PROVIDER")
	borrow(providerPart(strings.ToLower(cmp.Or(provider, "openai"))), "LLM_API_KEY", "LLM_BASE_URL")
	borrow("fallback", "LLM_FALLBACK_API_KEY", "LLM_FALLBACK_BASE_URL")
	return h
}

// reload looks at the file and puts what it says in force. A fault is told to
// the watchers, once, and changes nothing.
func (s *Store) reload() {
	s.updating.Lock()
	defer s.updating.Unlock()
	read, err := s.read()
	if err == nil && read.text == nil {
		err = fmt.Errorf("%w: %s", ErrNotFound, s.path)
	}
	s.mu.Lock()
	same := err == nil && s.failed == "" && bytes.Equal(read.text, s.text)
	nothingYet := errors.Is(err, ErrNotFound) && s.text == nil
	s.mu.Unlock()
	if same || nothingYet {
		return
	}
	var problems []Problem
	if err == nil {
		_, problems, err = s.overlay(read.config, read.decoded)
	}
	if err == nil {
		err = s.adopt(read, problems, func(gate) bool { return false })
	}
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != err.Error() {
		s.failed = err.Error()
		s.tellLocked(Change{Old: s.effective, New: s.effective, Held: s.held, Err: err})
	}
}

func (s *Store) tellLocked(change Change) {
	for _, w := range s.watchers {
		w.pending = append(w.pending, change)
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// settle is how long the file must be left alone before it is read: programs
// write in steps.
const settle = 100 * time.Millisecond

// Watch tells fn of every change until ctx ends: those that Update makes and
// those of the file. fn runs on the goroutine that called Watch, one call at a
// time, in order; no change is left out. It may use the store. Watch returns
// nil when ctx ends, and an error when the file cannot be watched.
func (s *Store) Watch(ctx context.Context, fn func(Change)) error {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching configuration: %w", err)
	}
	defer notify.Close()
	if err := s.watchFolders(notify); err != nil {
		return fmt.Errorf("watching configuration %q: %w", s.path, err)
	}
	w := &watcher{wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watchers = append(s.watchers, w)
	s.mu.Unlock()
	defer s.forget(w)

	timer := time.NewTimer(0) // what changed before the watch began is seen, too
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-notify.Events:
			if !ok {
				return errors.New("watching configuration: the system ended the watch")
			}
			if s.concerns(event.Name) {
				timer.Reset(settle)
			}
		case <-notify.Errors: // events were lost: look
			timer.Reset(settle)
		case <-timer.C:
			s.reload()
		case <-w.wake:
			for _, change := range s.take(w) {
				fn(change)
			}
		}
	}
}

// watchFolders watches the folder of the file and, when the file is a link, that
// of its target: programs replace files, so the file itself would be lost.
func (s *Store) watchFolders(notify *fsnotify.Watcher) error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := notify.Add(dir); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(s.path); err == nil && filepath.Dir(target) != dir {
		return notify.Add(filepath.Dir(target))
	}
	return nil
}

// concerns reports whether a file of the watched folders can be ours. Behind a
// link it may have any name.
func (s *Store) concerns(name string) bool {
	info, err := os.Lstat(s.path)
	return filepath.Base(name) == filepath.Base(s.path) || err == nil && info.Mode()&os.ModeSymlink != 0
}

func (s *Store) take(w *watcher) []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := w.pending
	w.pending = nil
	return pending
}

func (s *Store) forget(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = slices.DeleteFunc(s.watchers, func(other *watcher) bool { return other == w })
}
