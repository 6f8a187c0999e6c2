// Package sandbox confines the process of an MCP server: it turns a command that
// is ready to start into one that starts confined, or says why it cannot. There
// is no third way: nothing that was to be confined ever runs as it is.
//
// A confined server reads the disk, less what is hidden from it, and writes
// nothing but its working directory, what its rules name, and folders of its own
// for temporary files and caches. It has no network unless its rules allow one,
// not even loopback.
//
// Hidden, whatever the rules say: our own files (Options.Own) and the keychain.
// Hidden unless the rules open them for writing: the places in which programs
// keep credentials (see credentials). Hidden as the rules name them: DenyRead,
// which wins over AllowWrite.
//
// On Linux it is bubblewrap that confines. There /tmp, /run, /dev and the other
// processes are out of sight as well, and with them the agents and buses that
// listen there. What is hidden is covered by a mount, which a person who replaces
// the covered file takes away; so where the server cannot write, the folder of a
// file that is to be hidden is shown as it was at the start, with that file left
// out. That also hides what is not there yet. The rest has to be watched (see
// Box.Fragile). On macOS it is sandbox-exec; elsewhere nothing.
//
// With the network comes all that listens on this machine without asking who
// calls, such as an X server on an abstract socket. And what a server may write
// it may write programs into: in a project, those that its own tools will run.
//
// The package starts no goroutine and no process.
package sandbox

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Rules say what one server may reach.
type Rules struct {
	AllowOutbound bool     // the network
	AllowWrite    []string // absolute paths that must exist
	DenyRead      []string // absolute paths, there or not; they win over AllowWrite
	// WriteDir lets the server write its working directory, unless that is or
	// holds the user's home or /tmp: what starts at login is in a home.
	WriteDir bool
}

// Options are what is the same for all servers of a host.
type Options struct {
	// Own are our folders and files, as absolute paths, to be hidden from every
	// server. A folder that is not there should be made first: it cannot be
	// hidden in a place where a server may write.
	Own []string
	// Keep are files of ours, as absolute paths, that no server may change: our
	// program.
	Keep []string
	// Dir is a folder of ours in which each confined server gets a folder for its
	// caches, which stays. If empty, nothing can be confined.
	Dir string
}

// Box confines one server. Make one with New.
type Box struct {
	opts    Options
	rules   Rules
	private string // the server's own folder
	denied  string // a file that nobody may read
	tool    string // what confines
	fragile []string
}

// New returns the box of a server of that name, and makes the folder for its
// caches. The error says why nothing can be confined here, and what to do.
func New(opts Options, server string, rules Rules) (*Box, error) {
	tool, err := findTool()
	if err != nil {
		return nil, err
	}
	if opts.Dir == "" {
		return nil, fmt.Errorf("there is no folder for what confined servers keep (sandbox.Options.Dir)")
	}
	sum := sha256.Sum256([]byte(server)) // any text is a name
	b := &Box{opts: opts, rules: rules, tool: tool}
	b.private = filepath.Join(Real(opts.Dir), fmt.Sprintf("%x", sum[:8]))
	b.denied = filepath.Join(Real(opts.Dir), "denied")
	for _, dir := range []string{"cache", "tmp"} {
		if err := os.MkdirAll(filepath.Join(b.private, dir), 0o700); err != nil {
			return nil, fmt.Errorf("making the folder for its caches: %w", err)
		}
	}
	f, err := os.OpenFile(b.denied, os.O_CREATE|os.O_RDONLY, 0)
	switch {
	case err == nil:
		err = f.Close()
	case os.IsPermission(err): // it is there
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("making the file that stands for hidden ones: %w", err)
	}
	return b, nil
}

// Confine makes cmd, which has an absolute Path and Dir and its whole Env, start
// confined. Its ExtraFiles are to be closed when it has started, or is not to be.
// The error names what of the rules cannot be followed.
func (b *Box) Confine(cmd *exec.Cmd) error {
	s, err := b.survey(cmd)
	if err != nil {
		return err
	}
	return b.wrap(s, cmd)
}

