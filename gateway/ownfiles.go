package gateway

import (
	"path/filepath"
	"strings"

	"pointsman/gateway/config"
)

// gateFiles are parts of paths of files that could switch gates off: ours, and
// those from which Copilot loads its hooks. Slashes stand for any separator.
var gateFiles = []string{
	"pointsman/config.yaml", "pointsman/pins.json",
	".copilot/hooks", ".copilot/settings.json", ".github/hooks", ".github/copilot/settings.json", ".claude/settings",
}

// ownFiles returns a test for text that names a file of ours or one of
// gateFiles: as such, inside a command line, or through a symbolic link.
func ownFiles(home config.Home, configFile string) func(text string) bool {
	var own []string
	for _, dir := range []string{home.Config, home.State, home.Runtime} {
		if dir != "" {
			own = append(own, slashes(dir))
		}
	}
	own = append(append(own, slashes(configFile)), gateFiles...)
	names := func(text string) bool {
		text = slashes(text)
		for _, part := range own {
			if part != "" && strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	return func(text string) bool {
		if names(text) {
			return true
		}
		return filepath.IsAbs(text) && names(resolved(text))
	}
}

// slashes writes a path in one way: some file systems do not tell cases apart,
// and asking once too often does no harm.
func slashes(path string) string {
	return strings.ToLower(strings.ReplaceAll(filepath.Clean(path), `\`, "/"))
}

// resolved follows the symbolic links in the part of path that exists.
func resolved(path string) string {
	for dir, rest := filepath.Clean(path), ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return path
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
}
