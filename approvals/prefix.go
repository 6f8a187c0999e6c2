package approvals

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// A prefix is a folder that a rule is bound to. It covers a call when each of
// the call's paths lies strictly below the folder, as written and after
// following symbolic links. "Strictly" keeps a call from replacing the folder
// itself; `real` is settled when the rule comes into force, so a folder that
// becomes a link elsewhere later covers nothing.
//
// What cannot be told for certain (relative paths, "..", "~", unknown URIs,
// links that lead nowhere) is not covered: then a person is asked.
type prefix struct {
	written string // cleaned
	real    string // with links followed; "" covers nothing
}

// newPrefix reads a folder's path. One that does not exist yet may be named.
func newPrefix(path string) (prefix, error) {
	if !plainPath(path) {
		return prefix{}, fmt.Errorf("%q is not a plain absolute path", path)
	}
	p := prefix{written: filepath.Clean(path)}
	real, err := follow(p.written)
	if err != nil {
		return prefix{}, err
	}
	p.real = real
	return p, nil
}

// covers reports whether the arguments name at least one path, and none
// outside p.
func (p prefix) covers(args []byte) bool {
	if p.real == "" {
		return false
	}
	obj, err := parseObject(args)
	if err != nil {
		return false
	}
	paths := appendPaths(nil, obj, anything)
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(s string) bool { return !p.contains(s) })
}

// contains reports whether the one path or file URI s lies below p, however it
// is read.
func (p prefix) contains(s string) bool {
	paths, ok := Readings(s)
	return ok && !slices.ContainsFunc(paths, func(path string) bool { return !p.holds(path) })
}

// at reports whether dir is p's folder, or lies below it.
func (p prefix) at(dir string) bool {
	if p.real == "" || !plainPath(dir) {
		return false
	}
	dir = filepath.Clean(dir)
	if dir != p.written {
		return p.holds(dir)
	}
	real, err := follow(dir)
	return err == nil && real == p.real
}

// holds reports whether a path lies below p.
func (p prefix) holds(path string) bool {
	if !plainPath(path) {
		return false
	}
	path = filepath.Clean(path)
	if !below(p.written, path) {
		return false
	}
	real, err := follow(path)
	return err == nil && below(p.real, real)
}

// below reports whether path is strictly inside dir; both are clean.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// plainPath reports whether path is absolute and means the same to everyone
// who reads it.
func plainPath(path string) bool {
	if !filepath.IsAbs(path) || strings.ContainsFunc(path, unicode.IsControl) || strings.ContainsRune(path, unicode.ReplacementChar) {
		return false
	}
	rest := strings.TrimPrefix(path, filepath.VolumeName(path))
	if runtime.GOOS == "windows" && strings.ContainsAny(rest, `:*?"<>|`) {
		return false // an alternate stream, or a device path
	}
	// Both separators, on every system: the server may run on another one.
	for elem := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '/' || r == '\\' }) {
		// "..", and what some systems take for it: "...", ".. ".
		if elem != "." && strings.Trim(elem, ". ") == "" {
			return false
		}
	}
	return true
}

// follow resolves the links of the part of path that exists and appends the
// rest. The path is clean and absolute.
func follow(path string) (string, error) {
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if _, err := os.Lstat(dir); err == nil {
			return "", fmt.Errorf("%q is a link that leads nowhere", dir)
		}
		if dir == filepath.Dir(dir) {
			return "", err
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// under says what stands under a key.
type under int

const (
	anything under = iota
	aPath          // whatever it looks like
	aText          // such as a file's content, whose lines may well be paths
)

// appendPaths appends every text in v that is a path: whatever stands under a
// key that names one, and whatever looks like one.
func appendPaths(paths []string, v any, key under) []string {
	switch v := v.(type) {
	case string:
		if key == aPath || looksLikePath(v) || key != aText && holdsPathLine(v) {
			paths = append(paths, v)
		}
	case []any:
		for _, e := range v {
			paths = appendPaths(paths, e, key)
		}
	case map[string]any:
		for name, e := range v {
			if looksLikePath(name) || holdsPathLine(name) {
				paths = append(paths, name)
			}
			paths = appendPaths(paths, e, underKey(name, key))
		}
	}
	return paths
}

// underKey says what stands under a key that is itself under outer.
func underKey(name string, outer under) under {
	switch {
	case outer == aPath || isPathKey(name):
		return aPath
	case outer == aText || slices.ContainsFunc(keyWords(name), func(w string) bool { return textWords[w] }):
		return aText
	default:
		return anything
	}
}

// textWords are the words that, in a key, say that its value is a text.
var textWords = map[string]bool{
	"content": true, "contents": true, "text": true, "body": true, "message": true, "description": true, "code": true,
	"string": true, "str": true, "data": true, "patch": true, "diff": true, "snippet": true, "replacement": true,
}

// pathWords are the words that, in a key, say that its value is a path.
var pathWords = map[string]bool{
	"path": true, "paths": true, "pathname": true, "filepath": true, "filepaths": true,
	"file": true, "files": true, "filename": true, "filenames": true,
	"dir": true, "dirs": true, "dirname": true, "directory": true, "directories": true,
	"folder": true, "folders": true, "root": true, "roots": true, "cwd": true, "workdir": true, "workspace": true,
	"source": true, "sources": true, "src": true, "destination": true, "destinations": true, "dest": true, "dst": true,
	"target": true, "targets": true, "from": true, "to": true, "output": true, "outfile": true, "infile": true,
	"uri": true, "uris": true, "url": true, "urls": true, "location": true, "repo": true, "repository": true,
}

// isPathKey reports whether a word of key (oldPath, old_path, old-path) names a path.
func isPathKey(key string) bool {
	return pathWords[strings.ToLower(key)] || slices.ContainsFunc(keyWords(key), func(w string) bool { return pathWords[w] })
}

// keyWords splits a key at separators and at camelCase, lower-cased.
func keyWords(key string) []string {
	var words []string
	start := 0
	runes := []rune(key)
	for i, r := range runes {
		sep := !unicode.IsLetter(r) && !unicode.IsDigit(r)
		hump := i > start && unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1])
		if sep || hump {
			words = append(words, strings.ToLower(string(runes[start:i])))
			start = i
		}
		if sep {
			start = i + 1
		}
	}
	return append(words, strings.ToLower(string(runes[start:])))
}

// looksLikePath reports whether a text under any other key could be taken for a
// path: one line that starts like one, or that climbs.
func looksLikePath(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s, "\r\n") {
		return false
	}
	drive := len(s) >= 3 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
	return drive || strings.ContainsRune(`/\~`, rune(s[0])) || hasScheme(s, "file") ||
		strings.HasPrefix(s, "./") || s == ".." || strings.Contains(s, "../") || strings.Contains(s, `..\`)
}

// holdsPathLine reports whether a text of several lines has one that could be
// taken for a path.
func holdsPathLine(s string) bool {
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
		if len(line) < len(s) && looksLikePath(line) {
			return true
		}
	}
	return false
}
