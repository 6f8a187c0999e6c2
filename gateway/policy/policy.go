// Package policy is what the machine's administrator has settled for every user:
// a file that a user can read and not write, and that no configuration,
// environment or flag loosens.
//
//	sandbox:
//	  required: true             # every local MCP server is confined
//	servers:
//	  allowed:                   # no other server starts; an empty list allows none
//	    - filesystem             # any server of that name
//	    - {name: github, url: "https://api.githubcopilot.com/mcp/"}
//	    - {command: [npx, -y, "@modelcontextprotocol/server-memory"]}
//	approvals:
//	  require: true              # a person is asked before each risky call
//
// What a configuration has that the policy forbids is a conflict. It is never
// settled silently: a server in conflict does not start, and a configuration
// whose approvals are in conflict is not put in force. A policy that is there
// and cannot be read, understood or trusted keeps every server from starting, and
// counts as one that requires approvals.
package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"

	"pointsman/gateway/config"
)

// Code is in the text of every Conflict.
const Code = "managed_sandbox_policy_conflict"

// maxBytes is the size of the largest policy that is read.
const maxBytes = 1 << 20

// Policy is what an administrator has settled. The zero value settles nothing.
type Policy struct {
	Path    string `yaml:"-"` // the file; "" when there is none
	Fault   string `yaml:"-"` // why the file cannot be followed; "" when it can
	Sandbox struct {
		Required bool `yaml:"required"`
	} `yaml:"sandbox"`
	Servers struct {
		Allowed []Allowed `yaml:"allowed"` // nil: all
	} `yaml:"servers"`
	Approvals struct {
		Require bool `yaml:"require"`
	} `yaml:"approvals"`
}

// Allowed describes servers that may start: all that fit every part that is set.
type Allowed struct {
	Name    string   `yaml:"name,omitempty"`         // a pattern, as path.Match has them
	Command []string `yaml:"command,omitempty,flow"` // the command and all its arguments, as the entry has them
	URL     string   `yaml:"url,omitempty"`          // exactly
}

// UnmarshalYAML takes a text for a name.
func (a *Allowed) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&a.Name)
	}
	known := []string{"name", "command", "url"}
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		if key := node.Content[i]; !slices.Contains(known, key.Value) {
			return fmt.Errorf("line %d: unknown key %q in servers.allowed; known: name, command, url", key.Line, key.Value)
		}
	}
	type plain Allowed
	return node.Decode((*plain)(a))
}

// fits reports whether a server is one of those described.
func (a Allowed) fits(name string, entry config.MCPServer) bool {
	if ok, _ := path.Match(a.Name, name); a.Name != "" && !ok { // the pattern was checked
		return false
	}
	if a.Command != nil && !slices.Equal(a.Command, append([]string{entry.Command}, entry.Args...)) {
		return false
	}
	return a.URL == "" || a.URL == entry.URL
}

// System returns the policy of this machine: that of File, if it is there. Only
// one that none but an administrator can have written is followed.
func System() *Policy {
	file, err := File()
	if err != nil {
		return &Policy{Path: "the policy file", Fault: err.Error()}
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return &Policy{}
	}
	if err := trusted(file); err != nil {
		return &Policy{Path: file, Fault: err.Error()}
	}
	return Read(file)
}

// Read returns the policy in a file, whoever has written it.
func Read(file string) *Policy {
	f, err := os.Open(file)
	if err != nil {
		return &Policy{Path: file, Fault: err.Error()}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(text) > maxBytes {
		err = fmt.Errorf("it is larger than %d MiB", maxBytes>>20)
	}
	p := &Policy{}
	if err == nil {
		err = p.parse(text)
	}
	if err != nil {
		return &Policy{Path: file, Fault: err.Error()}
	}
	p.Path = file
	return p
}

// YAML returns the policy as a file would have it.
func (p *Policy) YAML() (string, error) {
	text, err := yaml.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("rendering the policy: %w", err)
	}
	return string(text), nil
}

// parse reads a policy's text. A key that is not known would be a rule that does
// not hold.
func (p *Policy) parse(text []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("it has more than one document")
	}
	for i, a := range p.Servers.Allowed {
		if _, err := path.Match(a.Name, ""); err != nil {
			return fmt.Errorf("servers.allowed[%d]: %q is not a pattern", i, a.Name)
		}
		if a.Name == "" && a.Command == nil && a.URL == "" {
			return fmt.Errorf("servers.allowed[%d] says nothing, and would allow every server", i)
		}
	}
	return nil
}
