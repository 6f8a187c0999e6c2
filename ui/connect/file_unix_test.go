//go:build unix

package connect_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pointsman/ui/connect"
)

// A pipe in the place of a file is not waited for.
func TestReadDoesNotWait(t *testing.T) {
	m := machine(t, nil)
	if err := syscall.Mkfifo(filepath.Join(m.Home, ".claude.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	sources := connect.Read(m, "claude-code")
	if len(sources) == 0 || !strings.Contains(sources[0].Fault, "regular") {
		t.Errorf("got %+v", sources)
	}
}
