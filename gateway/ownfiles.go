package gateway

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pointsman/gateway/config"
)

// gateFiles are parts of paths of files that could switch gates off: ours, and
// those from which Copilot loads its hooks. Slashes stand for any separator.
var gateFiles = []string{
	"pointsman/config.yaml", "pointsman/pins.json",
	".copilot/hooks", ".copilot/settings.json", ".github/hooks", ".github/copilot/settings.json", ".claude/settings",
}

// homeGates are those of gateFiles that have a place of their own, below the
// user's home.
var homeGates = []string{".copilot/hooks", ".copilot/settings.json", ".claude/settings.json", ".claude/settings.local.json"}

// ownFiles knows the files that control us and Copilot's hooks, and finds them
// in the arguments of a call however they are written: inside a command line or
// a URL, with escapes, variables or wildcards, relative to somewhere, behind a
// link. It would rather ask once too often.
type ownFiles struct {
	parts  []string // what a path to one of them contains, as spelled by slashes
	places []string // our folders and the files of homeGates: absolute and clean
	folder string   // the name of our folder, as spelled by slashes
}

func newOwnFiles(home config.Home, configFile string) *ownFiles {
	o := &ownFiles{folder: slashes(filepath.Base(home.Config))}
	for _, dir := range []string{home.Config, home.State, home.Runtime} {
		o.add(dir)
	}
	o.add(configFile)
	for _, part := range o.places {
		o.parts = append(o.parts, slashes(part))
	}
	o.parts = append(o.parts, gateFiles...)
	if user, err := os.UserHomeDir(); err == nil && filepath.IsAbs(user) {
		for _, file := range homeGates {
			o.add(filepath.Join(user, filepath.FromSlash(file)))
		}
	}
	return o
}

// add notes a place, and where it really is when that is elsewhere.
func (o *ownFiles) add(place string) {
	if !filepath.IsAbs(place) {
		return
	}
	for _, path := range []string{filepath.Clean(place), resolved(place)} {
		if !slices.Contains(o.places, path) {
			o.places = append(o.places, path)
		}
	}
}

// Named reports whether text names one of the files, or something in our folders.
func (o *ownFiles) Named(text string) bool {
	forms := spellings(text)
	if slices.ContainsFunc(forms, o.contained) {
		return true
	}
	paths, all := pathsIn(forms, false)
	disk := &onDisk{own: o}
	return !all || slices.ContainsFunc(paths, func(path string) bool { return o.is(path, disk) })
}

// Held reports whether text names a folder that holds one of the files, which
// moving, deleting or linking it would reach. Of a command each word counts.
func (o *ownFiles) Held(text string, command bool) bool {
	forms := spellings(text)
	var paths []string
	for _, form := range forms {
		if path := pathOf(strings.TrimSpace(form)); path != "" && len(path) <= longestPath {
			paths = append(paths, path)
		}
	}
	if command {
		words, all := pathsIn(forms, true)
		if !all {
			return true
		}
		paths = append(paths, words...)
	}
	disk := &onDisk{own: o}
	return slices.ContainsFunc(paths, func(path string) bool { return o.holds(path, disk) })
}

