package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/ui/model"
)

const address = "127.0.0.1:8640"

func TestWordsAndIcon(t *testing.T) {
	for _, test := range []struct {
		name          string
		state         model.State
		status, title string
		icon          model.Icon
	}{
		{"starting", model.State{}, "Starting", "Pointsman", "running"},
		{"cannot start", model.State{Fault: "the port is taken"}, "Starting · the port is taken", "Pointsman · the port is taken", "fault"},
		{"no servers", model.State{Serving: address}, "Serving 127.0.0.1:8640 · no servers", "Pointsman", "running"},
		{"one server", model.State{Serving: address, Servers: 1, Connected: 1}, "Serving 127.0.0.1:8640 · 1 server", "Pointsman", "running"},
		{"all servers", model.State{Serving: address, Servers: 4, Connected: 4}, "Serving 127.0.0.1:8640 · 4 servers", "Pointsman", "running"},
		{"one missing, one waits", model.State{Serving: address, Servers: 4, Connected: 3, Waiting: 1}, "Serving 127.0.0.1:8640 · 3 of 4 servers · 1 waiting", "Pointsman · 1 waiting", "waiting-1"},
		{"nine wait", model.State{Serving: address, Waiting: 9}, "Serving 127.0.0.1:8640 · no servers · 9 waiting", "Pointsman · 9 waiting", "waiting-9"},
		{"ten wait", model.State{Serving: address, Waiting: 10}, "Serving 127.0.0.1:8640 · no servers · 10 waiting", "Pointsman · 10 waiting", "waiting-9plus"},
		{"long fault", model.State{Fault: strings.Repeat("错", 300)}, "Starting · " + strings.Repeat("错", 19) + "…" + strings.Repeat("错", 10), "Pointsman · " + strings.Repeat("错", 19) + "…" + strings.Repeat("错", 10), "fault"},
		{"paused", model.State{Serving: address, Paused: true}, "Serving 127.0.0.1:8640 · no servers · tools paused", "Pointsman · tools paused", "paused"},
		{"fault over pause", model.State{Serving: address, Paused: true, Fault: "server x failed"}, "Serving 127.0.0.1:8640 · no servers · tools paused · server x failed", "Pointsman · tools paused · server x failed", "fault"},
		{"waiting over fault", model.State{Serving: address, Waiting: 2, Fault: "server x failed"}, "Serving 127.0.0.1:8640 · no servers · 2 waiting · server x failed", "Pointsman · 2 waiting · server x failed", "waiting-2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := model.StatusLine(test.state); got != test.status {
				t.Errorf("the status is %q, want %q", got, test.status)
			}
			if got := model.Title(test.state); got != test.title {
				t.Errorf("the title is %q, want %q", got, test.title)
			}
			if got := model.IconOf(test.state); got != test.icon {
				t.Errorf("the icon is %q, want %q", got, test.icon)
			}
			if !slices.Contains(model.Icons(), test.icon) {
				t.Errorf("%q is missing in Icons", test.icon)
			}
		})
	}
}

// shown draws a menu: "-" a separator, "( )" greyed, "[x]" and "[ ]" checkable.
func shown(items []model.Item) []string {
	var lines []string
	for _, i := range items {
		line := i.Title
		if i.Separator() {
			line = "-"
		}
		if i.Checkable {
			line = fmt.Sprintf("[%s] %s", map[bool]string{true: "x", false: " "}[i.Checked], line)
		}
		if i.Disabled {
			line = "(" + line + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestMenu(t *testing.T) {
	for _, test := range []struct {
		name  string
		state model.State
		want  string
	}{
		{"all can be done", model.State{Serving: address, Servers: 1, Connected: 1, Waiting: 2, LaunchAtLogin: true}, `
(Serving 127.0.0.1:8640 · 1 server · 2 waiting)
-
Open Pointsman
Waiting approvals: 2 …
[ ] Pause tools
-
Copy endpoint URL
Copy API key
-
[x] Launch at login
Settings …
-
Quit`},
		{"nothing can be done", model.State{Serving: address, Paused: true, NoWindows: "no windows", NoCopy: "no xclip", NoKey: "locked", NoLaunchAtLogin: "a home of its own"}, `
(Serving 127.0.0.1:8640 · no servers · tools paused)
-
(Open Pointsman (no windows))
(No waiting approvals)
[x] Pause tools
-
(Copy endpoint URL (no xclip))
(Copy API key (no xclip))
-
([ ] Launch at login (a home of its own))
(Settings … (no windows))
-
Quit`},
		{"no key, waiting without windows", model.State{Serving: address, Waiting: 1, NoWindows: "no windows", NoKey: "locked"}, `
(Serving 127.0.0.1:8640 · no servers · 1 waiting)
-
(Open Pointsman (no windows))
(Waiting approvals: 1 … (no windows))
[ ] Pause tools
-
Copy endpoint URL
(Copy API key (locked))
-
[ ] Launch at login
(Settings … (no windows))
-
Quit`},
		{"before serving", model.State{}, `
(Starting)
-
Open Pointsman
(No waiting approvals)
([ ] Pause tools)
-
Copy endpoint URL
Copy API key
-
[ ] Launch at login
Settings …
-
Quit`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Split(strings.TrimPrefix(test.want, "\n"), "\n"), shown(model.MenuItems(test.state))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQuit(t *testing.T) {
	for _, test := range []struct {
		name  string
		state model.State
		asks  bool
		title string
	}{
		{"idle", model.State{}, false, "Quit"},
		{"a run", model.State{Runs: 1}, true, "Quit"},
		{"a run, chosen once", model.State{Runs: 1, Quitting: true}, false, "Quit: 1 run will be cut off, choose again"},
		{"runs, chosen once", model.State{Runs: 3, Waiting: 1, Quitting: true}, false, "Quit: 3 runs will be cut off, choose again"},
		{"waiting, chosen once", model.State{Waiting: 1, Quitting: true}, false, "Quit: 1 waiting will be cut off, choose again"},
		{"waiting", model.State{Waiting: 1}, true, "Quit"},
		{"chosen once, all ended", model.State{Quitting: true}, false, "Quit"},
		{"a tray on another process", model.State{Runs: 1, Attached: true}, false, "Quit the tray"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := model.QuitAsks(test.state); got != test.asks {
				t.Errorf("asks: %v, want %v", got, test.asks)
			}
			items := model.MenuItems(test.state)
			if last := items[len(items)-1]; last.Title != test.title || last.Action != model.Quit || last.Disabled {
				t.Errorf("the last item is %+v, want %q", last, test.title)
			}
		})
	}
}
