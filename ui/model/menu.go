package model

import (
	"cmp"
	"fmt"
)

// Action is something that a person can choose.
type Action string

// The actions of the tray's menu.
const (
	Open          Action = "open"
	Approvals     Action = "approvals"
	Pause         Action = "pause" // or resume
	CopyURL       Action = "copy_url"
	CopyKey       Action = "copy_key"
	LaunchAtLogin Action = "launch_at_login" // or not
	Settings      Action = "settings"
	Quit          Action = "quit"
)

// Item is one line of a menu. The zero Item is a separator.
type Item struct {
	Title     string
	Action    Action // "" when the item only tells something
	Disabled  bool   // greyed; the Title says why, when that is not plain
	Checkable bool
	Checked   bool
}

// Separator reports whether the item is a line between others.
func (i Item) Separator() bool { return i == Item{} }

// MenuItems is the tray's menu, whole. It has the same items in the same places
// in every state, so that nothing moves under the pointer.
func MenuItems(s State) []Item {
	return []Item{
		{Title: StatusLine(s), Disabled: true},
		{},
		item("Open Pointsman", Open, s.NoWindows),
		approvalsItem(s),
		{Title: "Pause tools", Action: Pause, Checkable: true, Checked: s.Paused, Disabled: s.Serving == ""},
		{},
		item("Copy endpoint URL", CopyURL, s.NoCopy),
		item("Copy API key", CopyKey, cmp.Or(s.NoCopy, s.NoKey)),
		{},
		launchItem(s),
		item("Settings …", Settings, s.NoWindows),
		{},
		{Title: QuitTitle(s), Action: Quit},
	}
}

// item is an item that is greyed, with the reason, when there is one.
func item(title string, action Action, why string) Item {
	if why != "" {
		return Item{Title: fmt.Sprintf("%s (%s)", title, why), Action: action, Disabled: true}
	}
	return Item{Title: title, Action: action}
}

func approvalsItem(s State) Item {
	if s.Waiting == 0 {
		return Item{Title: "No waiting approvals", Action: Approvals, Disabled: true}
	}
	return item(fmt.Sprintf("Waiting approvals: %d …", s.Waiting), Approvals, s.NoWindows)
}

func launchItem(s State) Item {
	i := item("Launch at login", LaunchAtLogin, s.NoLaunchAtLogin)
	i.Checkable, i.Checked = true, s.LaunchAtLogin
	return i
}

// QuitTitle is what the item to quit says.
func QuitTitle(s State) string {
	switch {
	case s.Attached:
		return "Quit the tray"
	case s.Quitting && s.inFlight():
		return fmt.Sprintf("Quit: %s will be cut off, choose again", s.flight())
	}
	return "Quit"
}

// flight says what is in flight.
func (s State) flight() string {
	if s.Runs == 0 {
		return s.waiting()
	}
	if s.Runs == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", s.Runs)
}
