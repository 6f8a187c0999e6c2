package connect

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pointsman/gateway/config"
)

// dialect is how a program writes a server's entry.
type dialect struct {
	program string
	carries []string          // keys that mean the same to us, besides those of every entry
	lost    map[string]string // keys that we know and cannot carry, with the reason
	refs    *regexp.Regexp    // the references that the program replaces and we do too; nil: none
	strange bool              // every other ${…} is a variable of the program
	folder  string            // what ${workspaceFolder} is; "" when that is open
}

// common are the keys of every entry.
var common = []string{"type", "command", "args", "env", "cwd", "url", "headers"}

// reference is $NAME or ${…}, as our own configuration reads it: a doubled $
// takes its meaning away.
var reference = regexp.MustCompile(`\$?\$(?:\{[^{}]*\}|[A-Za-z_][A-Za-z0-9_]*)`)

// inputRef is VS Code's reference to an input.
var inputRef = regexp.MustCompile(`\$\{input:([^{}]+)\}`)

// read makes an entry of ours of one of the program's.
func (d dialect) read(name string, raw object) Found {
	f := Found{Name: name}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if slices.Contains(common, key) || slices.Contains(d.carries, key) {
			continue
		}
		reason, known := d.lost[key]
		if !known {
			reason = "Pointsman has no such setting"
		}
		f.Lost = append(f.Lost, fmt.Sprintf("%s: %s", key, reason))
		delete(raw, key)
	}
	for _, key := range []string{"env", "headers"} {
		if values, ok := raw[key].(object); ok {
			raw[key] = f.plain(key, values)
		}
	}
	f.decode(raw)
	f.translate(d)
	f.check()
	return f
}

// plain makes texts of the values of an environment or of headers.
func (f *Found) plain(section string, values object) object {
	texts := object{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch v := values[key].(type) {
		case string:
			texts[key] = v
		case bool:
			texts[key] = strconv.FormatBool(v)
		case int64:
			texts[key] = strconv.FormatInt(v, 10)
		case float64:
			texts[key] = strconv.FormatFloat(v, 'f', -1, 64)
		case nil:
			f.Lost = append(f.Lost, fmt.Sprintf("%s.%s: null takes a variable away, which Pointsman does not", section, key))
		default:
			f.Lost = append(f.Lost, fmt.Sprintf("%s.%s: it is no text", section, key))
		}
	}
	return texts
}

func (f *Found) decode(raw object) {
	if len(raw) == 0 {
		f.fail("it has neither a command nor a url")
		return
	}
	text, err := config.Encode(raw)
	if err == nil {
		err = config.Decode(text, &f.Entry)
	}
	if err != nil {
		f.Entry = config.MCPServer{}
		f.fail("it cannot be read: " + err.Error())
	}
}

// fail notes the first fault.
func (f *Found) fail(why string) {
	if f.Fault == "" {
		f.Fault = why
	}
}

// check says what our configuration would find wrong with the entry.
func (f *Found) check() {
	address := strings.ToLower(f.Entry.URL)
	if strings.HasPrefix(address, "unix:") || strings.HasPrefix(address, "pipe:") {
		f.fail("its url is a socket; Pointsman reaches http and https addresses")
		return
	}
	entry := f.Fill(func(id string) string { return "x" })
	for _, p := range config.ServerProblems(f.Name, entry) {
		if !p.Warning {
			f.fail(p.Error())
		}
	}
}

// translate rewrites the references in every text of the entry.
func (f *Found) translate(d dialect) {
	f.Entry = mapTexts(f.Entry, func(text string) string { return f.reference(d, text) })
}

func (f *Found) reference(d dialect, text string) string {
	if strings.HasPrefix(text, "keychain:") || strings.HasPrefix(text, "os.environ/") {
		f.fail(fmt.Sprintf("a value begins with %q, which would be read as a reference to a secret of Pointsman's; add the server by hand", text[:strings.IndexAny(text, ":/")+1]))
		return text
	}
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		switch {
		case ref == "${workspaceFolder}" && d.folder != "" && d.refs != nil:
			return strings.ReplaceAll(d.folder, "$", "$$")
		case d.refs != nil && d.refs.MatchString(ref):
			return ref
		case d.strange && strings.HasPrefix(ref, "${"):
			f.fail(fmt.Sprintf("%s is a variable of %s's that Pointsman does not know", ref, d.program))
		}
		return "$" + ref // a mere text there, and here
	})
}

// mapTexts returns an entry with each of the texts that may hold references
// rewritten.
func mapTexts(e config.MCPServer, rewrite func(string) string) config.MCPServer {
	for _, text := range []*string{&e.Command, &e.Cwd, &e.WorkingDirectory, &e.URL} {
		*text = rewrite(*text)
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = rewrite(e.Args[i])
	}
	e.Env, e.Headers = mapSecrets(e.Env, rewrite), mapSecrets(e.Headers, rewrite)
	return e
}

func mapSecrets(values map[string]config.Secret, rewrite func(string) string) map[string]config.Secret {
	values = maps.Clone(values)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		values[key] = config.Secret(rewrite(string(values[key])))
	}
	return values
}

// Fill returns the entry with each ${input:ID} replaced by what value gives for
// the ID: a reference, such as ${keychain:NAME}.
func (f Found) Fill(value func(id string) string) config.MCPServer {
	return mapTexts(f.Entry, func(text string) string {
		return inputRef.ReplaceAllStringFunc(text, func(ref string) string {
			return value(inputRef.FindStringSubmatch(ref)[1])
		})
	})
}

// usedInputs are the ids of the inputs that the entry refers to, in order.
func (f Found) usedInputs() []string {
	var ids []string
	f.Fill(func(id string) string {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return ""
	})
	return ids
}
