package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pointsman/gateway/config"
)

// Offer is which of a server's tools may be offered.
type Offer int

// The possibilities, in the order of OfferWords.
const (
	OfferAll Offer = iota
	OfferNone
	OfferNamed
)

// OfferWords says each Offer to a person.
func OfferWords() []string { return []string{"All", "None", "Only these"} }

// Sandboxing is whether a server is confined.
type Sandboxing int

// The possibilities, in the order of SandboxWords.
const (
	SandboxForAll Sandboxing = iota // as the sandbox for all servers has it
	SandboxOn
	SandboxOff
)

// SandboxWords says each Sandboxing to a person.
func SandboxWords() []string { return []string{"As set for all", "Confined", "Not confined"} }

// The fields of a ServerForm, as Faults names them. The row of a variable or
// header is the field's name, a dot and the row's number from 0.
const (
	FieldName      = "name"
	FieldKind      = "kind"
	FieldCommand   = "command"
	FieldArguments = "arguments"
	FieldFolder    = "folder"
	FieldURL       = "url"
	FieldEnv       = "env"
	FieldHeaders   = "headers"
	FieldTimeout   = "timeout"
	FieldTools     = "tools"
	FieldSandbox   = "sandbox"
	FieldWrite     = "sandbox.write"
	FieldDeny      = "sandbox.deny"
)

// ServerForm is a server's entry as a form shows it.
type ServerForm struct {
	Name      string
	Remote    bool   // reached at URL, not started by Command
	Builtin   bool   // it is neither: it comes with the program
	Command   string // a program
	Arguments string // one per line
	Folder    string // where the program is started
	URL       string
	Env       []Pair
	Headers   []Pair
	Timeout   string // seconds; "" is the default
	Offer     Offer
	Tools     string // with OfferNamed: one name per line
	Sandbox   Sandboxing
	Network   bool   // with SandboxOn: it may use the network
	Write     string // with SandboxOn: what it may write, one path per line
	Deny      string // with SandboxOn: what it may not read, one path per line

	base config.MCPServer // what no field shows stays as it is here
	was  string           // the saved entry's name; "" when there is none
}

// SavedServer is the form of an entry as the resident tells it.
func SavedServer(name string, entry config.MCPServer) ServerForm {
	f := formOf(name, entry, savedPair)
	f.was = name
	return f
}

// pastedServer is the form of an entry as config.ParseServers reads it.
func pastedServer(name string, entry config.MCPServer) ServerForm {
	return formOf(name, entry, pastedPair)
}

// OpenServer is the form of a server that there is: of its entry, or of the one
// that it does without because it comes with the program.
func OpenServer(cfg *config.Config, name string) ServerForm {
	entry, there := cfg.MCPServers[name]
	if !there {
		return formOf(name, ServerEntry(cfg, name), savedPair)
	}
	return SavedServer(name, entry)
}

// ServerEntry is the entry of a server that there is, see OpenServer.
func ServerEntry(cfg *config.Config, name string) config.MCPServer {
	if entry, there := cfg.MCPServers[name]; there {
		return entry
	}
	return config.MCPServer{Type: builtinType}
}

const builtinType = "builtin"

// Was is the name of the saved entry that the form changes; "" when it adds one.
func (f ServerForm) Was() string { return f.was }

func formOf(name string, entry config.MCPServer, pair func(string, config.Secret) Pair) ServerForm {
	f := ServerForm{
		Name: name, Remote: entry.URL != "" && entry.Command == "", Builtin: entry.Type == builtinType, Command: entry.Command,
		Arguments: joinArguments(entry.Args), Folder: entry.Cwd, URL: entry.URL, Tools: strings.Join(entry.Tools, "\n"), base: entry,
	}
	if f.Folder == "" {
		f.Folder = entry.WorkingDirectory
	}
	for _, key := range slices.Sorted(maps.Keys(entry.Env)) {
		f.Env = append(f.Env, pair(key, entry.Env[key]))
	}
	for _, key := range slices.Sorted(maps.Keys(entry.Headers)) {
		f.Headers = append(f.Headers, pair(key, entry.Headers[key]))
	}
	if entry.Timeout != 0 {
		f.Timeout = strconv.FormatFloat(float64(entry.Timeout)/1000, 'f', -1, 64)
	}
	if box := entry.Sandbox; box != nil {
		f.Sandbox, f.Network = SandboxOff, box.Network.AllowOutbound
		f.Write, f.Deny = strings.Join(box.Filesystem.AllowWrite, "\n"), strings.Join(box.Filesystem.DenyRead, "\n")
		if box.Enabled {
			f.Sandbox = SandboxOn
		}
	}
	switch {
	case len(entry.Tools) > 0:
		f.Offer = OfferNamed
	case entry.Tools != nil:
		f.Offer = OfferNone
	}
	return f
}

