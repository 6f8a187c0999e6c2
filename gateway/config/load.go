package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Options say where a configuration comes from.
type Options struct {
	Path   string              // --config; empty: POINTSMAN_CONFIG, ORCHESTRATOR_CONFIG, then the user's own
	Getenv func(string) string // nil: os.Getenv; an empty value counts as unset
	DotEnv string              // path of a .env file, read for LLM_* alone; empty: none
	Flags  func(*Config)       // applied last; nil: none
	// Check returns what else is wrong with a configuration that is about to be put
	// in force, saved, or read for the first time. If nil, nothing.
	Check func(*Config) []Problem
}

// ErrNotFound says that a file which was asked for by name is absent.
var ErrNotFound = errors.New("config not found")

// Load reads the configuration. Every fault of the file is in the error, joined;
// what is merely worth a warning is in Store.Problems. An absent file is an
// error only when it was named.
func Load(opts Options) (*Store, error) {
	getenv := opts.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	path, named, err := find(opts.Path, getenv)
	if err != nil {
		return nil, err
	}
	env, err := newEnvironment(func(name string) (string, bool) {
		value := getenv(name)
		return value, value != ""
	}, opts.DotEnv)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, named: named, env: env, flags: opts.Flags, check: opts.Check}
	read, err := s.read()
	if err != nil {
		return nil, err
	}
	effective, problems, err := s.overlay(read.config, read.decoded)
	s.text, s.file, s.running, s.effective = read.text, read.config, read.config, effective
	s.problems, s.notices = problems, env.dotenv.notices
	return s, err
}

// Find returns the absolute path of the configuration that Load would read with
// this path and environment; the file may not exist yet. A nil getenv means
// os.Getenv.
func Find(path string, getenv func(string) string) (string, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	file, _, err := find(path, getenv)
	return file, err
}

// find decides which file is the configuration, and whether it was asked for by name.
func find(path string, getenv func(string) string) (file string, named bool, err error) {
	for _, candidate := range []string{path, getenv("POINTSMAN_CONFIG"), getenv("ORCHESTRATOR_CONFIG")} {
		if candidate == "" {
			continue
		}
		abs, err := filepath.Abs(candidate)
		if err != nil {
			return "", false, fmt.Errorf("finding configuration %q: %w", candidate, err)
		}
		return abs, true, nil
	}
	home, err := Locate(getenv)
	return filepath.Join(home.Config, "config.yaml"), false, err
}

// reading is what one look at the file gave.
type reading struct {
	text    []byte
	config  *Config
	decoded *decoder
}

// read reads and decodes the file, without judging the values.
func (s *Store) read() (reading, error) {
	text, err := readFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.named:
		return reading{}, fmt.Errorf("%w: %s", ErrNotFound, s.path)
	case errors.Is(err, fs.ErrNotExist):
		text = nil
	case err != nil:
		return reading{}, fmt.Errorf("reading configuration: %w", err)
	}
	return readText(s.path, text)
}

func readText(path string, text []byte) (reading, error) {
	config := Default()
	root, problem := parse(path, text)
	if problem != nil {
		return reading{}, *problem
	}
	decoded := decode(path, root, config)
	return reading{text, config, decoded}, nil
}

// readFile reads a file that is not unreasonably large.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxFileBytes>>20)
	}
	return os.ReadFile(path)
}

// overlay lays environment and flags over what the file says and judges the
// result. The warnings are returned beside the error.
func (s *Store) overlay(file *Config, decoded *decoder) (*Config, []Problem, error) {
	effective := file.Clone()
	envErr := s.env.apply(effective)
	if s.flags != nil {
		s.flags(effective)
	}
	problems := validate(effective, decoded)
	if s.check != nil {
		problems = append(problems, placed(s.check(effective), decoded)...)
	}
	if decoded != nil {
		problems = append(append([]Problem(nil), decoded.problems...), problems...)
	}
	problems = inOrder(append(problems, s.env.dotenv.notices...))
	if err := errors.Join(Faults(problems), envErr); err != nil {
		return nil, problems, err
	}
	return effective, problems, nil
}

// placed says of each problem where the file sets its path.
func placed(problems []Problem, decoded *decoder) []Problem {
	v := &validator{decoded: decoded}
	for i := range problems {
		v.place(&problems[i], problems[i].Path)
	}
	return problems
}

// Check returns every problem of the file at path: faults and warnings, in the
// order in which they stand in it. The environment plays no part.
func Check(path string) []Problem {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []Problem{{File: path, Message: ErrNotFound.Error()}}
	}
	if err != nil {
		return []Problem{{File: path, Message: err.Error()}}
	}
	return CheckText(path, text)
}

// CheckText is Check for text that would be the file at path.
func CheckText(path string, text []byte) []Problem {
	read, err := readText(path, text)
	if err != nil {
		var problem Problem
		if !errors.As(err, &problem) {
			problem = Problem{File: path, Message: err.Error()}
		}
		return []Problem{problem}
	}
	return inOrder(append(read.decoded.problems, validate(read.config, read.decoded)...))
}
