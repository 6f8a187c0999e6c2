//go:build unix

package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only what nobody but root can have written is followed.
func TestTrusted(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make what is trusted")
	}
	const nobody = 65534
	tests := []struct {
		name string
		edit func(dir, file string) error
		want string // "" for trusted
	}{
		{"root's", func(string, string) error { return nil }, ""},
		{"written by all", func(_, file string) error { return os.Chmod(file, 0o666) }, "can be written"},
		{"written by all, with the sticky bit", func(_, file string) error { return os.Chmod(file, 0o666|os.ModeSticky) }, "can be written"},
		{"in a sticky folder that all write", func(dir, _ string) error { return os.Chmod(dir, 0o777|os.ModeSticky) }, ""},
		{"written by a group", func(_, file string) error { return os.Chmod(file, 0o664) }, "can be written"},
		{"a user's", func(_, file string) error { return os.Chown(file, nobody, nobody) }, "does not belong to root"},
		{"in a user's folder", func(dir, _ string) error { return os.Chown(dir, nobody, nobody) }, "does not belong to root"},
		{"in a folder that all write", func(dir, _ string) error { return os.Chmod(dir, 0o777) }, "can be written"},
		{"a link to a user's", func(dir, file string) error {
			other := filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, nil, 0o600); err != nil {
				return err
			}
			if err := os.Chown(other, nobody, nobody); err != nil {
				return err
			}
			_ = os.Remove(file)
			return os.Symlink(other, file)
		}, "does not belong to root"},
		{"a folder", func(_, file string) error { _ = os.Remove(file); return os.Mkdir(file, 0o700) }, "regular"},
		{"absent", func(_, file string) error { return os.Remove(file) }, "no such file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "policy")
			file := filepath.Join(dir, "policy.yaml")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := test.edit(dir, file); err != nil {
				t.Fatal(err)
			}
			err := trusted(file)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("it says %v, want %q", err, test.want)
			}
		})
	}
}
