//go:build unix

package cli_test

import (
	"strings"
	"testing"
)

func TestImportAsksAtTheTerminal(t *testing.T) {
	r := importRig(t, takenConfig)
	p := newPerson(t)
	_, done := p.run(r, "servers", "import", "--from", "vscode")
	p.sees("Add 1 server")
	p.types("y\n")
	p.sees("The token")
	p.types(importToken + "\n")
	if code := p.ends(done); code != 0 {
		t.Fatalf("ended with %d", code)
	}
	if file := r.file(t); !strings.Contains(file, "Authorization: Bearer ${keychain:tok}") {
		t.Errorf("the file:\n%s", file)
	}
	if value, err := r.keychain.Get(t.Context(), "tok"); err != nil || value != importToken {
		t.Errorf("in the keychain: %q %v", value, err)
	}
}

// TestImportThatIsNotClearlyWanted adds nothing.
func TestImportThatIsNotClearlyWanted(t *testing.T) {
	r := importRig(t, takenConfig)
	p := newPerson(t)
	_, done := p.run(r, "servers", "import")
	p.sees("Add 3 servers")
	p.types("\n")
	if code := p.ends(done); code != 0 || r.file(t) != takenConfig {
		t.Errorf("ended with %d, the file is\n%s", code, r.file(t))
	}
}
