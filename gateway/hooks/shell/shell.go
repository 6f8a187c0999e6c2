// Package shell tells what a shell's command line would do, from its text: it is
// a read when every command in it is known to only look with just these
// arguments, and executes otherwise. What cannot be told for certain (variables,
// substitutions, functions, unknown flags, syntax it cannot parse) executes.
//
// It runs nothing and starts no goroutine. It looks at the disk for what a
// wildcard stands for, since a file may be named like a flag.
package shell

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// longest is the longest command line, in bytes, that is looked into.
const longest = 64 << 10

// deepest is how deep command lines inside one another are looked into.
const deepest = 40

// Verdict is what is known of a command line.
type Verdict struct {
	// Reads reports that it only looks. False: it executes.
	Reads bool
	// Why says why it is held to execute, or what it only looks with.
	Why string
	// Files are what it reads, when Reads: absolute paths.
	Files []File
	// Words are its words when it is one plain command without any redirection,
	// and no command that runs others. Nil: it is not.
	Words []string
	// Dangers say what is destructive in it, each in a short sentence. They are
	// what was recognised, not all there is.
	Dangers []string
}

// File is something that a command reads.
type File struct {
	Path string // absolute and clean; links are not followed
	Deep bool   // and all that is below it
}

// Judge tells what the command line would do when a Bourne-again shell runs it in
// the folder cwd for the user whose home is given. It never panics.
func Judge(command, cwd, home string) (v Verdict) {
	defer func() {
		if recover() != nil { // of the parser's making
			v = Verdict{Why: "it cannot be read as a shell command"}
		}
	}()
	if why := unreadable(command, cwd); why != "" {
		return Verdict{Why: why}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return Verdict{Why: "it cannot be read as a shell command"}
	}
	j := &judge{table: commands(), cwd: cwd, home: home}
	why := j.list(file.Stmts, scope{dirs: []string{cwd}}, 0)
	v = Verdict{Reads: why == "", Why: why, Dangers: dangers(file, cwd, home, 0)}
	if v.Reads {
		v.Files = j.files
		v.Why = "it only looks: " + strings.Join(slices.Compact(j.names), ", ")
	}
	v.Words = plainWords(file, j)
	return v
}

// unreadable says why a command line is not looked into, or "".
func unreadable(command, cwd string) string {
	odd := func(r rune) bool {
		return r == unicode.ReplacementChar || r != '\n' && r != '\t' && !unicode.IsPrint(r)
	}
	switch {
	case len(command) > longest:
		return "it is too long to be judged"
	case strings.TrimSpace(command) == "":
		return "it is empty"
	case strings.ContainsFunc(command, odd):
		return "it contains characters that cannot be seen"
	case !filepath.IsAbs(cwd):
		return "the folder that it runs in is not known"
	default:
		return ""
	}
}

// judge looks at the commands of one command line.
type judge struct {
	table map[string]*entry
	cwd   string // where it begins
	home  string
	files []File
	names []string // of the commands
}

// scope is where a command may run: `cd` may have gone elsewhere, or failed.
type scope struct{ dirs []string }

// list judges statements that run one after the other.
func (j *judge) list(stmts []*syntax.Stmt, at scope, depth int) (why string) {
	if len(stmts) == 0 {
		return "there is no command in it"
	}
	for _, stmt := range stmts {
		next, why := j.stmt(stmt, at, depth)
		if why != "" {
			return why
		}
		at = at.or(next)
	}
	return ""
}

// or is the scope of what runs after something that may have failed.
func (s scope) or(other scope) scope {
	dirs := slices.Clone(s.dirs)
	for _, dir := range other.dirs {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return scope{dirs: dirs}
}

// stmt judges one statement. It returns the scope of what runs after its success.
func (j *judge) stmt(stmt *syntax.Stmt, at scope, depth int) (scope, string) {
	next, why := j.command(stmt, at, depth)
	if stmt.Negated {
		next = next.or(at)
	}
	return next, why
}

func (j *judge) command(stmt *syntax.Stmt, at scope, depth int) (scope, string) {
	switch {
	case depth > deepest:
		return at, "it is nested too deep to be judged"
	case stmt.Background || stmt.Coprocess || stmt.Disown:
		return at, "it runs in the background"
	}
	for _, redirect := range stmt.Redirs {
		if why := j.redirect(redirect, at); why != "" {
			return at, why
		}
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return j.call(cmd, at)
	case *syntax.BinaryCmd:
		return j.binary(cmd, at, depth)
	case *syntax.Subshell:
		return at, j.list(cmd.Stmts, at, depth+1)
	case *syntax.Block:
		return at, j.block(cmd, at, depth)
	default:
		return at, "it is more than plain commands"
	}
}

// block judges { …; }, after which a cd would still hold; none is allowed in it.
func (j *judge) block(cmd *syntax.Block, at scope, depth int) string {
	moved := false
	syntax.Walk(cmd, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		moved = moved || ok && len(call.Args) > 0 && call.Args[0].Lit() == "cd"
		return true
	})
	if moved {
		return "it changes the folder inside a block"
	}
	return j.list(cmd.Stmts, at, depth+1)
}

func (j *judge) binary(cmd *syntax.BinaryCmd, at scope, depth int) (scope, string) {
	next, why := j.stmt(cmd.X, at, depth+1)
	if why != "" {
		return at, why
	}
	switch cmd.Op {
	case syntax.AndStmt:
		return j.stmt(cmd.Y, next, depth+1)
	case syntax.OrStmt:
		last, why := j.stmt(cmd.Y, at.or(next), depth+1)
		return next.or(last), why
	case syntax.Pipe, syntax.PipeAll:
		// Each side runs in a shell of its own, unless lastpipe is set.
		_, why := j.stmt(cmd.Y, at, depth+1)
		return at, why
	default:
		return at, "it is more than plain commands"
	}
}

// redirect judges one redirection: to nowhere, to another stream, or from a file.
func (j *judge) redirect(r *syntax.Redirect, at scope) string {
	const elsewhere = "it redirects to somewhere"
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		return elsewhere
	}
	switch r.Op {
	case syntax.DplOut, syntax.DplIn:
		if word := r.Word.Lit(); word != "1" && word != "2" && word != "0" && word != "-" {
			return elsewhere
		}
		return ""
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
		if r.Word.Lit() != "/dev/null" {
			return "it writes to a file by a redirection"
		}
		return ""
	case syntax.RdrIn:
		words, why := j.expand([]*syntax.Word{r.Word}, at)
		if why == "" && len(words) != 1 {
			why = elsewhere
		}
		if why != "" {
			return why
		}
		return j.read(words[0], at, false)
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil && !plain(r.Hdoc) {
			return "it puts something in a place that is worked out when it runs"
		}
		return ""
	case syntax.WordHdoc:
		_, why := j.expand([]*syntax.Word{r.Word}, at)
		return why
	default:
		return elsewhere
	}
}

// read notes that a file is read, as seen from wherever the command may run.
func (j *judge) read(path string, at scope, deep bool) string {
	if path == "-" || path == "" {
		return ""
	}
	for _, dir := range at.dirs {
		full := path
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, path)
		}
		full = filepath.Clean(full)
		if strings.HasPrefix(full, "/dev/") && full != "/dev/null" && full != "/dev/stdin" {
			return "it reads from a device"
		}
		j.files = append(j.files, File{Path: full, Deep: deep})
	}
	return ""
}
