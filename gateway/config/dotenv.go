package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joho/godotenv"
)

// dotEnv is what a .env file says of LLM_*. Whoever wrote the folder we were
// started in wrote it, and that need not be the user. So it may bring an address
// and a key of its own, and nothing of it may lead one of the user's keys
// elsewhere: an address of the file gets no key but the file's, the file's key
// goes to no address that the configuration gives, and its values are never
// references.
type dotEnv struct {
	path   string // absolute
	values map[string]string

	// of one pass over a configuration
	usable  map[string]string // values, less what was set aside
	notices []Problem
}

var (
	endpointNames = []string{"LLM_PROVIDER", "LLM_BASE_URL", "LLM_API_KEY"}
	fallbackNames = []string{
		"LLM_FALLBACK_ENABLED", "LLM_FALLBACK_BASE_URL", "LLM_FALLBACK_API_KEY", "LLM_FALLBACK_MODEL_ID", "LLM_FALLBACK_TIMEOUT_SECONDS",
	}
	otherNames = []string{"LLM_MODEL_ID", "LLM_TIMEOUT_SECONDS", "LLM_REASONING_EFFORT"}
)

// readDotEnv reads the file at path. No path, or no regular file there (a folder
// of that name is Python's), gives an empty one.
func readDotEnv(path string) (dotEnv, error) {
	if path == "" {
		return dotEnv{}, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return dotEnv{}, fmt.Errorf("finding environment file %q: %w", path, err)
	}
	if info, err := os.Stat(abs); errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return dotEnv{}, nil
	}
	file, err := os.Open(abs)
	if err != nil {
		return dotEnv{}, fmt.Errorf("reading environment file: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err != nil {
		return dotEnv{}, fmt.Errorf("reading environment file %q: %w", abs, err)
	}
	values, err := godotenv.UnmarshalBytes(text)
	if err != nil {
		// The parser's own message quotes the text, which may be a key.
		return dotEnv{}, fmt.Errorf("reading environment file %q: it is not a list of NAME=value lines", abs)
	}
	d := dotEnv{path: abs, values: map[string]string{}}
	for _, name := range slices.Concat(endpointNames, fallbackNames, otherNames) {
		if value := values[name]; value != "" {
			d.values[name] = value
		}
	}
	return d, d.refuseReferences()
}

// refuseReferences finds values that would be looked up in the keychain or in
// the environment: the file would name a secret of the user's.
func (d dotEnv) refuseReferences() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(d.values)) {
		value := strings.TrimSpace(d.values[name])
		if isWholeRef(value) || strings.Contains(value, "${") {
			errs = append(errs, fmt.Errorf("environment file %q: %s is a reference to a secret, which no .env may make; write the reference to config.yaml, or set %s in the environment", d.path, name, name))
		}
	}
	return errors.Join(errs...)
}

// begin starts a pass.
func (d *dotEnv) begin() { d.usable, d.notices = maps.Clone(d.values), nil }

// setAside keeps names from being used in this pass, and notes why.
func (d *dotEnv) setAside(reason string, names ...string) {
	var had []string
	for _, name := range names {
		if _, ok := d.usable[name]; ok {
			had = append(had, name)
			delete(d.usable, name)
		}
	}
	if len(had) > 0 {
		d.notice("%s of %s not used: %s", strings.Join(had, ", "), d.path, reason)
	}
}

func (d *dotEnv) notice(format string, args ...any) {
	d.notices = append(d.notices, Problem{Message: fmt.Sprintf(format, args...), Warning: true})
}
