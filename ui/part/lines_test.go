package part_test

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// rows are the rows that a Lines shows at a width.
func rows(t *testing.T, width float32, lines ...part.TextLine) (*part.Lines, []*canvas.Text) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(theme.New(theme.Light))
	l := part.NewLines()
	window := test.NewTempWindow(t, l)
	window.Resize(fyne.NewSize(width, 400))
	l.Set(lines)
	var shown []*canvas.Text
	for _, o := range test.LaidOutObjects(l) {
		if text, ok := o.(*canvas.Text); ok {
			shown = append(shown, text)
		}
	}
	return l, shown
}

// TestLinesAreWhole: a line that is too long goes on in the next row, with
// nothing lost and nothing out of sight.
func TestLinesAreWhole(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		more       bool // than one row
	}{
		{"short", "a line", false},
		{"empty", "", false},
		{"long", strings.Repeat("0123456789", 30), true},
		{"wide letters", strings.Repeat("一二三四五", 20), true},
		{"of several bytes each", strings.Repeat("مرحبا", 30), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, shown := rows(t, 300, part.TextLine{Text: tc.text})
			var whole strings.Builder
			for _, row := range shown {
				whole.WriteString(row.Text)
				if width := row.MinSize().Width; width > 300 {
					t.Errorf("a row is %v wide", width)
				}
			}
			if whole.String() != tc.text || len(shown) > 1 != tc.more {
				t.Errorf("%d rows hold %q", len(shown), whole.String())
			}
			if l.Text() != tc.text+"\n" {
				t.Errorf("the text is %q", l.Text())
			}
		})
	}
}

// TestLinesMakeWhatIsInSight: of a hundred thousand lines a few are made.
func TestLinesMakeWhatIsInSight(t *testing.T) {
	l, shown := rows(t, 300, make([]part.TextLine, 100_000)...)
	if len(shown) == 0 || len(shown) > 60 {
		t.Errorf("%d rows were made", len(shown))
	}
	l.Add([]part.TextLine{{Text: "the last"}}, true)
	if !strings.HasSuffix(l.Text(), "\nthe last\n") {
		t.Error("what was added is not there")
	}
	found := false
	for _, o := range test.LaidOutObjects(l) {
		if text, ok := o.(*canvas.Text); ok {
			found = found || text.Text == "the last"
		}
	}
	if !found {
		t.Error("the end is not in sight")
	}
}
