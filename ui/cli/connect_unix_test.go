//go:build unix

package cli_test

import (
	"strings"
	"testing"
)

// TestConnectAsksAtTheTerminal: the change is shown, and made after a clear yes.
func TestConnectAsksAtTheTerminal(t *testing.T) {
	for answer, changes := range map[string]bool{"\n": false, "y\n": true} {
		r, file, before := connectRig(t)
		p := newPerson(t)
		_, done := p.run(r, "connect", "apply", "vscode", "--parts", "mcp")
		p.sees("Change VS Code?")
		p.types(answer)
		if code := p.ends(done); code != 0 {
			t.Errorf("%q: ended with %d", answer, code)
		}
		if text := textOf(t, file); (text != before) != changes || strings.Contains(text, "pointsman") != changes {
			t.Errorf("%q: the file is\n%s", answer, text)
		}
	}
}
