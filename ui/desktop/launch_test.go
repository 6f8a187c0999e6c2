//go:build !windows && !darwin

package desktop_test

import (
	"os"
	"strings"
	"testing"

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
