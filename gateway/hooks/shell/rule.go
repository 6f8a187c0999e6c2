package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	// sedLines prints or leaves out lines that are named by their numbers.
	sedLines = regexp.MustCompile(`^ *(\d+|\$)?( *, *\+?(\d+|\$))? *!?[pdq=]? *$`)
	// sedSearch prints or leaves out the lines that match.
	sedSearch = regexp.MustCompile(`^ */[^/\\\n]*/(, */[^/\\\n]*/)? *[pd] *$`)
	// sedExchange exchanges text. Its flags neither write (w) nor execute (e).
	sedExchange = regexp.MustCompile(`^ *s(/[^/\\\n]*/[^/\\\n]*/|\|[^|\\\n]*\|[^|\\\n]*\||#[^#\\\n]*#[^#\\\n]*#)[gpiI0-9]* *$`)
	// awkPrint prints fields, texts and their joins.
	awkPrint = regexp.MustCompile(`^ *(/[^/\\\n]*/|NR *[<>=!]=? *\d+|NF)? *(\{ *print( *,? *(\$(\d+|NF)|NR|NF|"[^"\\\n]*"))* *\})? *$`)
	// jqOutside is what brings into a jq program what is in none of its files.
	jqOutside = regexp.MustCompile(`\b(env|ENV|import|include)\b`)
)

// check is the rule of a command beside its flags. It returns why the command is
// no read, or "".
func (u *use) check() string {
	ok := true
	switch u.entry.Check {
	case "":
	case "cd":
		ok = u.goTo()
	case "printf":
		ok = len(u.operands) > 0
	case "lookup":
		ok = len(u.flags) > 0
	case "version":
		ok = len(u.flags) > 0 && len(u.operands) == 0
	case "date":
		ok = !slices.ContainsFunc(u.operands, func(o string) bool { return !strings.HasPrefix(o, "+") })
	case "sed":
		ok = u.scripts(func(s string) bool { return allParts(s, sedLines, sedSearch, sedExchange) })
	case "awk":
		ok = u.scripts(awkPrint.MatchString)
	case "jq":
		ok = u.scripts(func(s string) bool { return !jqOutside.MatchString(s) })
	case "find":
		u.operands = slices.DeleteFunc(u.operands, func(o string) bool { return o == "!" || o == "(" || o == ")" || o == "," })
	case "ps":
		// Without a dash `e` shows the environment of each process.
		ok = !slices.ContainsFunc(u.operands, func(o string) bool { return strings.Contains(o, "e") })
	case "git":
		ok = u.within()
	case "reflog":
		ok = len(u.operands) == 0 || u.operands[0] == "show" || u.operands[0] == "HEAD"
	case "list":
		ok = len(u.operands) == 0 || u.gave("-l") || u.gave("--list")
	case "remote":
		ok = len(u.operands) == 0 || len(u.operands) == 2 && u.operands[0] == "get-url"
	case "stashlist", "worktree":
		ok = len(u.operands) == 1 && u.operands[0] == "list"
	default:
		ok = false
	}
	if !ok {
		return fmt.Sprintf("%s with these arguments is not known to only look", u.name)
	}
	return ""
}

func (u *use) gave(flag string) bool { return slices.Contains(u.flags, flag) }

// goTo notes where cd goes.
func (u *use) goTo() bool {
	if len(u.operands) != 1 || u.operands[0] == "-" || u.operands[0] == "" {
		return false
	}
	for _, dir := range u.at.dirs {
		if target := u.operands[0]; filepath.IsAbs(target) {
			u.moved = append(u.moved, filepath.Clean(target))
		} else {
			u.moved = append(u.moved, filepath.Join(dir, target))
		}
	}
	slices.Sort(u.moved)
	u.moved = slices.Compact(u.moved)
	return true
}

// scripts reports whether each of the command's scripts is one that only prints.
func (u *use) scripts(prints func(string) bool) bool {
	var scripts []string
	for _, flag := range u.entry.Patterns {
		scripts = append(scripts, u.values[flag]...)
	}
	if len(scripts) == 0 {
		if len(u.operands) == 0 {
			return false
		}
		scripts = u.operands[:1]
	}
	return !slices.ContainsFunc(scripts, func(s string) bool { return !prints(s) })
}

// allParts reports whether each part of a sed script is one of the given forms.
func allParts(script string, forms ...*regexp.Regexp) bool {
	for part := range strings.SplitSeq(script, ";") {
		if !slices.ContainsFunc(forms, func(form *regexp.Regexp) bool { return form.MatchString(part) }) {
			return false
		}
	}
	return true
}

// bareRepository reports whether a folder is laid out as git's own.
func bareRepository(folder string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
}
