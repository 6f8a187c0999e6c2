package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds how many links are followed to find where a path leads.
const maxLinks = 40

// Real returns where an absolute path leads, links followed as far as there is
// anything.
func Real(path string) string {
	path = filepath.Clean(path)
	for range maxLinks {
		dir, rest := path, ""
		for {
			if found, err := filepath.EvalSymlinks(dir); err == nil {
				return filepath.Join(found, rest)
			}
			if target, err := os.Readlink(dir); err == nil { // it leads to nothing
				if !filepath.IsAbs(target) {
					target = filepath.Join(Real(filepath.Dir(dir)), target)
				}
				path = filepath.Join(target, rest)
				break
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				return path
			}
			dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
		}
	}
	return path
}

// within reports whether path is inside dir, and is not dir itself. Both are clean.
func within(path, dir string) bool {
	if path == dir {
		return false
	}
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (strings.HasSuffix(dir, string(filepath.Separator)) || rest[0] == filepath.Separator)
}

// holder returns the one of dirs that path is, or is inside of, or "".
func holder(dirs []string, path string) string {
	i := slices.IndexFunc(dirs, func(dir string) bool { return path == dir || within(path, dir) })
	if i < 0 {
		return ""
	}
	return dirs[i]
}

func inAny(dirs []string, path string) bool { return holder(dirs, path) != "" }

// outermost returns the paths, sorted, less those inside another one.
func outermost(paths []string) []string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	var out []string
	for _, path := range paths {
		if !inAny(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// between returns the folders below top that path is in, the outermost first.
func between(top, path string) []string {
	var dirs []string
	for dir := filepath.Dir(path); within(dir, top); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// holdsHome reports whether dir is, or holds, the user's home or /tmp.
func holdsHome(dir string) bool {
	dir = Real(dir)
	home, err := os.UserHomeDir()
	return err != nil || inAny([]string{dir}, Real(home)) || inAny([]string{dir}, Real("/tmp"))
}
