// Package setup sets other programs up to use Pointsman: as the endpoint of their
// models, as one of their MCP servers, and as the gate before Copilot's own tools.
//
// A Plan is the exact change to a program's files, shown before it is made. Apply
// makes that change and no other, and keeps what was there; Undo takes it back;
// Verify tries what the program would do. Nothing starts a goroutine that outlives
// the call.
//
// Files are the user's: only our entries change, and a file that cannot be read
// with certainty, or is no longer the one that was shown, is left alone. A secret
// is written only where a program takes no reference to one, never without being
// asked for by name, and is in no Diff.
package setup

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pointsman/ui/connect"
	"pointsman/ui/connect/edit"
)

// Gateway is what programs are set up to use.
type Gateway struct {
	Endpoint string // base URL for OpenAI clients, without a slash at the end
	Open     bool   // no key is asked for
	// Key returns the key that clients show. It is called where one is written or
	// shown to the endpoint. If nil, there is none.
	Key     func(ctx context.Context) (string, error)
	Models  []Model
	Default string // the model that is asked for by default
	Program string // our executable, by its absolute path
	// Env is what Program needs in its environment to find this very home.
	Env map[string]string
}

// Model is a model of the gateway's.
type Model struct {
	ID, Name string
	Context  int64 // tokens, input and output; 0 when nobody publishes it
	Output   int64 // tokens; 0 when nobody publishes it
}

// Variables are those by which our executable finds the very home and
// configuration that getenv has; config is a path given otherwise, or "".
func Variables(getenv func(string) string, config string) map[string]string {
	env := map[string]string{}
	for name, value := range map[string]string{
		"POINTSMAN_HOME":   getenv("POINTSMAN_HOME"),
		"POINTSMAN_CONFIG": cmp.Or(config, getenv("POINTSMAN_CONFIG"), getenv("ORCHESTRATOR_CONFIG")),
	} {
		if abs, err := filepath.Abs(value); value != "" && err == nil {
			env[name] = abs
		}
	}
	return env
}

// Setup sets the programs of one machine up.
type Setup struct {
	Machine connect.Machine
	Gateway Gateway
	State   string // the folder for backups, which is made
	// Workspace has the files of Machine.Folder changed instead of the user's own.
	Workspace bool
	// LookPath finds a program. If nil, exec.LookPath.
	LookPath func(name string) (string, error)
}

// Name is what our entries are called in other programs' files.
const Name = "pointsman"

// The parts of a setup.
const (
	Models = "models" // our models among the program's
	MCP    = "mcp"    // our tools, as an MCP server
	Hooks  = "hooks"  // the gate before the program's own tools
)

// part is one file of a program, and what of it is ours.
type part struct {
	name   string
	path   string
	format edit.Format // nil: the whole file is ours
	asked  string      // why it is left out unless it is asked for by name; "" when it is not
	after  string      // what has to be done in the program afterwards
	// entries are what the file is to have. now is what is in it; key is the
	// endpoint's, "" leaves out the field that holds it.
	entries func(now []byte, key string) (entries []edit.Entry, notes []string, err error)
	// ours finds our entries in a text.
	ours  func(text []byte) ([]edit.Entry, error)
	whole func() ([]byte, error) // for a file that is ours as a whole
	// secret says that the key is written.
	secret bool
}

// at finds the entry at a path.
func at(format edit.Format, path []edit.Step) func(text []byte) ([]edit.Entry, error) {
	return func(text []byte) ([]edit.Entry, error) {
		e := edit.Entry{Path: path}
		if _, found, err := format.Get(text, e); err != nil || !found {
			return nil, err
		}
		return []edit.Entry{e}, nil
	}
}

// client is a program that can be set up.
type client struct {
	name, title string
	programs    []string // its executables
	traces      []string // files or folders that it makes
	parts       []part
	snippet     string // lines for the user to copy
	about       string // what to do with them
}

// clients are the programs, in the order in which they are shown.
func (s *Setup) clients() []client {
	return []client{s.copilot(), s.copilotSDK(), s.vscode("vscode", "VS Code", "Code", "code"), s.vscode("vscode-insiders", "VS Code Insiders", "Code - Insiders", "code-insiders"),
		s.claudeCode(), s.claudeDesktop(), s.cursor(), s.codex()}
}

// Clients are the names of the programs that can be set up.
func Clients() []string {
	var names []string
	for _, c := range (&Setup{}).clients() {
		names = append(names, c.name)
	}
	return names
}

// client finds a program by its name.
func (s *Setup) client(name string) (client, error) {
	all := s.clients()
	if i := slices.IndexFunc(all, func(c client) bool { return c.name == name }); i >= 0 {
		return all[i], nil
	}
	return client{}, fmt.Errorf("connecting %q: it is none of %s", name, strings.Join(Clients(), ", "))
}

// chosen are the parts of a program of these names; without names, those that are
// not left out.
func (c client) chosen(names []string) ([]part, error) {
	var chosen []part
	for _, p := range c.parts {
		if slices.Contains(names, p.name) || len(names) == 0 && p.asked == "" {
			chosen = append(chosen, p)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(c.parts, func(p part) bool { return p.name == name }) {
			return nil, fmt.Errorf("connecting %s: it has no part %q%s", c.title, name, c.partsText())
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("connecting %s: there is no file of it to change here%s", c.title, c.partsText())
	}
	return chosen, nil
}

func (c client) partsText() string {
	var names []string
	for _, p := range c.parts {
		names = append(names, p.name)
	}
	if len(names) == 0 {
		return "; copy its snippet"
	}
	return "; its parts are " + strings.Join(names, ", ")
}

// installed reports whether there are signs of the program.
func (s *Setup) installed(c client) bool {
	look := s.LookPath
	if look == nil {
		look = exec.LookPath
	}
	for _, program := range c.programs {
		if _, err := look(program); err == nil {
			return true
		}
	}
	return slices.ContainsFunc(c.traces, present)
}

// userFile is a file below a folder that may not be known.
func userFile(folder string, names ...string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(append([]string{folder}, names...)...)
}

// known are the parts whose files have a place.
func known(parts ...part) []part {
	return slices.DeleteFunc(parts, func(p part) bool { return p.path == "" })
}
