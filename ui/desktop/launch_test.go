//go:build !windows && !darwin

package desktop_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/config"
	"pointsman/ui/desktop"
	"pointsman/ui/model"
)

const on = "desktop: {launch_at_login: true}\n"

// launches reports whether menu, configuration and entry all say that we are
// started at login, or that we are not.
func (r *rig) launches(t *testing.T, want bool) {
	t.Helper()
	r.shows(t, "launch at login", func(s model.State) bool {
		status, err := r.entry.Status()
		return err == nil && s.LaunchAtLogin == want && status.Enabled == want && r.store.Config().Desktop.LaunchAtLogin == want &&
			(!want || status.Program == r.entry.Program)
	})
}

// At the start, an entry that is there wins over the configuration.
func TestLaunchAtStart(t *testing.T) {
	for _, test := range []struct {
		name, yaml, entry string
		want              bool
	}{
		{"nothing", "", "", false},
		{"configured", on, "", true},
		{"entry", "", "[Desktop Entry]\nExec=PROGRAM\n", true},
		{"both", on, "[Desktop Entry]\nExec=PROGRAM\n", true},
		{"switched off by the desktop", on, "[Desktop Entry]\nExec=PROGRAM\nHidden=true\n", false},
		{"moved", "", "[Desktop Entry]\nExec=/nowhere/pointsman\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, test.yaml, func(r *rig, _ *desktop.Options) {
				if test.entry != "" {
					write(t, r.file, strings.ReplaceAll(test.entry, "PROGRAM", r.entry.Program), 0o600)
				}
			})
			r.launches(t, test.want)
		})
	}
}

func TestLaunchChanges(t *testing.T) {
	r := start(t, on, nil)
	r.launches(t, true)
	r.click(t, model.LaunchAtLogin)
	r.launches(t, false)
	r.click(t, model.LaunchAtLogin)
	r.launches(t, true)

	update := func(want bool) {
		t.Helper()
		if err := r.store.Update(func(c *config.Config) error { c.Desktop.LaunchAtLogin = want; return nil }); err != nil {
			t.Fatal(err)
		}
		r.launches(t, want)
	}
	update(false)
	update(true)

	if err := os.Remove(r.file); err != nil { // as a desktop's settings may
		t.Fatal(err)
	}
	r.launches(t, false)
	write(t, r.file, "[Desktop Entry]\nExec="+r.entry.Program+"\n", 0o600)
	r.launches(t, true)
	text, err := os.ReadFile(r.store.Path())
	if err != nil || !strings.Contains(string(text), "launch_at_login: true") {
		t.Errorf("the file says %q, %v", text, err)
	}
}

func TestLaunchNotPossible(t *testing.T) {
	r := start(t, on, func(_ *rig, o *desktop.Options) { o.Entry, o.NoLaunch = nil, "a home of its own" })
	if s := r.tray.State(t.Context()); s.LaunchAtLogin || s.NoLaunchAtLogin != "a home of its own" {
		t.Errorf("the menu shows %+v", s)
	}
	r.click(t, model.LaunchAtLogin)
	if _, err := os.Stat(r.file); err == nil || !r.store.Config().Desktop.LaunchAtLogin {
		t.Error("something was changed")
	}
}

// An entry that names another program, which is still there, is left alone and
// told of until it is repaired.
func TestLaunchOfAnotherProgram(t *testing.T) {
	var other string
	announced := make(chan struct{}, 1)
	r := start(t, "", func(r *rig, o *desktop.Options) {
		o.Announce = func() {
			select {
			case announced <- struct{}{}:
			default:
			}
		}
		other = r.entry.Program + "-old"
		write(t, other, "#!/bin/sh\n", 0o700)
		write(t, r.file, "[Desktop Entry]\nExec="+other+"\n", 0o600)
	})
	r.shows(t, "that another program is launched", func(s model.State) bool {
		return s.LaunchAtLogin && s.LaunchOther && strings.Contains(s.LaunchFault, other) && strings.Contains(s.LaunchFault, r.entry.Program)
	})
	if err := r.desktop.RepairLaunch(); err != nil {
		t.Fatal(err)
	}
	r.launches(t, true)
	if s := r.tray.State(t.Context()); s.LaunchOther || s.LaunchFault != "" {
		t.Errorf("after the repair: %+v", s)
	}

	write(t, r.file, "[Desktop Entry]\nExec="+other+"\n", 0o600)
	for {
		select {
		case <-announced:
		case <-time.After(patience):
			t.Fatal("nobody is told that another program is launched again")
		}
		if r.tray.State(t.Context()).LaunchOther {
			return
		}
	}
}

// A folder that cannot be written to is told of.
func TestLaunchThatCannotBeWritten(t *testing.T) {
	r := start(t, "", func(r *rig, _ *desktop.Options) {
		write(t, strings.TrimSuffix(r.file, "/pointsman.desktop"), "a file in the folder's place", 0o600)
	})
	if err := r.store.Update(func(c *config.Config) error { c.Desktop.LaunchAtLogin = true; return nil }); err != nil {
		t.Fatal(err)
	}
	r.shows(t, "the fault", func(s model.State) bool { return !s.LaunchAtLogin && s.LaunchFault != "" && !s.LaunchOther })
}

func TestRepairLaunchNotPossible(t *testing.T) {
	r := start(t, "", func(_ *rig, o *desktop.Options) { o.Entry, o.NoLaunch = nil, "a home of its own" })
	if err := r.desktop.RepairLaunch(); err == nil || !strings.Contains(err.Error(), "a home of its own") {
		t.Errorf("the repair: %v", err)
	}
}
