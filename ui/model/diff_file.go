package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"pointsman/approvals"
)

// MostCompared is the largest file, in bytes, that is read for a comparison.
const MostCompared = 1 << 20

// ChangeLines show what a call would change in the file it names: a comparison
// with the file as it is now, or a note on why there is none. There are none for
// calls that are not plainly one change of one file. It reads the file, and so
// may take a while; ctx bounds it between steps.
func ChangeLines(ctx context.Context, req approvals.Request, args json.RawMessage) []TextLine {
	if lines := patchLines(req, args); lines != nil {
		return lines
	}
	change, ok := changeOf(req, args)
	if !ok || ctx.Err() != nil {
		return nil
	}
	lines := []TextLine{{Label: "file", Text: showable(change.path)}}
	before, err := readText(change.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && change.edits == nil:
		return append(lines, note("The file does not exist yet: all of its content is new."))
	case err != nil && change.edits == nil:
		return append(lines, note("No comparison: "+err.Error()+"."))
	case ctx.Err() != nil:
		return nil
	case change.edits == nil:
		return append(lines, compared(before, change.content)...)
	case err != nil:
		lines = append(lines, note("Not compared with the file: "+plainError(err)+"."))
		return append(lines, exchanged(change.edits)...)
	default:
		return append(lines, edited(before, change.edits)...)
	}
}

// patchLines show a patch of Copilot's, which is a comparison already; none for
// other calls.
func patchLines(req approvals.Request, args json.RawMessage) []TextLine {
	var patch struct {
		Patch string `json:"patch"`
	}
	if req.Tool != "apply_patch" || json.Unmarshal(args, &patch) != nil || patch.Patch == "" {
		return nil
	}
	lines := diffLines(patch.Patch)
	for i := range lines {
		if strings.HasPrefix(lines[i].Text, "*** ") {
			lines[i].Kind = TextHunk
		}
	}
	return lines
}

func note(text string) TextLine { return TextLine{Kind: TextNote, Text: approvals.Visible(text)} }

func plainError(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "it does not exist"
	}
	return err.Error()
}

func compared(before, after string) []TextLine {
	if before == after {
		return []TextLine{note("The file has this content already.")}
	}
	return diffLines(unified(before, after))
}

// edited compares a text with itself after edits. Edits that would not be exact
// are shown as they are.
func edited(before string, edits []textEdit) []TextLine {
	after := before
	for _, e := range edits {
		if e.before == "" || strings.Count(after, e.before) != 1 {
			return append([]TextLine{note("The text to replace is not in the file exactly once.")}, exchanged(edits)...)
		}
		after = strings.Replace(after, e.before, e.after, 1)
	}
	return compared(before, after)
}

func exchanged(edits []textEdit) []TextLine {
	lines := []TextLine{note("The texts that are exchanged:")}
	for _, e := range edits {
		lines = append(lines, compared(e.before, e.after)...)
	}
	return lines
}

// readText reads a regular file of text that is not too large.
func readText(path string) (string, error) {
	// A device may do something when it is opened.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	// A pipe that has been put there since must not keep us waiting.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrPermission) {
		return "", errors.New("the file cannot be read by you")
	}
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, MostCompared+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > MostCompared:
		return "", fmt.Errorf("the file is larger than %d kB", MostCompared>>10)
	case !utf8.Valid(data) || slices.Contains(data, 0):
		return "", errors.New("the file is binary")
	}
	return string(data), nil
}

// fileChange is what a call would do to one file.
type fileChange struct {
	path    string
	content string     // all of it, when edits is nil
	edits   []textEdit // in their order
}

// textEdit replaces the one place where before stands.
type textEdit struct{ before, after string }

// The names that tools of this kind give their arguments, in lower case and
// without what separates words.
var (
	pathNames    = []string{"path", "filepath", "file", "filename", "absolutepath", "targetfile", "uri"}
	contentNames = []string{"content", "contents", "newcontent", "filetext", "filecontent", "text", "data"}
	beforeNames  = []string{"oldstring", "oldstr", "oldtext", "search", "find"}
	afterNames   = []string{"newstring", "newstr", "newtext", "replace", "replacement"}
	harmless     = []string{"encoding", "overwrite", "createdirs", "createdirectories", "createparents", "description", "explanation", "instructions", "dryrun"}
	// partial are words in a tool's name that say that a content is not the whole file's.
	partial = []string{"append", "insert", "prepend", "patch", "add"}
)

// changeOf reads a call as one change of one file. It reports false when the
// arguments say anything that might mean something else.
func changeOf(req approvals.Request, args json.RawMessage) (fileChange, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return fileChange{}, false
	}
	found := map[string]json.RawMessage{}
	for key, value := range members {
		role := roleOf(key)
		if _, twice := found[role]; role == "" || twice {
			return fileChange{}, false
		}
		if role != "harmless" {
			found[role] = value
		}
	}
	path, ok := pathFrom(found["path"])
	if !ok {
		return fileChange{}, false
	}
	delete(found, "path")
	change := fileChange{path: path}
	switch {
	case len(found) == 1 && found["content"] != nil:
		return change, !partly(req.Tool) && json.Unmarshal(found["content"], &change.content) == nil
	case len(found) == 1 && found["edits"] != nil:
		change.edits, ok = editsFrom(found["edits"])
		return change, ok
	case len(found) == 2 && found["before"] != nil && found["after"] != nil:
		var e textEdit
		ok := json.Unmarshal(found["before"], &e.before) == nil && json.Unmarshal(found["after"], &e.after) == nil
		change.edits = []textEdit{e}
		return change, ok
	default:
		return fileChange{}, false
	}
}

// roleOf says what an argument of that name is for, or "" when there is no telling.
func roleOf(key string) string {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
	for role, names := range map[string][]string{
		"path": pathNames, "content": contentNames, "before": beforeNames, "after": afterNames, "edits": {"edits"}, "harmless": harmless,
	} {
		if slices.Contains(names, plain) {
			return role
		}
	}
	return ""
}

func partly(tool string) bool {
	tool = strings.ToLower(tool)
	return slices.ContainsFunc(partial, func(word string) bool { return strings.Contains(tool, word) })
}

// pathFrom reads the one absolute path that a value names for certain.
func pathFrom(raw json.RawMessage) (string, bool) {
	var text string
	if raw == nil || json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	readings, ok := approvals.Readings(text)
	if !ok || len(readings) != 1 || !filepath.IsAbs(readings[0]) {
		return "", false
	}
	return readings[0], true
}

func editsFrom(raw json.RawMessage) ([]textEdit, bool) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, false
	}
	edits := make([]textEdit, len(list))
	for i, members := range list {
		found := 0
		for key, value := range members {
			switch roleOf(key) {
			case "before":
				found++
				if json.Unmarshal(value, &edits[i].before) != nil {
					return nil, false
				}
			case "after":
				found++
				if json.Unmarshal(value, &edits[i].after) != nil {
					return nil, false
				}
			default:
				return nil, false
			}
		}
		if found != 2 {
			return nil, false
		}
	}
	return edits, true
}
