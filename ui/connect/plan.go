package connect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"pointsman/gateway/config"
)

// Candidate is a server of another program's that could be added.
type Candidate struct {
	Found
	Source Source   // without its servers
	As     string   // the name that it would have here
	Skip   string   // why it is not to be added, or ""
	Also   []string // the other programs that have it
}

// Plan says what becomes of the servers of sources where the configuration has
// these: a server that another source has as well is one candidate, one that is
// there already is skipped. One whose name is taken is skipped, or renamed.
func Plan(sources []Source, have map[string]config.MCPServer, rename bool) []Candidate {
	var all []Candidate
	for _, s := range sources {
		servers := s.Servers
		s.Servers = nil
		for _, found := range servers {
			if i := slices.IndexFunc(all, func(c Candidate) bool { return c.sameAs(found) }); i >= 0 {
				all[i].Also = append(all[i].Also, s.Title)
				continue
			}
			c := Candidate{Found: found, Source: s}
			c.name(all, have, rename)
			all = append(all, c)
		}
	}
	return all
}

// sameAs reports whether two programs have the same server, so that adding both
// would be adding one twice. Inputs of one name may be different ones.
func (c Candidate) sameAs(other Found) bool {
	return c.Name == other.Name && c.Fault == other.Fault && len(c.Inputs)+len(other.Inputs) == 0 && sameEntry(c.Entry, other.Entry)
}

// sameEntry compares what runs: that a type is named, which the command or the
// address says already, makes no difference.
func sameEntry(a, b config.MCPServer) bool {
	a.Type, b.Type = kind(a.Type), kind(b.Type)
	one, err := config.Encode(a)
	other, errOther := config.Encode(b)
	return err == nil && errOther == nil && one == other
}

func kind(written string) string {
	if written == "sse" {
		return written
	}
	return ""
}

// name decides the candidate's name, and whether it is skipped.
func (c *Candidate) name(before []Candidate, have map[string]config.MCPServer, rename bool) {
	taken := func(name string) bool {
		_, there := have[name]
		return there || slices.ContainsFunc(before, func(b Candidate) bool { return b.As == name && b.Skip == "" })
	}
	c.As = c.Name
	entry, there := have[c.Name]
	switch {
	case c.Fault != "":
		c.Skip = c.Fault
	case there && sameEntry(entry, c.Entry):
		c.Skip = "it is there already"
	case !taken(c.Name):
	case rename:
		for i := 2; taken(c.As); i++ {
			c.As = c.Name + "-" + strconv.Itoa(i)
		}
	default:
		c.Skip = fmt.Sprintf("another server is named %q", c.Name)
	}
}

// Runs is what the server runs, or where it is reached.
func (f Found) Runs() []string {
	if f.Entry.Command == "" {
		return []string{f.Entry.URL}
	}
	return append([]string{f.Entry.Command}, f.Entry.Args...)
}

// Wanted is an input that candidates need, and the name under which its value is
// to be kept.
type Wanted struct {
	Input
	Of   string // the first server that needs it
	Name string // in the keychain
	path string // of the file that declares it
}

// Inputs are what the candidates that are not skipped need, each once. taken
// says which names the keychain uses for something else.
func Inputs(candidates []Candidate, taken func(name string) bool) []Wanted {
	var all []Wanted
	for _, c := range candidates {
		for _, in := range c.Inputs {
			known := slices.ContainsFunc(all, func(w Wanted) bool { return w.path == c.Source.Path && w.ID == in.ID })
			if c.Skip != "" || known {
				continue
			}
			used := func(name string) bool {
				return taken(name) || slices.ContainsFunc(all, func(w Wanted) bool { return w.Name == name })
			}
			name := keyName(in.ID)
			for i := 2; used(name); i++ {
				name = keyName(in.ID) + "-" + strconv.Itoa(i)
			}
			all = append(all, Wanted{Input: in, Of: c.As, Name: name, path: c.Source.Path})
		}
	}
	return all
}

// longestKey bounds a name in the keychain, in bytes.
const longestKey = 64

// notInKey is what such a name does without.
var notInKey = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// keyName is an input's id as a name in the keychain.
func keyName(id string) string {
	name := notInKey.ReplaceAllString(id, "-")
	return name[:min(len(name), longestKey)]
}

// With is the candidate's entry with references to the keychain for its inputs;
// ok is false when one that it needs is not in values.
func (c Candidate) With(inputs []Wanted, values map[string]string) (entry config.MCPServer, ok bool) {
	ok = true
	entry = c.Fill(func(id string) string {
		i := slices.IndexFunc(inputs, func(w Wanted) bool { return w.path == c.Source.Path && w.ID == id })
		if i < 0 || values[inputs[i].Name] == "" {
			ok = false
			return ""
		}
		return "${keychain:" + inputs[i].Name + "}"
	})
	return entry, ok
}
