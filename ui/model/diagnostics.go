package model

import (
	"fmt"
	"slices"
	"strings"

	"pointsman/approvals"
	"pointsman/gateway/servers/diagnostics"
)

// keptRecords is how many of a server's records are kept to be shown.
const keptRecords = 2000

// Diagnostics are the last records of one server, narrowed to a category. The
// zero value is empty and shows all. It is not safe for concurrent use.
type Diagnostics struct {
	records []diagnostics.Entry
	about   diagnostics.Category // "": all
	dropped int64
}

// Take takes in a page. A page of a log that is off takes all records away: they
// are gone there, too.
func (d *Diagnostics) Take(page diagnostics.Page) {
	if page.Level == diagnostics.Off {
		d.Clear()
		return
	}
	d.dropped += page.DroppedCount
	d.records = append(d.records, page.Entries...)
	if over := len(d.records) - keptRecords; over > 0 {
		d.records = slices.Clone(d.records[over:])
	}
}

// Clear forgets the records that are shown.
func (d *Diagnostics) Clear() { d.records, d.dropped = nil, 0 }

// Narrow shows the records of a category alone; all for "".
func (d *Diagnostics) Narrow(about diagnostics.Category) { d.about = about }

// Lines are the records as they are shown, the newest last.
func (d *Diagnostics) Lines() []DiagnosticLine {
	var lines []DiagnosticLine
	for _, e := range d.records {
		if d.about != "" && e.Category != d.about {
			continue
		}
		text := fmt.Sprintf("%s %-7s %-9s %s", e.Time.Local().Format("15:04:05.000"), e.Level, e.Category, approvals.Visible(e.Message))
		if e.Truncated {
			text += " …"
		}
		lines = append(lines, DiagnosticLine{Level: e.Level, Text: text})
	}
	return lines
}

// DiagnosticLine is one record, fit to be shown: nothing in it hides.
type DiagnosticLine struct {
	Level diagnostics.Level
	Text  string
}

// Notice says what is to be known of the records; "" when there is nothing.
func (d *Diagnostics) Notice(level diagnostics.Level) string {
	var all []string
	switch {
	case level == diagnostics.Off:
		all = append(all, "Nothing is kept. Choose how much is: it stays in memory, without credentials, and is gone when you switch it off.")
	case len(d.records) == 0:
		all = append(all, "Nothing has happened yet.")
	case len(d.Lines()) == 0:
		all = append(all, "Nothing of this kind has happened yet.")
	}
	if d.dropped > 0 {
		all = append(all, CountOf(d.dropped, "record")+" came too fast and were dropped.")
	}
	return strings.Join(all, " ")
}

// KeptLevels are the levels of diagnostics.mcp with words for each, the least
// first.
func KeptLevels() (levels []diagnostics.Level, words []string) {
	about := map[diagnostics.Level]string{
		diagnostics.Off: "Keep nothing", diagnostics.Error: "Errors", diagnostics.Warning: "Warnings and errors",
		diagnostics.Info: "Info and above", diagnostics.Debug: "Each message", diagnostics.Trace: "Whole messages",
	}
	for _, level := range diagnostics.Levels() {
		levels, words = append(levels, level), append(words, about[level])
	}
	return levels, words
}

// KeptCategories are the categories with words for each; the first is all.
func KeptCategories() (categories []diagnostics.Category, words []string) {
	return []diagnostics.Category{"", diagnostics.Lifecycle, diagnostics.Protocol, diagnostics.HTTP, diagnostics.Stderr},
		[]string{"Everything", "Starts and ends", "Messages", "HTTP requests", "Standard error"}
}
