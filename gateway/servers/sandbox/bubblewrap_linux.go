package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// cacheFolder is where a confined server sees its folder for caches.
const cacheFolder = "/run/pointsman/cache"

// maxShown bounds the entries of a folder that is shown with some left out.
const maxShown = 4000

func findTool() (string, error) {
	if path, err := exec.LookPath("bwrap"); err == nil {
		return path, nil
	}
	return "", errors.New("its `sandbox` is enabled, and bubblewrap, which confines servers, is not installed: it is not started; install the package bubblewrap (bwrap), or set sandbox.enabled to false to run it unconfined")
}

func (b *Box) folders() (cache, tmp string) { return cacheFolder, "/tmp" }

// wrap makes cmd run by bwrap.
func (b *Box) wrap(s *survey, cmd *exec.Cmd) error {
	if b.rules.AllowOutbound && strings.Contains(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "abstract=") {
		return errors.New("sandbox.network.allowOutbound: this session's D-Bus, and so the keychain, listens on an abstract socket, which whoever has the network can reach; start the session's bus with a path (unix:path=…), or do without the network")
	}
	tool := Real(b.tool)
	for _, w := range s.write {
		if w != "/" && within(tool, w) {
			return fmt.Errorf("sandbox: %s, which is to confine it, is in %s, which it may write: it could have put it there; move it, or open less for writing", tool, w)
		}
	}
	s.keep = append(s.keep, tool)
	p := &plan{survey: s}
	if err := p.lay(cmd); err != nil {
		return err
	}
	b.fragile = p.fragile()
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
	}
	if !b.rules.AllowOutbound {
		args = append(args, "--unshare-net")
	}
	args = append(args, p.mounts(b.denied)...)
	args = append(args, "--bind", filepath.Join(b.private, "cache"), cacheFolder, "--chdir", cmd.Dir)
	args = append(args, variables(cmd)...)
	file, err := argumentsFile(args)
	if err != nil {
		return err
	}
	cmd.ExtraFiles = []*os.File{file} // is file 3 in the process
	cmd.Args = append([]string{b.tool, "--args", "3", "--", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = b.tool
	return nil
}

// ownVariables is how our own variables begin, by which we find our processes.
const ownVariables = "POINTSMAN_"

// variables moves the command's environment into bwrap's arguments: bwrap is not
// confined, and a variable such as LD_PRELOAD would have it run what a server may
// have written.
func variables(cmd *exec.Cmd) (args []string) {
	var own []string
	for _, pair := range cmd.Env {
		name, value, _ := strings.Cut(pair, "=")
		args = append(args, "--setenv", name, value)
		if strings.HasPrefix(name, ownVariables) {
			own = append(own, pair)
		}
	}
	cmd.Env = own
	return args
}

// argumentsFile returns a file in memory that bwrap reads arguments from. There
// nobody sees them in the list of processes: variables hold secrets.
func argumentsFile(args []string) (*os.File, error) {
	for _, arg := range args {
		if strings.Contains(arg, "\x00") { // would end this one and begin another
			return nil, errors.New("sandbox: a variable or a path of the server has a null character in it; take it out")
		}
	}
	fd, err := unix.MemfdCreate("arguments", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making the file of bubblewrap's arguments: %w", err)
	}
	file := os.NewFile(uintptr(fd), "arguments")
	_, err = file.WriteString(strings.Join(args, "\x00") + "\x00")
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("writing bubblewrap's arguments: %w", err), file.Close())
	}
	return file, nil
}

// area is a part of the tree that is shown in one way.
type area struct {
	path string
	kind kind
}

type kind int

const (
	private  kind = iota // not the disk's: empty at the start
	readOnly             // the disk's
	writable             // the disk's
)

// plan is what the server is to see.
type plan struct {
	*survey
	areas []area                     // the whole tree
	shown map[string]map[string]bool // folders that are shown as they are, less some of their entries
	pins  []string                   // folders that are not to be renamed
	cover []string                   // folders and files that are covered
}

// lay decides how each hidden place is kept from the server.
func (p *plan) lay(cmd *exec.Cmd) error {
	p.shown = map[string]map[string]bool{}
	p.areas = []area{{"/", readOnly}}
	if slices.Contains(p.write, "/") {
		p.areas = []area{{"/sys", readOnly}} // the system's settings are no place on a disk
	}
	for _, dir := range []string{"/dev", "/proc", "/run", "/tmp"} {
		p.areas = append(p.areas, area{dir, private})
	}
	if dir := Real("/var/run"); dir == "/var/run" {
		p.areas = append(p.areas, area{dir, private})
	}
	for _, path := range p.needed(cmd) {
		if p.at(path).kind == private {
			p.areas = append(p.areas, area{path, readOnly})
		}
	}
	for _, w := range p.write {
		if holder([]string{"/dev", "/proc", "/sys"}, w) != "" {
			return fmt.Errorf("sandbox.filesystem.allowWrite: %s cannot be opened: it is no place on a disk", w)
		}
		p.areas = append(p.areas, area{w, writable})
	}
	for _, h := range p.hidden {
		if err := p.hide(h); err != nil {
			return err
		}
	}
	for _, h := range p.spare {
		if a := p.at(h); a.kind != private {
			p.coverIn(a, h)
		}
	}
	for _, k := range p.keep {
		if a := p.at(k); a.kind == writable {
			p.pins = append(p.pins, between(a.path, k)...)
		}
	}
	return nil
}

