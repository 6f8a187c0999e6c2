//go:build unix

package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/ui/cli"
)

// What others have written does not control the terminal, in whatever form it is
// printed.
func TestNothingControlsTheTerminal(t *testing.T) {
	const hostile = "x\x1b]0;title\a\u009b31m\u202etxt.exe\u200b\x7f"
	r := newRig(t, "")
	record, err := journal.Open(filepath.Join(r.home, "state", "journal.db"), journal.Options{Redact: func(text string) string { return text }})
	if err != nil {
		t.Fatal(err)
	}
	arguments, err := json.Marshal(map[string]string{hostile: hostile})
	if err != nil {
		t.Fatal(err)
	}
	call := journal.Call{ID: "1", Server: hostile, Tool: hostile, Arguments: arguments, Class: approvals.Write}
	if err := record.Begin(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
	for line, shows := range map[string]string{"journal": "<U+001B>", "journal --json": `\u009b31m`, "journal --csv": "<U+009B>31m"} {
		t.Run(line, func(t *testing.T) {
			p := newPerson(t)
			if code := cli.Run(t.Context(), r.options(p.tty, p.tty, p.tty, strings.Fields(line))); code != 0 {
				t.Fatalf("ended with %d: %s", code, p.screen)
			}
			p.sees(shows)
			for _, c := range p.screen.String() {
				if c != '\r' && c != '\n' && unicode.In(c, unicode.Cc, unicode.Cf) {
					t.Errorf("the screen gets %q: %q", c, p.screen)
					break
				}
			}
		})
	}
}
