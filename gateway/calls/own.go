package calls

import (
	"encoding/json"
	"slices"
	"strings"

	"pointsman/approvals"
)

// OwnReason says why a call that reaches a file of ours is asked about.
const OwnReason = "it names a file that controls Pointsman or Copilot's hooks"

// Own knows the files that could switch our gates off.
type Own struct {
	File   func(text string) bool               // see Options.OwnFile
	Folder func(text string, command bool) bool // see Options.OwnFolder
}

// movers are parts of the names of tools that take a folder elsewhere, or give
// it another name or other owners, with all that is in it.
var movers = []string{"move", "rename", "copy", "mv", "cp", "link", "mount", "archive", "zip", "tar", "compress", "sync", "backup", "trash", "chmod", "chown", "permission"}

// Reached reports whether a call of such a tool may reach one of the files with
// its arguments. Arguments that cannot be read may.
func (o Own) Reached(tool string, class approvals.Class, arguments json.RawMessage) bool {
	var v any
	if json.Unmarshal(arguments, &v) != nil {
		return true // unclear is risky
	}
	return anyString(v, o.test(tool, class))
}

// test returns the test for texts that a call to such a tool may reach a file of
// ours with.
func (o Own) test(tool string, class approvals.Class) func(string) bool {
	command := class == approvals.Execute
	moves := slices.ContainsFunc(movers, func(part string) bool { return strings.Contains(strings.ToLower(tool), part) })
	if class == approvals.Read || !command && !moves && class != approvals.Destructive {
		return o.File
	}
	return func(text string) bool { return o.File(text) || o.Folder(text, command) }
}

func anyString(v any, own func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return own(v)
	case []any:
		for _, item := range v {
			if anyString(item, own) {
				return true
			}
		}
	case map[string]any:
		for key, item := range v {
			if own(key) || anyString(item, own) {
				return true
			}
		}
	}
	return false
}
