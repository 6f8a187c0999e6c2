package shell

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call judges one plain command. It returns the scope of what runs after it.
func (j *judge) call(cmd *syntax.CallExpr, at scope) (scope, string) {
	if len(cmd.Assigns) > 0 {
		return at, "it sets a variable"
	}
	if len(cmd.Args) == 0 {
		return at, "" // only redirections, which were judged
	}
	words, why := j.expand(cmd.Args, at)
	if why != "" {
		return at, why
	}
	if len(words) == 0 || strings.ContainsAny(unquoted(cmd.Args[0]), "*?[{~") && cmd.Args[0].Lit() != "[" {
		return at, "its name is worked out when it runs"
	}
	name := words[0]
	e := j.table[name]
	if e == nil {
		return at, fmt.Sprintf("%s is not known to only look", name)
	}
	u := &use{judge: j, entry: e, name: name, at: at}
	if why := u.take(words[1:]); why != "" {
		return at, why
	}
	j.names = append(j.names, u.name)
	if u.moved != nil {
		return scope{dirs: u.moved}, ""
	}
	return at, ""
}

// use is one command with its arguments.
type use struct {
	judge    *judge
	entry    *entry
	name     string // of the command, and its subcommand
	at       scope
	flags    []string // as they stand in the table
	values   map[string][]string
	operands []string
	moved    []string // where it goes, if it changes the folder
}

// take judges the arguments.
func (u *use) take(args []string) string {
	if u.entry.Free {
		return u.free(args)
	}
	u.values = map[string][]string{}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			u.operands = append(u.operands, args...)
			args = nil
		case len(u.entry.Sub) > 0 && !strings.HasPrefix(arg, "-"):
			return u.sub(arg, args)
		case !u.isFlag(arg):
			u.operands = append(u.operands, arg)
		default:
			rest, ok := u.flag(arg, args)
			if !ok {
				return fmt.Sprintf("%s %s is not known to only look", u.name, arg)
			}
			args = rest
		}
	}
	if len(u.entry.Sub) > 0 && len(u.flags) == 0 {
		return fmt.Sprintf("%s without a subcommand is not known to only look", u.name)
	}
	return u.end()
}

// free judges the arguments of a command that takes all of them for text. With -v
// and -R test looks at a variable, and runs what stands in its index.
func (u *use) free(args []string) string {
	if u.entry.Check == "test" && (slices.Contains(args, "-v") || slices.Contains(args, "-R")) {
		return fmt.Sprintf("%s looks at a variable", u.name)
	}
	return ""
}

// sub goes on with a subcommand.
func (u *use) sub(name string, args []string) string {
	e := u.entry.Sub[name]
	if e == nil {
		return fmt.Sprintf("%s %s is not known to only look", u.name, name)
	}
	if why := u.check(); why != "" {
		return why
	}
	u.name += " " + name
	u.entry, u.flags = e, nil
	return u.take(args)
}

func (u *use) isFlag(arg string) bool {
	if len(arg) < 2 {
		return false
	}
	return arg[0] == '-' || arg[0] == '+' && u.entry.Numeric
}

// flag takes one flag, and its value from the arguments after it.
func (u *use) flag(arg string, args []string) (rest []string, ok bool) {
	if u.entry.Numeric && isNumber(arg[1:]) {
		return args, true
	}
	if arg[0] == '+' {
		return args, false
	}
	if strings.HasPrefix(arg, "--") || u.entry.Words {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case u.entry.Flags.has(name) && (!joined || strings.HasPrefix(name, "--")):
			u.flags = append(u.flags, name)
			return args, true
		case joined:
			return args, strings.HasPrefix(name, "--") && u.value(name, value)
		case len(args) == 0:
			return args, false
		default:
			return args[1:], u.value(arg, args[0])
		}
	}
	return u.cluster(arg, args)
}

// cluster takes flags of one letter each that share a word.
func (u *use) cluster(arg string, args []string) (rest []string, ok bool) {
	for i := 1; i < len(arg); i++ {
		name := "-" + arg[i:i+1]
		switch {
		case u.entry.Flags.has(name):
			u.flags = append(u.flags, name)
		case i+1 < len(arg):
			return args, u.value(name, arg[i+1:])
		case len(args) == 0:
			return args, false
		default:
			return args[1:], u.value(name, args[0])
		}
	}
	return args, true
}

// value takes a flag's value, and reports whether the flag is known to have one.
func (u *use) value(name, value string) bool {
	reader := u.entry.Readers.has(name)
	if !reader && !u.entry.Values.has(name) {
		return false
	}
	u.flags = append(u.flags, name)
	u.values[name] = append(u.values[name], value)
	return !reader || u.judge.read(value, u.at, false) == ""
}

// end judges the arguments as a whole.
func (u *use) end() string {
	if u.entry.Most > 0 && len(u.operands) > u.entry.Most {
		return fmt.Sprintf("%s may write to a file that it is given", u.name)
	}
	if why := u.check(); why != "" {
		return why
	}
	files := u.operands
	switch u.entry.Operands {
	case "text":
		return ""
	case "none":
		if len(files) > 0 {
			return fmt.Sprintf("%s %s is not known to only look", u.name, files[0])
		}
		return ""
	case "pattern":
		if len(files) > 0 && !slices.ContainsFunc(u.flags, u.entry.Patterns.has) {
			files = files[1:]
		}
	}
	if len(files) == 0 && u.entry.Here {
		files = []string{"."}
	}
	for _, file := range files {
		if why := u.judge.read(file, u.at, u.deep()); why != "" {
			return why
		}
	}
	return ""
}

// deep reports whether it reads what lies below its files.
func (u *use) deep() bool {
	return u.entry.Deep.has("true") || slices.ContainsFunc(u.flags, u.entry.Deep.has)
}

// within reports whether the command runs in the folder that the command line
// began in or below it, and no folder on the way there is laid out as a
// repository that git would take for one: such a one may come with the files of
// another, and say what git runs.
func (u *use) within() bool {
	for _, dir := range u.at.dirs {
		rel, err := filepath.Rel(u.judge.cwd, dir)
		if err != nil || !filepath.IsLocal(rel) {
			return false
		}
		for folder := dir; folder != u.judge.cwd; folder = filepath.Dir(folder) {
			if bareRepository(folder) {
				return false
			}
		}
	}
	return true
}

func isNumber(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}
