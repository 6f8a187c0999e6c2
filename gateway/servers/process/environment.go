package process

import (
	"os"
	"strings"
)

// inheritedNames are the variables of our environment that a server gets. What
// else it needs is in its entry: our own secrets, and those of the shell we
// were started from, are not its business.
var inheritedNames = map[string]bool{
	"PATH": true, "HOME": true, "LANG": true, "TMPDIR": true, "USER": true, "LOGNAME": true, "SHELL": true, "TZ": true,
	// Windows programs do not start, or misbehave, without these.
	"SYSTEMROOT": true, "SYSTEMDRIVE": true, "WINDIR": true, "COMSPEC": true, "PATHEXT": true, "TEMP": true, "TMP": true,
	"APPDATA": true, "LOCALAPPDATA": true, "PROGRAMDATA": true, "PROGRAMFILES": true, "PROGRAMFILES(X86)": true,
	"USERPROFILE": true, "USERNAME": true, "HOMEDRIVE": true, "HOMEPATH": true, "PROCESSOR_ARCHITECTURE": true,
}

// InsideVariable is set in the environment of every server: a Pointsman that finds
// it there was started by one, and must not start the same servers once more.
const InsideVariable = "POINTSMAN_INSIDE"

// Inherited returns the variables of our environment that a server gets.
func Inherited() []string {
	env := []string{InsideVariable + "=1"}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); IsInherited(name) {
			env = append(env, pair)
		}
	}
	return env
}

// IsInherited reports whether a server gets our variable of that name.
func IsInherited(name string) bool {
	name = strings.ToUpper(name)
	return inheritedNames[name] || strings.HasPrefix(name, "LC_")
}
