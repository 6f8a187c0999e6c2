// Package model is what the tray and the windows show, as plain Go: the
// program's state, and pure functions from it to words, menu items and icons.
// It starts no goroutine and knows no toolkit.
package model

import (
	"fmt"
	"strings"
)

// State is the program as a person sees it. The zero value is a program that
// does not serve yet.
type State struct {
	Serving   string // host:port; "" while nothing is served
	Connected int    // MCP servers
	Servers   int    // MCP servers that are switched on
	Waiting   int    // calls that wait for a person
	Runs      int    // active now
	Paused    bool   // no tool may be called
	Fault     string // what is wrong, in a few words; "" when nothing is
	Attached  bool   // to a gateway of another process: quitting leaves that one alone
	Tray      bool   // the gateway's own process is in the tray, or means to be
	Quitting  bool   // Quit was chosen once while calls were in flight

	LaunchAtLogin bool
	LaunchFault   string // why launch at login is not as it is set; "" when it is
	LaunchOther   bool   // what would be launched is another program than this one
	OllamaFault   string // why the Ollama-compatible door is not open as it is set; "" when it is

	// Why something cannot be done, in a few words; "" when it can.
	NoWindows       string
	NoTray          string
	NoCopy          string
	NoKey           string
	NoLaunchAtLogin string
}

// Endpoint is the base URL that clients take; "" while nothing is served.
func (s State) Endpoint() string {
	if s.Serving == "" {
		return ""
	}
	return "http://" + s.Serving + "/v1"
}

// Name is what the program is called.
const Name = "Pointsman"

// StatusLine says in one line how the program is:
// "Serving 127.0.0.1:8640 · 3 of 4 servers · 1 waiting".
func StatusLine(s State) string {
	if s.Serving == "" {
		return join("Starting", short(s.Fault))
	}
	return join("Serving "+s.Serving, s.servers(), s.waiting(), s.pausedWord(), short(s.Fault))
}

// Title says what somebody should know who looks at the icon:
// "Pointsman · 1 waiting".
func Title(s State) string { return join(Name, s.waiting(), s.pausedWord(), short(s.Fault)) }

// longestFault is how many columns a fault is given: a menu gets as wide
// as its widest line, and Windows cuts a tooltip at 127.
const longestFault = 60

func short(fault string) string { return Shorten(fault, longestFault) }

func join(parts ...string) string {
	var said []string
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, " · ")
}

func (s State) servers() string {
	switch {
	case s.Servers == 0:
		return "no servers"
	case s.Connected == s.Servers && s.Servers == 1:
		return "1 server"
	case s.Connected == s.Servers:
		return fmt.Sprintf("%d servers", s.Servers)
	}
	return fmt.Sprintf("%d of %d servers", s.Connected, s.Servers)
}

func (s State) waiting() string {
	if s.Waiting == 0 {
		return ""
	}
	return fmt.Sprintf("%d waiting", s.Waiting)
}

func (s State) pausedWord() string {
	if !s.Paused {
		return ""
	}
	return "tools paused"
}

// inFlight reports whether quitting would cut somebody off.
func (s State) inFlight() bool { return s.Runs > 0 || s.Waiting > 0 }

// QuitAsks reports whether Quit has to be chosen a second time.
func QuitAsks(s State) bool { return !s.Attached && s.inFlight() && !s.Quitting }
