// Package connect reads and writes the configurations of other programs that use
// MCP servers: VS Code, Copilot, Claude Desktop, Claude Code, Cursor and Codex.
//
// Read finds their files and says what of each server's entry Pointsman takes
// over, what is lost, and what has to be asked for; Export writes entries in
// their shape. Nothing here changes a file of theirs, and nothing here is
// Pointsman's configuration: whoever calls decides what becomes of it.
//
// What such a file says is not trusted. It cannot loosen a gate of ours, nor
// refer to a secret of Pointsman's.
package connect

import (
	"os"
	"runtime"
	"slices"

	"pointsman/gateway/config"
)

// Machine says where the programs' files are.
type Machine struct {
	// Home is the user's home directory.
	Home string
	// Folder is the workspace whose files are read, too. If empty, none are.
	Folder string
	// Getenv reads the environment. If nil, it is empty.
	Getenv func(name string) string
	// OS is the system, as runtime.GOOS names it. If empty, this one.
	OS string
}

// ThisMachine is the machine that we run on, with a folder as workspace.
func ThisMachine(folder string, getenv func(string) string) (Machine, error) {
	home, err := os.UserHomeDir()
	return Machine{Home: home, Folder: folder, Getenv: getenv, OS: runtime.GOOS}, err
}

// Env reads a variable of the environment.
func (m Machine) Env(name string) string {
	if m.Getenv == nil {
		return ""
	}
	return m.Getenv(name)
}

// System is the system, as runtime.GOOS names it.
func (m Machine) System() string {
	if m.OS == "" {
		return runtime.GOOS
	}
	return m.OS
}

// The levels of a Source.
const (
	User      = "user"
	Workspace = "workspace"
)

// Source is one file of another program.
type Source struct {
	Client  string // its name in Clients
	Title   string // the same for a person
	Path    string
	Level   string // User or Workspace
	Servers []Found
	Fault   string // why the file cannot be read, or ""
}

// Found is a server in such a file.
type Found struct {
	Name string
	// Entry is the entry as Pointsman has it, but for ${input:ID}: see Fill.
	Entry  config.MCPServer
	Inputs []Input  // what the program asks for before it starts the server
	Lost   []string // what cannot be carried over, each with the reason
	Fault  string   // why the entry cannot be taken over at all, or ""
}

// Input is a value that the program asks its user for.
type Input struct {
	ID          string
	Description string
	Default     string
	Options     []string // to choose from; empty: any text
	Secret      bool     // not shown while it is typed
}

// client is a program whose files we read.
type client struct {
	name, title string
	files       func(m Machine) []file
}

// file is one place where a program may have servers.
type file struct {
	path  string
	level string
	read  func(data []byte) ([]Found, error)
}

// clients are the programs, in the order in which they are shown.
func clients() []client {
	return []client{vscode(), copilot(), claudeDesktop(), claudeCode(), cursor(), codex()}
}

// Clients are the names of the programs whose files Read reads.
func Clients() []string {
	var all []string
	for _, c := range clients() {
		all = append(all, c.name)
	}
	return all
}

// Read reads the files of the programs of these names; of all when there are
// none. A file without servers is left out. The sources are in the order of Clients, the user's own
// before those of the workspace, and servers sorted by name.
func Read(m Machine, names ...string) []Source {
	var sources []Source
	for _, c := range clients() {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		for _, f := range c.files(m) {
			if s, there := c.source(f); there {
				sources = append(sources, s)
			}
		}
	}
	return sources
}

func (c client) source(f file) (Source, bool) {
	s := Source{Client: c.name, Title: c.title, Path: f.path, Level: f.level}
	data, there, err := readFile(f.path)
	if !there {
		return s, false
	}
	if err == nil && len(data) > 0 {
		s.Servers, err = f.read(data)
	}
	if err != nil {
		s.Fault = err.Error()
	}
	return s, s.Fault != "" || len(s.Servers) > 0
}
