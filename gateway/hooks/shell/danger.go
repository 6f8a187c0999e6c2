package shell

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// mostDangers is how many are told of one command line.
const mostDangers = 8

// nested is how many command lines inside one another (sh -c) are looked into.
const nested = 3

// shells run what they are given as a command line.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"}

// interpreters run programs, also such that are given to them.
var interpreters = []string{"python", "python3", "python2", "node", "perl", "ruby", "php", "deno", "bun", "lua", "osascript", "pwsh", "powershell"}

// wrappers run the command that their arguments name.
var wrappers = []string{
	"sudo", "doas", "su", "env", "xargs", "nohup", "nice", "ionice", "timeout", "time", "watch", "setsid", "stdbuf", "script", "parallel", "ssh",
	"eval", "exec", "command", "builtin", "source", ".", "trap", "chroot", "unshare", "nsenter", "flock", "strace", "coproc", "chrt", "taskset", "run0", "pkexec",
}

// runsOthers reports whether the command runs another one that its arguments
// name, so that its first words say little of what it does.
func runsOthers(words []string) bool {
	name := path.Base(words[0])
	switch {
	case slices.Contains(shells, name), slices.Contains(wrappers, name):
		return true
	case slices.Contains(interpreters, name):
		return len(words) < 2 || strings.HasPrefix(words[1], "-") && words[1] != "-m"
	case name == "find" || name == "fd":
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") || w == "-x" || w == "-X"
		})
	case name == "git":
		return len(words) > 1 && strings.HasPrefix(words[1], "-")
	default:
		return false
	}
}

// dangers lists what is destructive in a command line, wherever in it it stands.
func dangers(file *syntax.File, cwd, home string, depth int) []string {
	w := &watch{cwd: cwd, home: home, depth: depth}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CallExpr:
			w.call(node)
		case *syntax.Redirect:
			w.redirect(node)
		case *syntax.BinaryCmd:
			w.pipe(node)
		case *syntax.FuncDecl:
			w.add("defines a command of its own: " + short(node.Name.Value))
		}
		return true
	})
	return w.found
}

// watch gathers what is destructive.
type watch struct {
	cwd, home string
	depth     int
	found     []string
}

func (w *watch) add(danger string) {
	if len(w.found) < mostDangers && !slices.Contains(w.found, danger) {
		w.found = append(w.found, danger)
	}
}

// text returns what is known of a word: what is worked out later stands as $….
func (w *watch) text(word *syntax.Word) string {
	if text, err := expand.Literal(&expand.Config{Env: expand.ListEnviron("HOME=" + w.home)}, word); plain(word) && err == nil {
		return text
	}
	var b strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		default:
			b.WriteString("$…")
		}
	}
	return b.String()
}

func (w *watch) call(cmd *syntax.CallExpr) {
	var words []string
	for _, arg := range cmd.Args {
		words = append(words, w.text(arg))
	}
	w.words(words)
}

// words looks at one command, and at the one that it runs.
func (w *watch) words(words []string) {
	if len(words) == 0 {
		return
	}
	name, args := path.Base(words[0]), words[1:]
	for _, danger := range destructive {
		if slices.Contains(danger.names, name) && danger.does(args) {
			w.add(danger.says)
		}
	}
	w.targets(name, args)
	switch {
	case slices.Contains(shells, name):
		if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") }); i >= 0 && i+1 < len(args) {
			w.inner(args[i+1])
		}
	case name == "eval":
		w.inner(strings.Join(args, " "))
	case slices.Contains(wrappers, name):
		w.words(withoutFlags(args))
	case name == "find":
		if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok") }); i >= 0 {
			w.words(args[i+1:])
		}
	}
}

// withoutFlags drops what stands before a wrapped command: flags, variables and
// numbers, and the user after -u.
func withoutFlags(args []string) []string {
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || strings.Contains(args[0], "=") || isNumber(strings.TrimRight(args[0], "smhd"))) {
		if (args[0] == "-u" || args[0] == "-n" || args[0] == "-I") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

// inner looks into a command line that stands inside this one.
func (w *watch) inner(command string) {
	if w.depth >= nested {
		return
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return
	}
	for _, danger := range dangers(file, w.cwd, w.home, w.depth+1) {
		w.add(danger)
	}
}

// redirect looks at what a redirection writes to.
func (w *watch) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrOut, syntax.RdrAll, syntax.RdrClob, syntax.AppOut, syntax.AppAll, syntax.RdrInOut:
	default:
		return
	}
	target := w.text(r.Word)
	switch {
	case target == "/dev/null" || target == "/dev/stderr" || target == "/dev/stdout":
	case strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/"):
		w.add("sends data over the network by a redirection")
	case strings.HasPrefix(target, "/dev/"):
		w.add("writes to the device " + short(target))
	case w.outside(target):
		w.add("writes outside the working folder: " + short(target))
	case r.Op == syntax.AppOut || r.Op == syntax.AppAll:
		w.add("appends to " + short(target))
	default:
		w.add("overwrites " + short(target))
	}
}

// pipe looks at what is piped into a shell.
func (w *watch) pipe(cmd *syntax.BinaryCmd) {
	if cmd.Op != syntax.Pipe && cmd.Op != syntax.PipeAll {
		return
	}
	call, ok := cmd.Y.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	var words []string
	for _, arg := range call.Args {
		words = append(words, w.text(arg))
	}
	if slices.Contains(wrappers, path.Base(words[0])) && path.Base(words[0]) != "xargs" {
		words = withoutFlags(words[1:])
	}
	if len(words) > 0 && (slices.Contains(shells, path.Base(words[0])) || slices.Contains(interpreters, path.Base(words[0])) && !hasOperand(words[1:])) {
		w.add("pipes into a shell or an interpreter (" + short(words[0]) + "), which runs whatever comes")
	}
}

func hasOperand(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "-c" || a == "-e" || a == "-m" || !strings.HasPrefix(a, "-") })
}

// targets looks at where commands that write put it.
func (w *watch) targets(name string, args []string) {
	var files []string
	operands := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	switch name {
	case "tee", "touch", "mkdir", "rm", "rmdir", "truncate", "chmod", "chown", "unlink", "shred":
		files = operands
	case "cp", "mv", "ln", "install", "rsync":
		files = operands[max(0, len(operands)-1):]
	case "dd":
		for _, arg := range args {
			if target, ok := strings.CutPrefix(arg, "of="); ok {
				files = append(files, target)
			}
		}
	case "sed":
		if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--in-place") }) {
			files = operands[min(1, len(operands)):]
		}
	}
	for _, file := range files {
		if strings.HasPrefix(file, "/") || strings.HasPrefix(file, "~") || strings.Contains(file, "..") {
			if w.outside(file) {
				w.add(name + " reaches outside the working folder: " + short(file))
			}
		}
	}
}

// outside reports whether a path certainly leads out of the working folder.
func (w *watch) outside(target string) bool {
	switch {
	case strings.HasPrefix(target, "~"):
		target = filepath.Join(w.home, strings.TrimPrefix(target, "~"))
	case !filepath.IsAbs(target):
		target = filepath.Join(w.cwd, target)
	}
	rel, err := filepath.Rel(w.cwd, filepath.Clean(target))
	return err != nil || !filepath.IsLocal(rel)
}

// short is a name for a sentence.
func short(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}
