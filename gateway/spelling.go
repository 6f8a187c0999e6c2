package gateway

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"pointsman/approvals"
	"pointsman/gateway/servers/sandbox"
)

// spellings returns what text becomes in the hands of those who may get it: as
// it is, with variables put in, with quotes and backslashes taken out by a
// shell, with control characters taken out by a URL's parser, with %-escapes
// decoded.
func spellings(text string) []string {
	var forms []string
	add := func(form string) {
		if slices.Contains(forms, form) {
			return
		}
		forms = append(forms, form)
		if expanded := expanded(form); !slices.Contains(forms, expanded) {
			forms = append(forms, expanded)
		}
	}
	quotes := func(r rune) bool { return strings.ContainsRune("\"'`\\", r) }
	for _, form := range []string{text, without(text, unicode.IsControl), without(text, quotes)} {
		add(form)
		paths, _ := approvals.Readings(form)
		for _, path := range paths {
			add(path)
		}
		once := approvals.Unescape(form)
		add(once)
		add(approvals.Unescape(once))
	}
	return forms
}

func without(text string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, text)
}

var variable = regexp.MustCompile(`%([A-Za-z_][A-Za-z0-9_()]*)%|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$(?:[Ee][Nn][Vv]:)?([A-Za-z_][A-Za-z0-9_]*)|(^|[\s=:"'])~([A-Za-z0-9._-]*)`)

// expanded puts in the variables that are set, and the user's home for "~".
func expanded(text string) string {
	if !strings.ContainsAny(text, "%$~") {
		return text
	}
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		m := variable.FindStringSubmatch(found)
		name := m[1] + m[2] + m[3]
		if name == "" {
			if user, err := os.UserHomeDir(); err == nil && (m[5] == "" || m[5] == filepath.Base(user)) {
				return m[4] + user
			}
			return found
		}
		if value := os.Getenv(name); value != "" {
			return value
		}
		return found
	})
}

const (
	// maxPaths is how many paths in one text are looked up on the disk.
	maxPaths = 1000
	// longestPath is how many bytes a path may have; systems take less.
	longestPath = 32 << 10
)

// pathsIn returns what in the forms may be a path: each whole, and the words of
// each; those of hidden folders (.config) if they are wanted, since in programs
// every other word is like one. It reports false when there are too many to look at.
func pathsIn(forms []string, hidden bool) (paths []string, all bool) {
	seen := map[string]bool{}
	add := func(text string) {
		path := pathOf(text)
		if path != "" && len(path) <= longestPath && !seen[path] && (filepath.IsAbs(path) || strings.ContainsAny(path, `/\.`)) {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	for _, form := range forms {
		add(strings.TrimSpace(form))
		for word := range strings.FieldsFuncSeq(form, separates) {
			if likePath(word) || hidden && word[0] == '.' {
				add(word)
				if _, after, ok := strings.Cut(word, ":"); ok && filepath.IsAbs(after) {
					add(after) // host:/path, name:/path
				}
			}
			if len(paths) > maxPaths {
				return nil, false
			}
		}
	}
	return paths, true
}

// likePath reports whether a word of a text may be a path: absolute, of a URL,
// or climbing.
func likePath(word string) bool {
	return filepath.IsAbs(word) || strings.ContainsAny(word, `/\`) && (word[0] == '.' || strings.ContainsRune(word, ':') || strings.Contains(word, "..")) || word == ".."
}

// separates reports whether r ends a word of a command line or a text.
func separates(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("\"'`=,;|&<>()", r)
}

// pathOf returns the path of a URL, whatever its scheme and host, and any other
// text as it is.
func pathOf(text string) string {
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || len(scheme) < 2 || !strings.HasPrefix(rest, "/") && !strings.EqualFold(scheme, "file") {
		return text
	}
	if after, hasHost := strings.CutPrefix(rest, "//"); hasHost {
		i := strings.IndexByte(after, '/')
		if i < 0 {
			return ""
		}
		rest = after[i:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	if runtime.GOOS == "windows" {
		rest = strings.TrimPrefix(rest, "/")
	}
	return rest
}

// climbing reports whether path is relative and begins with "..", and what
// follows that, as spelled by slashes.
func climbing(path string) (bool, string) {
	clean := slashes(path)
	if filepath.IsAbs(path) || clean != ".." && !strings.HasPrefix(clean, "../") {
		return false, ""
	}
	for strings.HasPrefix(clean, "../") {
		clean = clean[len("../"):]
	}
	return true, strings.TrimPrefix(clean, "..")
}

// bases returns where a relative path probably begins: where we are, which is
// where servers are started, and, if it is wanted, the user's home.
func bases(home bool) []string {
	var dirs []string
	if user, err := os.UserHomeDir(); home && err == nil {
		dirs = append(dirs, user)
	}
	if wd, err := os.Getwd(); err == nil {
		dirs = append(dirs, wd)
	}
	return dirs
}

// slashes writes a path in one way: some file systems do not tell cases apart,
// and asking once too often does no harm.
func slashes(path string) string {
	return strings.ToLower(strings.ReplaceAll(filepath.Clean(strings.ReplaceAll(path, `\`, "/")), `\`, "/"))
}

// resolved follows the symbolic links in a path, also those that lead to
// something that does not exist yet. A path it cannot follow is returned clean.
func resolved(path string) string {
	path = filepath.Clean(path)
	if remote(path) || strings.ContainsRune(path, 0) {
		return path
	}
	return sandbox.Real(path)
}

// remote reports whether path is another machine's. It is not looked up:
// Windows would sign in there.
func remote(path string) bool {
	return runtime.GOOS == "windows" && strings.HasPrefix(filepath.ToSlash(path), "//")
}
