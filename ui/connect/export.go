package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
)

// Exported is what Export has written.
type Exported struct {
	Document []byte   // JSON, for the program's own file
	Needs    []string // what the user has to set for it, in sentences
	Lost     []string // what the program has no place for, in sentences
}

// Targets are the names of the programs that Export writes for.
func Targets() []string { return []string{"copilot", "vscode"} }

// Export writes servers as a program has them. No value of a secret is in it:
// each becomes a reference to an environment variable (Copilot), or to an input
// that is asked for (VS Code). home and folder are what ${userHome} and
// ${workspaceFolder} stand for; "" when that is open.
func Export(to string, servers map[string]config.MCPServer, home, folder string) (Exported, error) {
	e := exporter{home: home, folder: folder, inputs: map[string]string{}}
	switch to {
	case "copilot":
		e.target = copilotTarget()
	case "vscode":
		e.target = vscodeTarget()
	default:
		return Exported{}, fmt.Errorf("exporting servers: %q is none of %s", to, strings.Join(Targets(), ", "))
	}
	all := object{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if entry := e.entry(name, servers[name]); entry != nil {
			all[name] = entry
		}
	}
	e.out.Document = encode(e.target.document(all, e.inputs))
	slices.Sort(e.out.Needs)
	e.out.Needs = slices.Compact(e.out.Needs)
	return e.out, nil
}

// target is how a program wants its servers.
type target struct {
	title    string
	carries  []string                       // fields beyond those of every entry, as Pointsman names them
	variable func(name string) string       // a reference to an environment variable
	secret   func(name string) (ref string) // a reference to a secret of that name
	plain    func(text string) (string, bool)
	own      []string // references that the program knows as we do
	entry    func(config.MCPServer) object
	document func(servers object, inputs map[string]string) object
	need     func(name, of string) string // says what has to be set for a secret
}

type exporter struct {
	target       target
	home, folder string
	inputs       map[string]string // secrets that are referred to, with the server that each is of
	out          Exported
	redactor     secrets.Redactor
}

// encode writes a document as people read it.
func encode(o object) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(o) // texts, numbers and booleans cannot fail
	return b.Bytes()
}

// entry is one server in the target's shape; nil when it cannot be written.
func (e *exporter) entry(name string, s config.MCPServer) object {
	switch {
	case s.Type == "builtin":
		e.lose(name, "it comes with Pointsman")
		return nil
	case s.Disabled:
		e.lose(name, "it is disabled, which %s cannot say", e.target.title)
		return nil
	}
	e.loseFields(name, s)
	var fault error
	rewrite := func(text string) string {
		out, err := e.text(name, text)
		if err != nil && fault == nil {
			fault = err
		}
		return out
	}
	s.Env, s.Headers = e.conceal(name, s.Env), e.conceal(name, s.Headers)
	s = mapTexts(s, rewrite)
	if fault != nil {
		e.lose(name, "%v", fault)
		return nil
	}
	return e.target.entry(s)
}

func (e *exporter) lose(name, format string, args ...any) {
	e.out.Lost = append(e.out.Lost, fmt.Sprintf("%s: %s", name, fmt.Sprintf(format, args...)))
}

// loseFields says which settings of an entry the target has no place for.
func (e *exporter) loseFields(name string, s config.MCPServer) {
	set := map[string]bool{
		"tools": s.Tools != nil && !slices.Equal(s.Tools, []string{"*"}), "timeout": s.Timeout != 0, "startTimeout": s.StartTimeout != 0,
		"prefix": s.Prefix != nil, "trustAnnotations": s.TrustAnnotations, "sandbox": s.Sandbox != nil && s.Sandbox.Enabled,
		"oauthClientSecret": s.OAuthClientSecret != "", "oauthCallbackPort": s.OAuthCallbackPort != 0,
		"oauthClientId": s.OAuthClientID != "", "oauthScopes": len(s.OAuthScopes) > 0, "oauthPublicClient": s.OAuthPublicClient, "oauthGrantType": s.OAuthGrantType != "",
	}
	for _, field := range slices.Sorted(maps.Keys(set)) {
		if set[field] && !slices.Contains(e.target.carries, field) {
			e.lose(name, "%s: %s has no such setting", field, e.target.title)
		}
	}
}

