package config

import (
	"sync"
)

// Store holds the configuration that is in force and the file behind it. It is
// safe for concurrent use. It starts no goroutine; Watch runs on its caller's.
type Store struct {
	// fixed at creation
	path  string
	named bool
	env   *environment
	flags func(*Config)

	mu        sync.Mutex // guards the fields below
	text      []byte     // the file as last read or written
	file      *Config    // what text says
	running   *Config    // file, less what is held
	effective *Config    // running under environment and flags
	held      []string
	problems  []Problem
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
	return append([]Problem(nil), s.problems...)
}

// LookupEnv reads a variable as the configuration does: the real environment
// first, then, for LLM_* names alone, the .env file.
func (s *Store) LookupEnv(name string) (string, bool) { return s.env.LookupEnv(name) }
