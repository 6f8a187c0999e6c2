package shell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// mostEntries is how many files are looked at for one command's wildcards.
const mostEntries = 20_000

// mostWords is how many words a command's words may come to.
const mostWords = 5_000

var errMany = errors.New("too many files")

// plain reports whether a word means the same whenever it is read: text and
// quotes, and wildcards, whose files are looked up.
func plain(word *syntax.Word) bool {
	return !slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool { return !plainPart(part) })
}

func plainPart(part syntax.WordPart) bool {
	switch part := part.(type) {
	case *syntax.Lit:
		return true
	case *syntax.SglQuoted:
		return !part.Dollar
	case *syntax.DblQuoted:
		return !part.Dollar && !slices.ContainsFunc(part.Parts, func(inner syntax.WordPart) bool {
			_, text := inner.(*syntax.Lit)
			return !text
		})
	default:
		return false
	}
}

// expand returns the words as the command gets them, with wildcards replaced by
// the files that they stand for now.
func (j *judge) expand(words []*syntax.Word, at scope) ([]string, string) {
	for _, word := range words {
		if !plain(word) {
			return nil, "part of it is worked out when it runs"
		}
		if why := j.wild(word, at); why != "" {
			return nil, why
		}
	}
	seen := 0
	cfg := &expand.Config{
		Env: expand.ListEnviron("HOME="+j.home, "PWD="+at.dirs[0]),
		ReadDir2: func(dir string) ([]fs.DirEntry, error) {
			entries, err := os.ReadDir(dir)
			if seen += len(entries); seen > mostEntries {
				return nil, errMany
			}
			return entries, err
		},
	}
	fields, err := expand.Fields(cfg, words...)
	if err != nil || seen > mostEntries || len(fields) > mostWords {
		return nil, "its wildcards or braces stand for too much"
	}
	return fields, ""
}

// wild says why a word's wildcards, braces or tilde cannot be judged, or "".
func (j *judge) wild(word *syntax.Word, at scope) string {
	text := unquoted(word)
	if strings.HasPrefix(text, "~") && text != "~" && !strings.HasPrefix(text, "~/") {
		return "it names another user's home"
	}
	if why := ambiguous(text); why != "" {
		return why
	}
	if !strings.ContainsAny(text, "*?[") {
		return ""
	}
	elements := 0
	for element := range strings.SplitSeq(text, "/") {
		if strings.ContainsAny(element, "*?[") {
			elements++
		}
	}
	switch {
	case len(at.dirs) > 1:
		return "it has wildcards, and runs in a folder that is not known"
	case elements > 3:
		return "its wildcards stand for too much"
	case filepath.IsAbs(text) || strings.HasPrefix(text, "~") || strings.Contains(text, ".."):
		if !inside(j.cwd, text) {
			return "it has wildcards outside the working folder"
		}
	}
	return ""
}

// inside reports whether an absolute pattern begins below dir.
func inside(dir, pattern string) bool {
	return filepath.IsAbs(pattern) && !strings.Contains(pattern, "..") && strings.HasPrefix(pattern, strings.TrimSuffix(dir, "/")+"/")
}

// plainBraces are braces that every shell reads alike. Of {,a} Bash drops the
// empty word, {},a} is two words for it, and quotes hide a comma; the library that
// expands words here differs, so that a flag there would be a value or text here.
var plainBraces = regexp.MustCompile(`\{([^{},.]+|[^{},]+(,[^{},]+)+|\d+\.\.\d+)\}`)

// ambiguous says why Bash may make other words of a word's braces or of a tilde within
// it than are made of it here, or "".
func ambiguous(text string) string {
	if strings.Contains(text, "=~") || strings.Contains(text, "=") && strings.Contains(text, ":~") {
		return "it has a tilde within a word"
	}
	if !strings.Contains(text, ",") && !strings.Contains(text, "..") {
		return "" // no braces to expand
	}
	if strings.Contains(plainBraces.ReplaceAllString(text, ""), "{") {
		return "its braces stand for words that cannot be told"
	}
	return ""
}

// unquoted is the part of a word that wildcards and a tilde work in.
func unquoted(word *syntax.Word) string {
	var b strings.Builder
	for i, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.WriteString(withoutEscapes(lit.Value))
		} else if i == 0 {
			b.WriteByte('.') // a tilde after it is none
		}
	}
	return b.String()
}

// withoutEscapes drops each backslash and the character that it protects.
func withoutEscapes(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// plainWords returns the words of a command line that is one plain command.
func plainWords(file *syntax.File, j *judge) []string {
	if len(file.Stmts) != 1 {
		return nil
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown || len(stmt.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil
	}
	var words []string
	for _, arg := range call.Args {
		if !plain(arg) || strings.ContainsAny(unquoted(arg), "*?[{}~") && arg == call.Args[0] {
			return nil
		}
		text, err := expand.Literal(&expand.Config{Env: expand.ListEnviron("HOME=" + j.home)}, arg)
		if err != nil || text == "" && arg == call.Args[0] {
			return nil
		}
		words = append(words, text)
	}
	if runsOthers(words) {
		return nil
	}
	return words
}