// conceal puts references in the place of literal secrets.
func (e *exporter) conceal(server string, values map[string]config.Secret) map[string]config.Secret {
	values = maps.Clone(values)
	for key, value := range values {
		only := config.Default()
		only.MCPServers = map[string]config.MCPServer{"s": {Env: map[string]config.Secret{key: value}}}
		hidden := strings.Contains(string(value), config.Secret("x").String()) // by whoever gave us the entry
		if !hidden && len(only.LiteralSecrets()) == 0 && !e.revealing(string(value)) {
			continue
		}
		scheme, _, ok := strings.Cut(string(value), " ")
		ref := config.Secret(scheme + " ${keychain:x}")
		if !ok || ref.String() != string(ref) {
			scheme = ""
		}
		values[key] = config.Secret(strings.TrimSpace(scheme + " ${keychain:" + server + "_" + key + "}"))
	}
	return values
}

// revealing reports whether a text has what looks like a credential in it.
func (e *exporter) revealing(text string) bool { return e.redactor.Redact(text) != text }

// text rewrites the references in a text. A reference of ours that the target
// does not know is replaced, or is the error.
func (e *exporter) text(server, text string) (string, error) {
	if name, ok := strings.CutPrefix(text, "keychain:"); ok {
		return e.secret(name, server), nil
	}
	if name, ok := strings.CutPrefix(text, "os.environ/"); ok {
		return e.target.variable(name), nil
	}
	if e.revealing(reference.ReplaceAllString(text, "")) {
		return "", errors.New("an argument or address holds what looks like a secret; keep it in the keychain and write ${keychain:NAME}")
	}
	var fault error
	out := reference.ReplaceAllStringFunc(text, func(ref string) string {
		replaced, err := e.reference(server, ref)
		if err != nil && fault == nil {
			fault = err
		}
		return replaced
	})
	return out, fault
}

var namedVariable = regexp.MustCompile(`^\$\{?(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}?$`)

// reference is one reference as the target has it.
func (e *exporter) reference(server, ref string) (string, error) {
	name, kept := strings.CutPrefix(ref, "${keychain:")
	switch {
	case strings.HasPrefix(ref, "$$"):
		if text, ok := e.target.plain(ref[1:]); ok {
			return text, nil
		}
		return "", fmt.Errorf("a text holds %s, which %s would take for a variable", ref[1:], e.target.title)
	case kept:
		return e.secret(strings.TrimSuffix(name, "}"), server), nil
	case slices.Contains(e.target.own, ref):
		return ref, nil
	case ref == "${userHome}" && e.home != "":
		return e.home, nil
	case ref == "${workspaceFolder}" && e.folder != "":
		return e.folder, nil
	}
	if m := namedVariable.FindStringSubmatch(ref); m != nil && ref != "${userHome}" && ref != "${workspaceFolder}" {
		return e.target.variable(m[1]), nil
	}
	return "", fmt.Errorf("%s has nothing like %s", e.target.title, ref)
}

// secret refers to a secret, and notes that it has to be given.
func (e *exporter) secret(name, server string) string {
	e.inputs[name] = server
	e.out.Needs = append(e.out.Needs, e.target.need(name, server))
	return e.target.secret(name)
}

// shape is what both programs write alike.
func shape(s config.MCPServer, local string) object {
	o := object{}
	put := func(key string, value any, there bool) {
		if there {
			o[key] = value
		}
	}
	if s.URL != "" {
		o["type"], o["url"] = "http", s.URL
		if s.Type == "sse" {
			o["type"] = "sse"
		}
		put("headers", texts(s.Headers), len(s.Headers) > 0)
		return o
	}
	o["type"], o["command"], o["args"] = local, s.Command, append([]string{}, s.Args...)
	put("env", texts(s.Env), len(s.Env) > 0)
	cwd := s.Cwd
	if cwd == "" {
		cwd = s.WorkingDirectory
	}
	put("cwd", cwd, cwd != "")
	return o
}

// texts are the values as they are: as a Secret, a value would be hidden.
func texts(values map[string]config.Secret) map[string]string {
	plain := make(map[string]string, len(values))
	for key, value := range values {
		plain[key] = string(value)
	}
	return plain
}
