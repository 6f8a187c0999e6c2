//go:build unix

package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"

	"pointsman/ui/cli"
)

// A table fits into its terminal, whatever the names in it are.
func TestTableFitsTheTerminal(t *testing.T) {
	label := strings.Repeat("wörter 世界 ", 20)
	r := newRig(t, fmt.Sprintf("models:\n  - {id: own-model, provider: openai, label: %q}\n", label+"\x1b[2J"))
	for _, width := range []uint16{60, 100} {
		p := newPerson(t)
		if err := pty.Setsize(p.keys, &pty.Winsize{Rows: 40, Cols: width}); err != nil {
			t.Fatal(err)
		}
		if code := cli.Run(t.Context(), r.options(strings.NewReader(""), p.tty, &syncBuffer{}, []string{"models"})); code != 0 {
			t.Fatalf("ended with %d", code)
		}
		p.sees("own-model")
		eventually(t, "the last row", func() bool {
			return strings.Contains(p.screen.String(), "own-model") && strings.HasSuffix(p.screen.String(), "\n")
		})
		text := p.screen.String()
		if !utf8.ValidString(text) || strings.Contains(text, "\x1b") || !strings.Contains(text, "…") {
			t.Errorf("at %d columns: %q", width, text)
		}
		for line := range strings.SplitSeq(text, "\r\n") {
			wide := strings.Count(line, "世") + strings.Count(line, "界")
			if n := utf8.RuneCountInString(line) + wide; n > int(width) {
				t.Errorf("%d columns at a width of %d: %q", n, width, line)
			}
		}
	}
	if whole := r.must("models").out; !strings.Contains(whole, strings.Repeat("wörter 世界 ", 9)) || strings.Contains(whole, "\x1b") {
		t.Errorf("without a terminal something is cut, or not shown as text: %q", whole)
	}
}

// One huge cell makes neither its own row nor the others long.
func TestTableOfHugeCells(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	r := newRig(t, fmt.Sprintf("models:\n  - {id: own-model, provider: openai, label: %q}\n  - {id: other, provider: openai, label: short}\n", huge))
	got := r.must("models").out
	if !strings.Contains(got, strings.Repeat("x", 100)) || !strings.Contains(got, "…") {
		t.Errorf("the beginning is not shown: %.300q", got)
	}
	for line := range strings.Lines(got) {
		if len(line) > 400 {
			t.Errorf("a line of %d bytes: %.100q", len(line), line)
		}
		if strings.HasPrefix(line, "other") && !strings.HasSuffix(line, "short\n") {
			t.Errorf("the last column is padded: %q", line)
		}
	}
}