// contained reports whether the spelling of one of the files is in text.
func (o *ownFiles) contained(text string) bool {
	raw := strings.ToLower(strings.ReplaceAll(text, `\`, "/"))
	clean := slashes(text)
	return slices.ContainsFunc(o.parts, func(part string) bool { return strings.Contains(raw, part) || strings.Contains(clean, part) })
}

// is reports whether path leads to one of the files or into our folders.
func (o *ownFiles) is(path string, disk *onDisk) bool {
	if filepath.IsAbs(path) {
		return o.matched(path, false) || o.leadsTo(path, disk)
	}
	if climbs, rest := climbing(path); climbs && slices.ContainsFunc(o.places, func(place string) bool { return o.endsIn(slashes(place), rest) }) {
		return true
	}
	return slices.ContainsFunc(bases(true), func(base string) bool { return o.leadsFrom(base, path, disk) })
}

// leadsFrom is leadsTo for a relative path. From inside our folders every word
// leads to something in them; there the files that are in them now count.
func (o *ownFiles) leadsFrom(base, path string, disk *onDisk) bool {
	joined := filepath.Join(base, path)
	if !disk.has(resolved(base)) {
		return o.leadsTo(joined, disk)
	}
	info, err := os.Stat(joined)
	return err == nil && info.Mode().IsRegular() && disk.knows(info)
}

func (o *ownFiles) leadsTo(path string, disk *onDisk) bool {
	real := resolved(path)
	return o.contained(path) || o.contained(real) || disk.has(real)
}

// endsIn reports whether rest begins with the last elements of place: that is
// where it may lead, seen from a folder beside them. The last one alone says
// enough only when it is our folder's name.
func (o *ownFiles) endsIn(place, rest string) bool {
	for i := strings.LastIndexByte(place, '/'); i > 0; i = strings.LastIndexByte(place[:i], '/') {
		tail := place[i+1:]
		if (tail == o.folder || strings.Contains(tail, "/")) && (rest == tail || strings.HasPrefix(rest, tail+"/")) {
			return true
		}
	}
	return false
}

// holds reports whether path is a folder with one of our places in it.
func (o *ownFiles) holds(path string, disk *onDisk) bool {
	if filepath.IsAbs(path) {
		return o.matched(path, true) || disk.holds(resolved(path))
	}
	climbs, _ := climbing(path)
	return slices.ContainsFunc(bases(!climbs && slashes(path) != "."), func(base string) bool {
		return !disk.has(resolved(base)) && disk.holds(resolved(filepath.Join(base, path)))
	})
}

// matched reports whether the wildcards of path match one of the places or a
// folder above something of it; with above, also a folder that holds a place.
func (o *ownFiles) matched(path string, above bool) bool {
	if !filepath.IsAbs(path) || !strings.ContainsAny(path, "*?[{") {
		return false
	}
	pattern := strings.Split(strings.Trim(slashes(path), "/"), "/")
	for _, place := range o.places {
		names := strings.Split(strings.Trim(slashes(place), "/"), "/")
		if len(pattern) < len(names) && !above {
			continue
		}
		n := min(len(pattern), len(names))
		if matchEach(pattern[:n], names[:n]) {
			return true
		}
	}
	return false
}

// matchEach matches each name with its pattern. What cannot be read as a
// pattern here (a{b,c}) may be one elsewhere, and matches.
func matchEach(patterns, names []string) bool {
	for i, pattern := range patterns {
		if ok, err := filepath.Match(pattern, names[i]); !ok && err == nil && !strings.Contains(pattern, "{") {
			return false
		}
	}
	return true
}

// onDisk is our places as the disk has them, looked up once for one text. By
// them a path is found that is one of ours under another name: a hard link,
// another mount, another case.
type onDisk struct {
	own    *ownFiles
	read   bool
	places []os.FileInfo // and the files in them
	above  []os.FileInfo // the folders that hold them
}

func (d *onDisk) look() {
	if d.read {
		return
	}
	d.read = true
	for _, place := range d.own.places {
		for parent := filepath.Dir(place); ; parent = filepath.Dir(parent) {
			if info, err := os.Stat(parent); err == nil {
				d.above = append(d.above, info)
			}
			if parent == filepath.Dir(parent) {
				break
			}
		}
		info, err := os.Stat(place)
		if err != nil {
			continue
		}
		d.places = append(d.places, info)
		entries, err := os.ReadDir(place)
		if err != nil {
			continue // a file, or a folder we cannot read: its own identity is all there is
		}
		for _, entry := range entries {
			if file, err := entry.Info(); err == nil && file.Mode().IsRegular() {
				d.places = append(d.places, file)
			}
		}
	}
}

// has reports whether path, or a folder it is in, is one of our places or of
// the files in them.
func (d *onDisk) has(path string) bool {
	if remote(path) {
		return false
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && d.knows(info) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// knows reports whether info is of one of our places or of a file in them.
func (d *onDisk) knows(info os.FileInfo) bool {
	d.look()
	return slices.ContainsFunc(d.places, func(own os.FileInfo) bool { return os.SameFile(own, info) })
}

// holds reports whether path is one of the folders above our places.
func (d *onDisk) holds(path string) bool {
	if remote(path) {
		return false
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	d.look()
	return slices.ContainsFunc(d.above, func(above os.FileInfo) bool { return os.SameFile(above, info) })
}
