package tools

import (
	"errors"
	"strings"
)

// nameSet is a list of tool names as users write them: offered or bare names,
// or patterns in which * stands for any run of characters.
type nameSet struct {
	exact    map[string]bool
	patterns []string
}

func newNameSet(names []string) (nameSet, error) {
	set := nameSet{exact: make(map[string]bool, len(names))}
	for _, name := range names {
		switch {
		case strings.TrimSpace(name) == "":
			return nameSet{}, errors.New("an entry is empty: write a tool's name, or a pattern such as github__*")
		case strings.Contains(name, "*"):
			set.patterns = append(set.patterns, name)
		default:
			set.exact[name] = true
		}
	}
	return set, nil
}

// match returns the entry that names the tool. An exact entry is found before
// any pattern.
func (s nameSet) match(names ...string) (entry string, exact, ok bool) {
	for _, name := range names {
		if s.exact[name] {
			return name, true, true
		}
	}
	for _, p := range s.patterns {
		for _, name := range names {
			if matchPattern(p, name) {
				return p, false, true
			}
		}
	}
	return "", false, false
}

// matchTrusting is match for lists that loosen a gate. A bare name that reads
// like an offered one counts for nothing there, or a server could name a tool
// after another server's.
func (s nameSet) matchTrusting(offered, bare string) (entry string, exact, ok bool) {
	if strings.Contains(bare, nameSeparator) {
		return s.match(offered)
	}
	return s.match(offered, bare)
}

// matchPattern reports whether name matches pattern, in which * stands for any
// run of characters, also none. Everything else is literal.
func matchPattern(pattern, name string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == name
	}
	if !strings.HasPrefix(name, first) {
		return false
	}
	name = name[len(first):]
	parts := strings.Split(rest, "*")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, parts[last])
}
