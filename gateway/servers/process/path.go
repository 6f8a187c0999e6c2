package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const loginShellTimeout = 5 * time.Second

// installHints says what provides a command that is often missing.
var installHints = map[string]string{
	"npx": "Node.js (https://nodejs.org)", "npm": "Node.js (https://nodejs.org)", "node": "Node.js (https://nodejs.org)",
	"uvx": "uv (https://docs.astral.sh/uv)", "uv": "uv (https://docs.astral.sh/uv)",
	"docker": "Docker (https://docs.docker.com/get-docker)", "bunx": "Bun (https://bun.sh)", "deno": "Deno (https://deno.com)",
	"python": "Python (https://www.python.org)", "python3": "Python (https://www.python.org)",
	"dnx": ".NET 10 (https://dotnet.microsoft.com)",
}

// Finder finds commands where a program that was started from a desktop
// does not look: on the PATH of the user's login shell, and in well-known places.
type Finder struct {
	login func() string // the login shell's PATH, asked for once
	known []string
}

// NewFinder returns a finder. login is the PATH to look at after our own; if it is
// empty, the login shell is asked for it when a command is not found.
func NewFinder(login string) *Finder {
	f := &Finder{login: func() string { return login }, known: knownPlaces()}
	if login == "" {
		f.login = sync.OnceValue(loginPath)
	}
	return f
}

// Find returns the file of a command, and the PATH its process should have, for
// a server whose own PATH is path ("" if its entry sets none).
func (f *Finder) Find(command, dir, path string) (file, env string, err error) {
	if path == "" {
		path = os.Getenv("PATH")
	}
	if strings.ContainsAny(command, `/`+string(filepath.Separator)) {
		return f.findFile(command, dir, path)
	}
	if file := lookIn(filepath.SplitList(path), command); file != "" {
		return file, path, nil
	}
	more := append(filepath.SplitList(f.login()), f.known...)
	if file := lookIn(more, command); file != "" {
		all := append(filepath.SplitList(path), filepath.Dir(file))
		return file, strings.Join(append(all, filepath.SplitList(f.login())...), string(filepath.ListSeparator)), nil
	}
	return "", "", notFound(command, path, more)
}

func (f *Finder) findFile(command, dir, path string) (file, env string, err error) {
	file = ExpandHome(command)
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if found := lookIn([]string{filepath.Dir(file)}, filepath.Base(file)); found != "" {
		return found, path, nil
	}
	return "", "", fmt.Errorf("looking for the command %q: %s is not there, or is not executable", command, file)
}

func notFound(command, path string, more []string) error {
	hint := "install it, or give its full path as `command`"
	if what, ok := installHints[command]; ok {
		hint = "install " + what + ", or give the full path as `command`"
	}
	return fmt.Errorf("looking for the command %q: it is neither on PATH (%s) nor in %s: %s",
		command, path, strings.Join(more, ", "), hint)
}

// lookIn returns the first executable file of that name in dirs, or "".
func lookIn(dirs []string, name string) string {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue // a relative PATH entry would depend on where we were started
		}
		for _, ext := range extensions(name) {
			file := filepath.Join(dir, name+ext)
			if isExecutable(file) {
				return file
			}
		}
	}
	return ""
}

// extensions returns what may have to be added to a command's name.
func extensions(name string) []string {
	if runtime.GOOS != "windows" {
		return []string{""}
	}
	list := os.Getenv("PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	exts := strings.Split(strings.ToLower(list), ";")
	if slices.Contains(exts, strings.ToLower(filepath.Ext(name))) {
		return []string{""}
	}
	return exts // npx is npx.cmd there; the file npx beside it is for other shells
}

func isExecutable(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}

// ExpandHome replaces a ~ at the beginning of a path by the user's home.
func ExpandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	home, err := os.UserHomeDir()
	if !ok || err != nil || rest != "" && rest[0] != '/' {
		return path
	}
	return filepath.Join(home, rest)
}

// knownPlaces returns directories in which installers put commands.
func knownPlaces() []string {
	places := []string{"/opt/homebrew/bin", "/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin"}
	if runtime.GOOS == "windows" {
		places = []string{filepath.Join(os.Getenv("ProgramFiles"), "nodejs"), filepath.Join(os.Getenv("APPDATA"), "npm")}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return places
	}
	for _, dir := range []string{".local/bin", ".cargo/bin", ".volta/bin", ".bun/bin", ".deno/bin", "go/bin"} {
		places = append(places, filepath.Join(home, dir))
	}
	return append(places, nodeVersions(home)...)
}

// nodeVersions returns the bin directories of nvm and fnm, newest first by name.
func nodeVersions(home string) []string {
	var dirs []string
	for _, pattern := range []string{".nvm/versions/node/*/bin", ".local/share/fnm/node-versions/*/installation/bin"} {
		found, _ := filepath.Glob(filepath.Join(home, pattern)) // the pattern is well-formed
		slices.Sort(found)
		slices.Reverse(found)
		dirs = append(dirs, found...)
	}
	return dirs
}

// loginPath asks the user's login shell for its PATH. It returns "" when there
// is no such shell, or it does not answer in time.
func loginPath() string {
	shell := os.Getenv("SHELL")
	if shell == "" || runtime.GOOS == "windows" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), loginShellTimeout)
	defer cancel()
	const mark = "__pointsman_path__"
	cmd := exec.CommandContext(ctx, shell, "-lic", `printf '%s%s%s' `+mark+` "$PATH" `+mark)
	cmd.Env = Inherited()
	cmd.WaitDelay = 100 * time.Millisecond // a background job of the shell may hold its output open
	detach(cmd)                            // an interactive shell would take the terminal from us
	out, err := cmd.Output()
	_, rest, ok := strings.Cut(string(out), mark)
	path, _, whole := strings.Cut(rest, mark)
	if !ok || !whole || (err != nil && path == "") {
		return ""
	}
	return path
}
