//go:build !windows && !darwin

package autostart_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pointsman/ui/autostart"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desktop is a desktop of its own, with a program to start.
func desktop(t *testing.T, program string) (entry autostart.Entry, file string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, program)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"XDG_CONFIG_HOME": filepath.Join(dir, "config")}
	return autostart.Entry{Program: path, Getenv: func(name string) string { return env[name] }}, filepath.Join(dir, "config", "autostart", "pointsman.desktop")
}

func status(t *testing.T, e autostart.Entry) autostart.Status {
	t.Helper()
	s, err := e.Status()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSet(t *testing.T) {
	for name, program := range map[string]string{
		"plain":        "pointsman",
		"spaces":       "my programs/points man",
		"special":      "100% $HOME `id` \\ \"quoted\" ' = ; #/pointsman",
		"other script": "指路人/محوّل 🚦",
		"long":         strings.Repeat(strings.Repeat("n", 100)+"/", 3) + "pointsman",
	} {
		t.Run(name, func(t *testing.T) {
			e, file := desktop(t, program)
			if got := status(t, e); got != (autostart.Status{}) {
				t.Errorf("at first: %+v", got)
			}
			for range 2 {
				if err := e.Set(true); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := status(t, e), (autostart.Status{Present: true, Enabled: true, Program: e.Program}); got != want {
				t.Errorf("switched on: %+v, want %+v", got, want)
			}
			validate(t, file)
			for range 2 {
				if err := e.Set(false); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("the entry is still there")
			}
		})
	}
}

// validate asks the desktop's own checker, where there is one.
func validate(t *testing.T, file string) {
	t.Helper()
	checker, err := exec.LookPath("desktop-file-validate")
	if err != nil {
		return
	}
	if out, err := exec.Command(checker, file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestChangedOutside(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       autostart.Status
	}{
		{"hidden", "[Desktop Entry]\nExec=/bin/p\nHidden=true\n", autostart.Status{Present: true, Program: "/bin/p"}},
		{"switched off in GNOME", "[Desktop Entry]\nExec=/bin/p\nX-GNOME-Autostart-enabled=false\n", autostart.Status{Present: true, Program: "/bin/p"}},
		{"not quoted, with an argument", "[Desktop Entry]\nExec=/bin/p --show\n", autostart.Status{Present: true, Enabled: true, Program: "/bin/p"}},
		{"no program", "[Desktop Entry]\nName=x\n", autostart.Status{Present: true}},
		{"quote without end", "[Desktop Entry]\nExec=\"/bin/p\n", autostart.Status{Present: true}},
		{"another group", "[Desktop Entry]\nExec=/bin/p\n[Desktop Action x]\nExec=/bin/q\nHidden=true\n", autostart.Status{Present: true, Enabled: true, Program: "/bin/p"}},
		{"empty", "", autostart.Status{Present: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, file := desktop(t, "pointsman")
			write(t, file, test.file)
			if got := status(t, e); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRepair(t *testing.T) {
	e, file := desktop(t, "pointsman")
	other, _ := desktop(t, "another copy")
	for _, test := range []struct {
		name, file string
		repaired   bool
	}{
		{"no entry", "", false},
		{"moved", "[Desktop Entry]\nExec=\"/nowhere/pointsman\"\n", true},
		{"moved, switched off", "[Desktop Entry]\nExec=\"/nowhere/pointsman\"\nHidden=true\n", false},
		{"another copy", "[Desktop Entry]\nExec=\"" + other.Program + "\"\n", false},
		{"itself", "[Desktop Entry]\nExec=\"" + e.Program + "\"\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.file != "" {
				write(t, file, test.file)
			}
			repaired, err := e.Repair()
			if err != nil || repaired != test.repaired {
				t.Errorf("repaired: %v, %v", repaired, err)
			}
			if repaired && status(t, e).Program != e.Program {
				t.Errorf("it names %q", status(t, e).Program)
			}
		})
	}
}

func TestNotWritable(t *testing.T) {
	e, file := desktop(t, "pointsman")
	write(t, filepath.Dir(file), "a file where a folder should be")
	if err := e.Set(true); err == nil || !strings.Contains(err.Error(), "changing launch at login") {
		t.Errorf("got %v", err)
	}
}

func TestNoHome(t *testing.T) {
	e := autostart.Entry{Program: "/bin/p", Getenv: func(string) string { return "" }}
	if _, err := e.Status(); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("got %v", err)
	}
}

func TestWatch(t *testing.T) {
	e, file := desktop(t, "pointsman")
	if err := e.Watch(t.Context(), func() {}); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	if err := e.Set(true); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	told := make(chan struct{}, 100)
	ended := make(chan error, 1)
	go func() { ended <- e.Watch(ctx, func() { told <- struct{}{} }) }()
	for _, step := range []func(){
		func() {},
		func() { write(t, file, "[Desktop Entry]\nExec=/bin/p\nHidden=true\n") },
		func() { _ = os.Remove(file) },
	} {
		step()
		select {
		case <-told:
		case <-ctx.Done():
			t.Fatal("nobody was told")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