// Fragile returns what is hidden only as long as nothing else takes its name, after
// Confine: when something does, the server has to be confined anew.
func (b *Box) Fragile() []string { return b.fragile }

// Env returns the variables that tell a confined server where to keep its
// temporary files and caches. What its entry sets should stand after them.
func (b *Box) Env() []string {
	cache, tmp := b.folders()
	return []string{"TMPDIR=" + tmp, "XDG_CACHE_HOME=" + cache, "npm_config_cache=" + filepath.Join(cache, "npm")}
}

// survey is what the rules come to on this disk.
type survey struct {
	write  []string        // may be written; none is inside another
	hidden []string        // our own, the keychain and what is denied, there or not
	own    map[string]bool // those of hidden that are our own
	spare  []string        // hidden where it can be done: credentials that are there
	maybe  []string        // those of credentials, there or not
	keep   []string        // may be read, and not written
}

// survey looks the rules' paths up, links followed.
func (b *Box) survey(cmd *exec.Cmd) (*survey, error) {
	s := &survey{own: map[string]bool{}}
	write := slices.Clone(b.rules.AllowWrite)
	if b.rules.WriteDir && !holdsHome(cmd.Dir) {
		write = append(write, cmd.Dir)
	}
	if err := s.open(write); err != nil {
		return nil, err
	}
	for _, path := range b.opts.Own {
		path = Real(path)
		s.hidden, s.own[path] = append(s.hidden, path), true
	}
	for _, path := range keychain() {
		if _, err := os.Stat(path); err == nil { // most sessions have one of them
			s.hidden = append(s.hidden, Real(path))
		}
	}
	for _, path := range b.opts.Keep {
		s.keep = append(s.keep, Real(path))
	}
	for i, path := range b.rules.DenyRead {
		if err := checkPath("denyRead", i, path); err != nil {
			return nil, err
		}
		s.hidden = append(s.hidden, Real(path))
	}
	s.hidden = outermost(s.hidden)
	for _, path := range credentials() {
		path = Real(path)
		opened := slices.ContainsFunc(s.write, func(w string) bool { return within(w, path) || w == path })
		if opened || inAny(s.hidden, path) {
			continue
		}
		s.maybe = append(s.maybe, path)
		if _, err := os.Lstat(path); err == nil {
			s.spare = append(s.spare, path)
		}
	}
	return s, s.check(cmd)
}

// open notes what may be written. A path inside another one is open already, and
// is not looked up: the server may have put a link there.
func (s *survey) open(paths []string) error {
	var plain []string
	for i, path := range paths {
		if err := checkPath("allowWrite", i, path); err != nil {
			return err
		}
		plain = append(plain, filepath.Clean(path))
	}
	var found []string
	for _, path := range outermost(plain) {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("sandbox.filesystem.allowWrite: %s is not there; make it, or take it out", path)
		}
		found = append(found, Real(path))
	}
	s.write = outermost(found)
	return nil
}

// check refuses rules that contradict each other, or what the server needs.
func (s *survey) check(cmd *exec.Cmd) error {
	needed := map[string]string{"its working directory": Real(cmd.Dir), "its program": Real(cmd.Path)}
	for _, w := range s.write {
		if h := holder(s.hidden, w); h != "" {
			return fmt.Errorf("sandbox.filesystem: %s cannot be opened for writing, as %s is hidden from servers (it is in denyRead, or is Pointsman's own or the keychain's)", w, h)
		}
	}
	for what, path := range needed {
		if h := holder(slices.Concat(s.hidden, s.spare), path); h != "" {
			return fmt.Errorf("sandbox: %s %s is in %s, which is hidden from servers", what, path, h)
		}
	}
	return nil
}

// checkPath refuses what would mean nothing, or another thing than it says.
func checkPath(list string, i int, path string) error {
	_, err := os.Lstat(path)
	switch {
	case !filepath.IsAbs(path):
		return fmt.Errorf("sandbox.filesystem.%s[%d]: %q is not an absolute path", list, i, path)
	case err != nil && strings.ContainsAny(path, "*?["):
		return fmt.Errorf("sandbox.filesystem.%s[%d]: %q: patterns are not understood here; name the file or folder", list, i, path)
	}
	return nil
}
