package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// ErrStale says that the file is not the one that a change was made from.
var ErrStale = errors.New("the configuration file has changed since")

// Snapshot is a Store at one moment.
type Snapshot struct {
	Revision string  // of the file's text; that of an absent file is a revision, too
	Config   *Config // in force; not to be changed
	// Set names the settings that the environment or a flag decides, with words
	// for which.
	Set      map[string]string
	Problems []Problem // warnings of the last load
	Held     []string  // what of the file is not in force because it loosens a gate
	Fault    []string  // why what the file holds now is not in force
}

// Snapshot returns what the Store knows, all of the same moment.
func (s *Store) Snapshot() Snapshot {
	snapshot, running := s.snapshot()
	snapshot.Set = s.decided(running)
	return snapshot
}

func (s *Store) snapshot() (Snapshot, *Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Snapshot{
		Revision: revisionOf(s.text), Config: s.effective,
		Problems: slices.Clone(s.problems), Held: slices.Clone(s.held), Fault: s.faultLocked(),
	}, s.running
}

func revisionOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Edit makes all of the edits, or none, as Update does. A file that is not of
// that revision is left alone: ErrStale, after which the Store has what the file
// holds now. What is held is not touched: a *HeldError. Edits that make no sense, or make no valid configuration, give an
// error that joins the Problems (see ProblemsOf).
func (s *Store) Edit(revision string, edits []Edit) error {
	return s.updateFrom(revision, func(c *Config) error {
		if err := s.refuseHeld(c, edits); err != nil {
			return err
		}
		var errs []error
		for _, e := range edits {
			s.removed.note(c, e)
			errs = append(errs, s.removed.restore(c, e).apply(c))
		}
		return errors.Join(errs...)
	})
}

// RefuseHeld takes out of the file what is held: what is in force takes its
// place. ErrStale as with Edit.
func (s *Store) RefuseHeld(revision string) error {
	return s.updateFrom(revision, func(c *Config) error {
		kept, _ := s.holding(nil).apply(s.inForce(), c)
		*c = *kept
		return nil
	})
}

// updateFrom is Update for a file of that revision.
func (s *Store) updateFrom(revision string, mutate func(*Config) error) error {
	err := s.update(func(text []byte) error {
		if revisionOf(text) != revision {
			return ErrStale
		}
		return nil
	}, mutate)
	if errors.Is(err, ErrStale) {
		s.reload()
	}
	return err
}

// inForce is what of the file is in force.
func (s *Store) inForce() *Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// HeldError says that a change would touch what another program has written and
// what waits for the person's yes. Nothing was changed.
type HeldError struct {
	Path string // of the setting
	What string // what waits, in a sentence
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("a change made outside to %s waits for your yes (%s): accept it, or put it back, first", e.Path, e.What)
}

func (h heldGate) refuse() error { return &HeldError{pathTo(h.path), h.sentence} }

// refuseHeld refuses edits of a setting that is held, of one around it and of
// one in it: what is held would get lost, or come into force without a yes.
func (s *Store) refuseHeld(file *Config, edits []Edit) error {
	_, held := s.holding(nil).apply(s.inForce(), file)
	for _, h := range held {
		for _, e := range edits {
			n := min(len(e.Path), len(h.path))
			if slices.Equal(e.Path[:n], h.path[:n]) {
				return h.refuse()
			}
		}
	}
	return nil
}

// ProblemsOf returns the Problems that err joins, wrapped or not.
func ProblemsOf(err error) []Problem {
	switch e := err.(type) {
	case nil:
		return nil
	case Problem:
		return []Problem{e}
	case interface{ Unwrap() []error }:
		var problems []Problem
		for _, inner := range e.Unwrap() {
			problems = append(problems, ProblemsOf(inner)...)
		}
		return problems
	}
	return ProblemsOf(errors.Unwrap(err))
}
