package gateway_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows says what a room may not reach, directly or through others. A room is
// named by the beginning of its path.
var arrows = []struct {
	from string
	not  []string
	why  string
}{
	{"pointsman/approvals", []string{"pointsman/"}, "approvals knows plain types only"},
	{"pointsman/assets", []string{"pointsman/"}, "assets are data"},
	{"pointsman/gateway/config", []string{"pointsman/"}, "what a user can set depends on nothing"},
	{"pointsman/gateway/secrets", []string{"pointsman/"}, "secrets are resolved for everybody, and know nobody"},
	{"pointsman/gateway/tools", []string{"pointsman/gateway/servers", "pointsman/gateway/models", "pointsman/gateway/journal", "pointsman/gateway/loop"}, "which tool may run is judged without running any"},
	{"pointsman/gateway/servers", []string{"pointsman/gateway/tools", "pointsman/gateway/models", "pointsman/gateway/loop", "pointsman/approvals"}, "servers are hosted without judging their tools"},
	{"pointsman/gateway/servers/process", []string{"pointsman/"}, "running a program takes a command, whatever it speaks"},
	{"pointsman/gateway/servers/sandbox", []string{"pointsman/"}, "confining takes a command and paths"},
	{"pointsman/gateway/policy", []string{"pointsman/gateway/servers", "pointsman/gateway/control", "pointsman/ui"}, "what is settled is judged by the configuration alone"},
	{"pointsman/gateway/models", []string{"pointsman/gateway/tools", "pointsman/gateway/servers", "pointsman/gateway/loop", "pointsman/approvals"}, "models answer without knowing of tools"},
	{"pointsman/gateway/models/stage", []string{"pointsman/"}, "a stage for tests knows nobody who plays on it"},
	{"pointsman/gateway/ask", []string{"pointsman/gateway/tools", "pointsman/gateway/servers", "pointsman/gateway/loop", "pointsman/gateway/httpapi", "pointsman/gateway/mcpapi", "pointsman/approvals"}, "a typed question needs no tools and knows no door"},
	{"pointsman/gateway/ollama", []string{"pointsman/gateway/tools", "pointsman/gateway/servers", "pointsman/gateway/loop", "pointsman/approvals"}, "shapes on the wire need nobody who fills them"},
	{"pointsman/gateway/marathon", []string{"pointsman/gateway/tools", "pointsman/gateway/servers", "pointsman/gateway/loop", "pointsman/gateway/httpapi", "pointsman/gateway/mcpapi", "pointsman/gateway/control"}, "a marathon asks without tools, and knows no door"},
	{"pointsman/gateway/responses", []string{"pointsman/gateway/tools", "pointsman/gateway/servers", "pointsman/gateway/loop", "pointsman/gateway/httpapi", "pointsman/approvals"}, "a wire is translated without knowing who speaks it"},
	{"pointsman/gateway/journal", []string{"pointsman/gateway/"}, "the record is kept for everybody"},
	{"pointsman/gateway/calls", []string{"pointsman/gateway/models", "pointsman/gateway/loop"}, "a call takes the same gates from every door"},
	{"pointsman/gateway/hooks/shell", []string{"pointsman/gateway", "pointsman/approvals"}, "what a command does is told from its text alone"},
	{"pointsman/gateway/hooks", []string{"pointsman/gateway/models", "pointsman/gateway/loop", "pointsman/gateway/control"}, "Copilot's calls take the same gates, and know no door"},
	{"pointsman/gateway/loop", []string{"pointsman/gateway/httpapi", "pointsman/gateway/control"}, "the loop does not know its doors"},
	{"pointsman/gateway", []string{"pointsman/ui"}, "the gateway runs without any screen"},
	{"pointsman/gateway", []string{"fyne.io/fyne/"}, "a window toolkit has no place in the gateway"},
	{"pointsman/approvals", []string{"fyne.io/fyne/"}, "deciding needs no window toolkit"},
	{"pointsman/ui/cli", []string{"fyne.io/fyne/"}, "the command line works without windows"},
	{"pointsman/ui/model", []string{"fyne.io/fyne/"}, "what screens show is plain Go"},
	{"pointsman/ui/tray", []string{"fyne.io/fyne/"}, "the tray runs inside the resident"},
	{"pointsman/ui/connect", []string{"fyne.io/", "pointsman/ui", "pointsman/gateway/control"}, "other programs' files are read and written, and shown elsewhere"},
	{"pointsman/ui/desktop", []string{"fyne.io/fyne/"}, "the desktop's side of the resident starts no window toolkit"},
	{"pointsman/ui/model", []string{"pointsman/ui", "fyne.io/"}, "what screens show is plain Go"},
	{"pointsman/ui/theme", []string{"pointsman/gateway"}, "how things look is no matter of what they are"},
	{"pointsman/ui/tray", []string{"pointsman/gateway/control", "pointsman/gateway/httpapi", "pointsman/ui/desktop", "pointsman/ui/cli"}, "the tray shows a state, wherever it comes from"},
	{"pointsman/ui/autostart", []string{"pointsman/"}, "starting at login takes a path and nothing else"},
	{"pointsman/ui/logfile", []string{"pointsman/"}, "a file that grows takes a path and nothing else"},
	{"pointsman/ui/wake", []string{"pointsman/"}, "that the machine wakes concerns nobody in particular"},
	{"pointsman/ui/clipboard", []string{"pointsman/"}, "copying takes a text and nothing else"},
	{"pointsman/ui/port", []string{"pointsman/"}, "listening takes an address and nothing else"},
}

// TestImports fails when a room imports what it must not.
func TestImports(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "pointsman/...")
	list.Env = append(os.Environ(), "CGO_ENABLED=1") // the window toolkit's packages are nothing without
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	const toolkit, program = "fyne.io/fyne/v2/app", "pointsman"
	rooms := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		room, deps, _ := strings.Cut(line, " ")
		rooms++
		if slices.Contains(strings.Fields(deps), toolkit) && room != program {
			t.Errorf("%s must not reach %s: only main starts the window toolkit", room, toolkit)
		}
		for _, arrow := range arrows {
			if room != strings.TrimSuffix(arrow.from, "/") && !strings.HasPrefix(room, strings.TrimSuffix(arrow.from, "/")+"/") {
				continue
			}
			for _, dep := range strings.Fields(deps) {
				if forbidden(dep, room, arrow.from, arrow.not) {
					t.Errorf("%s must not reach %s: %s", room, dep, arrow.why)
				}
			}
		}
	}
	if rooms < 10 {
		t.Errorf("only %d rooms were looked at", rooms)
	}
}

// forbidden reports whether dep is one of not, and no part of the room itself.
func forbidden(dep, room, from string, not []string) bool {
	if dep == room || strings.HasPrefix(dep, from+"/") || dep == from {
		return false
	}
	for _, prefix := range not {
		if strings.HasPrefix(dep+"/", strings.TrimSuffix(prefix, "/")+"/") {
			return true
		}
	}
	return false
}