// needed are the places that a server has to see, should they be where it has
// folders of its own: its home, its program, what its arguments name, and how
// names are looked up.
func (p *plan) needed(cmd *exec.Cmd) []string {
	paths := []string{Real(cmd.Path)}
	for _, arg := range cmd.Args[1:] {
		if _, err := os.Stat(arg); err == nil && filepath.IsAbs(arg) {
			paths = append(paths, Real(arg))
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		paths = append(paths, Real(home))
	}
	for _, path := range []string{"/etc/resolv.conf", "/run/current-system", "/run/opengl-driver"} {
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, Real(path))
		}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		return len(between("/", path)) == 0 || inAny(p.hidden, path) || inAny(p.spare, path) // nor all of /tmp or /run
	})
	return outermost(paths)
}

// at returns the area that path is in.
func (p *plan) at(path string) area {
	found := area{"/", readOnly}
	for _, a := range p.areas {
		if (path == a.path || within(path, a.path)) && len(a.path) >= len(found.path) {
			found = a
		}
	}
	return found
}

// hide keeps one place from the server. Where it cannot write, a file is left out
// of its folder: a cover would go when another file takes the name.
func (p *plan) hide(path string) error {
	a := p.at(path)
	info, err := os.Lstat(path)
	switch {
	case a.kind == private:
	case err == nil && !info.IsDir() && a.kind == writable && p.own[path]:
		return fmt.Errorf("sandbox.filesystem.allowWrite: %s is Pointsman's own, and is in %s, which the server may write: it cannot be hidden there; open less for writing, or move it", path, a.path)
	case err == nil && (info.IsDir() || a.kind == writable || a.path == path):
		p.coverIn(a, path)
	case a.kind == writable:
		return fmt.Errorf("sandbox.filesystem: %s is to be hidden, is not there, and is in %s, which the server may write: nothing can be put in its way; make it, or open less for writing", path, a.path)
	default:
		p.leaveOut(path)
	}
	return nil
}

// coverIn covers a place, and pins the folders it is in that could be renamed to
// put another one there.
func (p *plan) coverIn(a area, path string) {
	if a.kind == writable {
		p.pins = append(p.pins, between(a.path, path)...)
	}
	p.cover = append(p.cover, path)
}

// fragile are the covered places, for a cover goes with what it covers, and those
// in which credentials may appear.
func (p *plan) fragile() []string {
	private := func(path string) bool { return p.at(path).kind == private }
	return slices.DeleteFunc(slices.Concat(p.cover, p.maybe), private)
}

// leaveOut shows the folder of a place, or the nearest one that is there, without it.
func (p *plan) leaveOut(path string) {
	for {
		dir := filepath.Dir(path)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			if p.shown[dir] == nil {
				p.shown[dir] = map[string]bool{}
			}
			p.shown[dir][filepath.Base(path)] = true
			return
		}
		path = dir
	}
}

// mount is one step of building what the server sees.
type mount struct {
	path string
	args []string
}

// mounts returns bwrap's arguments for the plan. A folder comes before what is in
// it: each mount hides what lies under it.
func (p *plan) mounts(denied string) []string {
	var all []mount
	for _, a := range p.areas {
		all = append(all, mount{a.path, p.area(a)})
	}
	for dir := range p.shown {
		all = append(all, mount{dir, p.without(dir)})
	}
	for _, dir := range p.pins {
		all = append(all, mount{dir, []string{"--bind", dir, dir}})
	}
	for _, path := range outermost(p.cover) {
		all = append(all, mount{path, cover(path, denied)})
	}
	for _, path := range p.keep {
		if p.at(path).kind == writable {
			all = append(all, mount{path, []string{"--ro-bind", path, path}})
		}
	}
	slices.SortStableFunc(all, func(a, b mount) int { return strings.Compare(a.path, b.path) })
	var args []string
	for _, m := range all {
		args = append(args, m.args...)
	}
	return args
}

// area shows a part of the tree.
func (p *plan) area(a area) []string {
	switch {
	case a.path == "/dev":
		return []string{"--dev", "/dev"}
	case a.path == "/proc" && os.Geteuid() == 0: // root's server is root outside, too, and could set the whole system's settings
		return []string{"--proc", "/proc", "--remount-ro", "/proc"}
	case a.path == "/proc":
		return []string{"--proc", "/proc"}
	case a.kind == private:
		return []string{"--tmpfs", a.path}
	case a.kind == writable:
		return []string{"--bind", a.path, a.path}
	case a.path == "/" && p.shown["/"] != nil: // bwrap begins with an empty one
		return nil
	}
	return []string{"--ro-bind", a.path, a.path}
}

// without shows what is in a folder now, less what is left out. Of one that
// cannot be listed, or is too long, it shows nothing.
func (p *plan) without(dir string) []string {
	var args []string
	if dir != "/" {
		args = []string{"--tmpfs", dir}
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) > maxShown {
		list = nil
	}
	for _, entry := range list {
		path := filepath.Join(dir, entry.Name())
		if p.shown[dir][entry.Name()] {
			continue
		}
		if target, err := os.Readlink(path); err == nil {
			args = append(args, "--symlink", target, path)
		} else {
			args = append(args, "--ro-bind-try", path, path)
		}
	}
	return append(args, "--remount-ro", dir)
}

// cover covers a folder with an empty one that cannot be entered, and a file with
// one that cannot be read.
func cover(path, denied string) []string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return []string{"--perms", "0000", "--tmpfs", path}
	}
	return []string{"--ro-bind", denied, path}
}

// Inner returns the process group that the command runs in which the bwrap of
// that pid has started, or 0: pid is not one, or it has started nothing. The
// group is another one than bwrap's, which ends at once, and the command with
// it, when it is told to.
func Inner(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	var child int
	if _, err := fmt.Sscan(string(data), &child); err != nil {
		return 0
	}
	return child
}
