package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"pointsman/approvals"
	"pointsman/assets"
	"pointsman/gateway/calls"
	"pointsman/gateway/hooks/shell"
)

// patchTool changes files as its one argument, a text, says.
const patchTool = "apply_patch"

// Judgement is how dangerous a call is.
type Judgement struct {
	Class    approvals.Class
	Risky    bool
	Own      bool // it reaches a file that could switch the gates off
	Evidence []string
	Warnings []string
	Shell    bool
	Command  []string // see approvals.Request
	Writes   []string // the files that it changes: absolute paths
}

// Judge tells how dangerous calls of Copilot's own tools are.
type Judge struct {
	// Own knows the files that could switch our gates off. Required.
	Own calls.Own
	// Home is the user's home folder, "" when it is not known.
	Home string
	// Listed returns what the user's own lists say of a tool. If nil, nothing.
	Listed func(tool string) (risky, listed bool)
}

// Judge judges one call. What is not known executes.
func (j Judge) Judge(c *Call) Judgement {
	d := j.byTool(c)
	if j.Listed != nil {
		if risky, listed := j.Listed(c.Tool); listed {
			d.Risky = risky
			d.Evidence = append([]string{"your own list has it"}, d.Evidence...)
		}
	}
	if j.own(c).Reached(c.Tool, d.Class, c.Arguments) {
		d.Own, d.Risky = true, true
	}
	return d
}

// own knows the files that could switch the gates off, with those of a Copilot
// that has its own files elsewhere.
func (j Judge) own(c *Call) calls.Own {
	if c.Home == "" {
		return j.Own
	}
	own := j.Own
	own.File = func(text string) bool {
		slashed := filepath.ToSlash(text)
		for _, name := range []string{"hooks", "settings.json"} {
			if strings.Contains(slashed, filepath.ToSlash(filepath.Join(c.Home, name))) {
				return true
			}
		}
		return j.Own.File(text)
	}
	return own
}

func (j Judge) byTool(c *Call) Judgement {
	var members map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &members) != nil {
		members = nil
	}
	t := tools()
	if look, ok := t.Read[c.Tool]; ok && members != nil {
		return j.look(c, look, members)
	}
	if look, ok := t.Write[c.Tool]; ok && (members != nil || c.Tool == patchTool) {
		return j.write(c, look, members)
	}
	if _, ok := t.OpenWorld[c.Tool]; ok {
		return Judgement{Class: approvals.OpenWorld, Risky: true, Evidence: []string{c.Tool + " reaches other systems"}}
	}
	if _, ok := t.Shell[c.Tool]; ok {
		return j.command(c, members)
	}
	d := Judgement{Class: approvals.Execute, Risky: true, Shell: strings.Contains(c.Tool, "powershell"), Evidence: []string{"nothing is known of the tool " + c.Tool}}
	if d.Shell {
		d.Evidence = []string{"it runs a command"}
	}
	return d
}

// look judges a call that looks.
func (j Judge) look(c *Call, t tool, members map[string]json.RawMessage) Judgement {
	d := Judgement{Class: approvals.Read, Evidence: []string{c.Tool + " only looks"}}
	paths := t.named(members)
	if len(paths) == 0 && t.Deep {
		paths = []string{"."}
	}
	for _, path := range paths {
		j.secret(&d, c, shell.File{Path: c.absolute(j.expanded(beforeWildcards(path))), Deep: t.Deep})
	}
	return d
}

// expanded is a path as a tool may read it: with the home folder for a tilde, and
// "" when it may mean something else again.
func (j Judge) expanded(path string) string {
	rest, tilde := strings.CutPrefix(path, "~")
	switch {
	case strings.ContainsAny(path, "$%") || strings.Contains(path, "://"):
		return ""
	case !tilde:
		return path
	case j.Home == "" || rest != "" && !strings.HasPrefix(filepath.ToSlash(rest), "/"):
		return ""
	default:
		return filepath.Join(j.Home, rest)
	}
}

// secret makes a judgement risky when a file that is read holds secrets.
func (j Judge) secret(d *Judgement, c *Call, file shell.File) {
	if file.Path == "" {
		d.Risky, d.Evidence = true, append([]string{"which file it reads cannot be told"}, d.Evidence...)
		return
	}
	if what := (vault{home: j.Home, folder: c.CWD}).holds(file); what != "" && !d.Risky {
		d.Risky, d.Evidence = true, append([]string{"it reads " + what}, d.Evidence...)
	}
}

