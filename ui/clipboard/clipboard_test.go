//go:build !windows && !darwin

package clipboard_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pointsman/ui/clipboard"
)

// install puts programs into a PATH of their own. Each writes its standard
// input and its arguments to a file.
func install(t *testing.T, programs ...string) (record string) {
	t.Helper()
	dir := t.TempDir()
	record = filepath.Join(dir, "record")
	for _, name := range programs {
		script := "#!/bin/sh\n{ echo " + name + " \"$@\"; /bin/cat; } >" + record + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return record
}

func TestCopy(t *testing.T) {
	x11, wayland := map[string]string{"DISPLAY": ":0"}, map[string]string{"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}
	for _, test := range []struct {
		name     string
		env      map[string]string
		programs []string
		want     string // what runs, and what it reads; "" when nothing does
		missing  string
	}{
		{"X11", x11, []string{"xclip", "xsel", "wl-copy"}, "xclip -selection clipboard -in\nsecret $x", ""},
		{"X11 with xsel alone", x11, []string{"xsel"}, "xsel --clipboard --input\nsecret $x", ""},
		{"Wayland", wayland, []string{"xclip", "wl-copy"}, "wl-copy\nsecret $x", ""},
		{"Wayland, by X11's", wayland, []string{"xclip"}, "xclip -selection clipboard -in\nsecret $x", ""},
		{"X11 with nothing", x11, nil, "", "install xclip"},
		{"Wayland with nothing", wayland, nil, "", "install wl-clipboard"},
		{"no display", nil, []string{"xclip"}, "", "no display"},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := install(t, test.programs...)
			board := clipboard.Find(func(name string) string { return test.env[name] })
			err := board.Copy(t.Context(), "secret $x")
			if board.Missing() != test.missing || errors.Is(err, clipboard.ErrMissing) != (test.missing != "") {
				t.Errorf("missing is %q, copying gives %v", board.Missing(), err)
			}
			if got, _ := os.ReadFile(record); string(got) != test.want {
				t.Errorf("ran %q, want %q", got, test.want)
			}
		})
	}
}

func TestCopyFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "xclip"), []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	board := clipboard.Find(func(name string) string { return map[string]string{"DISPLAY": ":0"}[name] })
	if err := board.Copy(t.Context(), "x"); err == nil || errors.Is(err, clipboard.ErrMissing) {
		t.Errorf("got %v", err)
	}
}
