package ui

import (
	"strings"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// shownBytes is how much of one text is shown. Copy takes all of it.
const shownBytes = 512 << 10

// texts are some texts under their names: in lines to be shown, and whole to be
// copied. The zero value is none.
type texts struct {
	whole strings.Builder
	lines []part.TextLine
}

func (t *texts) add(name, text string) {
	t.whole.WriteString(name + "\n" + text + "\n\n")
	if len(text) > shownBytes {
		text = strings.ToValidUTF8(text[:shownBytes], "") + "\n… (there is more: Copy takes all of it)"
	}
	t.lines = append(t.lines, part.TextLine{Text: name, Color: theme.ColorMuted, Bold: true})
	t.lines = append(append(t.lines, textLines(text)...), part.TextLine{})
}