// write judges a call that changes files.
func (j Judge) write(c *Call, t tool, members map[string]json.RawMessage) Judgement {
	d := Judgement{Class: approvals.Write, Risky: true, Evidence: []string{c.Tool + " changes files"}}
	paths := t.named(members)
	if c.Tool == patchTool {
		paths = d.patch(c)
	}
	for _, path := range paths {
		full := c.absolute(path)
		if full == "" {
			d.Warnings = append(d.Warnings, "which file it changes cannot be told: "+short(path))
			continue
		}
		d.Writes = append(d.Writes, full)
		if rel, err := filepath.Rel(c.CWD, full); err != nil || !filepath.IsLocal(rel) {
			d.Warnings = append(d.Warnings, "it writes outside the working folder: "+full)
		}
		if slices.Contains(strings.Split(filepath.ToSlash(full), "/"), ".git") {
			d.Class = approvals.Execute
			d.Warnings = append(d.Warnings, "git runs commands that files in .git name")
		}
	}
	return d
}

// patched finds the files of a patch.
var patched = regexp.MustCompile(`(?m)^\*\*\* (Add File|Update File|Delete File|Move to): *(.*?)[ \t\r]*$`)

// patch returns the files that a patch names, and notes what it deletes.
func (d *Judgement) patch(c *Call) []string {
	var paths []string
	for _, found := range patched.FindAllStringSubmatch(patchOf(c.Arguments), -1) {
		paths = append(paths, found[2])
		if found[1] == "Delete File" {
			d.Warnings = append(d.Warnings, "it deletes "+short(found[2]))
		}
	}
	return paths
}

// patchOf returns the patch, which is all of the arguments or their only text.
func patchOf(arguments json.RawMessage) string {
	var text string
	if json.Unmarshal(arguments, &text) == nil {
		return text
	}
	var members map[string]any
	if json.Unmarshal(arguments, &members) != nil {
		return ""
	}
	var b strings.Builder
	for _, v := range members {
		if part, ok := v.(string); ok {
			b.WriteString(part + "\n")
		}
	}
	return b.String()
}

// command judges a shell's command line.
func (j Judge) command(c *Call, members map[string]json.RawMessage) Judgement {
	d := Judgement{Class: approvals.Execute, Risky: true, Shell: true}
	var command string
	if json.Unmarshal(members["command"], &command) != nil {
		d.Evidence = []string{"it names no command"}
		return d
	}
	v := shell.Judge(command, c.CWD, j.Home)
	d.Evidence, d.Warnings, d.Command = []string{v.Why}, v.Dangers, v.Words
	if odd := unusual(members); odd != "" {
		d.Command = nil
		d.Evidence = []string{fmt.Sprintf("its argument %q may change how the command runs", short(odd))}
		return d
	}
	if !v.Reads {
		return d
	}
	d.Class, d.Risky = approvals.Read, false
	for _, file := range v.Files {
		j.secret(&d, c, file)
	}
	return d
}

// unusual returns an argument beside the command that is not known to change
// nothing about what runs.
func unusual(members map[string]json.RawMessage) string {
	for name, value := range members {
		text := string(bytes.TrimSpace(value))
		switch name {
		case "command", "description", "initial_wait", "shellId":
		case "mode":
			if text != `"sync"` {
				return name
			}
		case "detach":
			if text != "false" {
				return name
			}
		default:
			return name
		}
	}
	return ""
}

// beforeWildcards is the folder that a pattern looks in, or the path itself.
func beforeWildcards(path string) string {
	i := strings.IndexAny(path, "*?[{")
	if i < 0 {
		return path
	}
	if cut := strings.LastIndexByte(path[:i], '/'); cut >= 0 {
		return path[:cut+1]
	}
	return "."
}

// tool says which arguments of a tool name files.
type tool struct {
	Paths []string `yaml:"paths"`
	Deep  bool     `yaml:"deep"`
}

// named returns the paths in the arguments. What is neither a text nor a list of
// texts is "", which no path is.
func (t tool) named(members map[string]json.RawMessage) []string {
	var paths []string
	for _, name := range t.Paths {
		var one string
		var several []string
		switch raw := members[name]; {
		case raw == nil || string(raw) == "null":
		case json.Unmarshal(raw, &one) == nil:
			paths = append(paths, one)
		case json.Unmarshal(raw, &several) == nil:
			paths = append(paths, several...)
		default:
			paths = append(paths, "")
		}
	}
	return paths
}

// table is assets/copilot.yaml.
type table struct {
	Read      map[string]tool `yaml:"read"`
	Write     map[string]tool `yaml:"write"`
	OpenWorld map[string]tool `yaml:"open_world"`
	Shell     map[string]tool `yaml:"shell"`
}

// tools returns the table, which is read when it is first needed.
var tools = sync.OnceValue(func() table {
	var t table
	dec := yaml.NewDecoder(bytes.NewReader(assets.CopilotYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&t); err != nil {
		panic(fmt.Sprintf("reading the embedded copilot.yaml: %v", err)) // a fault of the build
	}
	return t
})