// Draft makes an entry of the form. cfg is what is in force: it says which names
// are taken.
func (f ServerForm) Draft(cfg *config.Config) ServerDraft {
	d := newDraft("mcpServers", f.Name, f.was, f.base)
	e := &d.Entry
	e.Command, e.Args, e.Env, e.Cwd, e.WorkingDirectory, e.URL, e.Headers = "", nil, nil, "", "", "", nil
	switch rows := (pairRows{form: f, cfg: cfg, draft: &d}); {
	case f.Builtin:
	case f.Remote:
		e.URL, e.Headers = strings.TrimSpace(f.URL), rows.build(FieldHeaders, f.Headers)
		e.Type = keepType(e.Type, "http", "sse", "streamable-http")
	default:
		e.Command, e.Args, e.Cwd = strings.TrimSpace(f.Command), splitArguments(f.Arguments), strings.TrimSpace(f.Folder)
		e.Env = rows.build(FieldEnv, f.Env)
		e.Type = keepType(e.Type, "local", "stdio")
		e.Sandbox = f.sandbox()
	}
	f.offer(e)
	f.time(e, d.Faults)
	if _, taken := cfg.MCPServers[f.Name]; taken && f.Name != f.was {
		d.Faults[FieldName] = "There is a server of this name already"
	}
	d.Faults.AddServer(f, config.ServerProblems(d.Name, d.Entry))
	return d
}

// keepType keeps a type that fits, for it may say more than the kind.
func keepType(written string, fit ...string) string {
	if slices.Contains(fit, written) {
		return written
	}
	return ""
}

func (f ServerForm) offer(e *config.MCPServer) {
	switch f.Offer {
	case OfferNone:
		e.Tools = []string{}
	case OfferNamed:
		e.Tools = append([]string{}, filledLines(f.Tools)...)
	default:
		e.Tools = nil
	}
}

// sandbox is what the form says of it; what it does not use is kept.
func (f ServerForm) sandbox() *config.Sandbox {
	if f.Sandbox == SandboxForAll {
		return nil
	}
	return &config.Sandbox{
		Enabled:    f.Sandbox == SandboxOn,
		Network:    config.SandboxNetwork{AllowOutbound: f.Network},
		Filesystem: config.SandboxFilesystem{AllowWrite: filledLines(f.Write), DenyRead: filledLines(f.Deny)},
	}
}

// filledLines are the lines of a text that say something.
func filledLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (f ServerForm) time(e *config.MCPServer, faults Faults) {
	e.Timeout = 0
	text := strings.TrimSpace(strings.ReplaceAll(f.Timeout, ",", "."))
	if text == "" {
		return
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds != seconds || seconds > (1000*time.Hour).Seconds() {
		faults[FieldTimeout] = "Not a number of seconds, such as 60"
		return
	}
	e.Timeout = int64(seconds * 1000)
}

// AddServer marks the fields of a server's form with the problems of its entry.
func (to Faults) AddServer(f ServerForm, problems []config.Problem) {
	to.add(config.JoinPath("mcpServers", f.Name), problems, f.fieldOf)
}

// fieldOf is the field that shows what a path in the entry leads to.
func (f ServerForm) fieldOf(path string) string {
	section, key, _ := strings.Cut(path, ".")
	switch section {
	case "url":
		return FieldURL
	case "timeout", "startTimeout":
		return FieldTimeout
	case "type":
		return FieldKind
	case "tools":
		return FieldTools
	case "sandbox":
		return FieldSandbox
	case "env":
		return rowField(FieldEnv, f.Env, key)
	case "headers":
		return rowField(FieldHeaders, f.Headers, key)
	}
	switch {
	case f.Name == "" || f.Builtin:
		return FieldName
	case f.Remote:
		return FieldURL
	default:
		return FieldCommand
	}
}

func rowField(section string, rows []Pair, key string) string {
	for i, row := range rows {
		if config.JoinPath("", row.Key) == key {
			return rowName(section, i)
		}
	}
	return section
}

// rowName is the name of a row as a field.
func rowName(section string, i int) string { return section + "." + strconv.Itoa(i) }

// problemWords is a problem as a field shows it: without its place.
func problemWords(p config.Problem) string {
	p.File, p.Path, p.Line = "", "", 0
	return Sentence(p.Error())
}

// Sentence is an error's text with a capital letter.
func Sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
