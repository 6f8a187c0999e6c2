package model

import (
	"log/slog"
	"strconv"
	"strings"
	"time"

	"pointsman/approvals"
)

// keptLines is how many lines of a log are kept to be shown.
const keptLines = 5000

// LogLine is one line of a log, fit to be shown: nothing in it hides.
type LogLine struct {
	Time  time.Time // zero when the line does not tell
	Level slog.Level
	Text  string
}

// maxLogLine is how much of one line is shown, in bytes.
const maxLogLine = 16 << 10

// ParseLogLine reads a line as slog.TextHandler writes it. Any other text is a
// line of level info.
func ParseLogLine(line string) LogLine {
	if len(line) > maxLogLine {
		line = strings.ToValidUTF8(line[:maxLogLine], "") + " …"
	}
	var l LogLine
	rest := line
	if value, after, ok := field(rest, "time"); ok {
		if t, err := time.Parse(time.RFC3339Nano, value); err == nil {
			l.Time, rest = t, after
		}
	}
	if value, after, ok := field(rest, "level"); ok && l.Level.UnmarshalText([]byte(value)) == nil {
		rest = after
	}
	if value, after, ok := field(rest, "msg"); ok {
		rest = strings.TrimSpace(value + "  " + after)
	}
	l.Text = approvals.Visible(strings.ReplaceAll(rest, "\t", "    "))
	return l
}

// field takes "name=value" off the front of a line. A value with spaces in it is
// quoted.
func field(line, name string) (value, rest string, ok bool) {
	after, ok := strings.CutPrefix(line, name+"=")
	if !ok {
		return "", line, false
	}
	if quoted, err := strconv.QuotedPrefix(after); err == nil {
		if value, err = strconv.Unquote(quoted); err == nil {
			return value, strings.TrimPrefix(after[len(quoted):], " "), true
		}
	}
	value, rest, _ = strings.Cut(after, " ")
	return value, rest, true
}

// Log is the last lines of a log, narrowed to some. The zero value keeps the
// last 5,000 and shows those of level info and above. It is not safe for
// concurrent use.
type Log struct {
	lines []LogLine
	shown []int // of lines, which are shown
	least slog.Level
	text  string
}

// Add puts lines at the end, and returns how many more are shown now. The oldest
// go when there are too many: then it returns -1, for all that is shown is new.
func (l *Log) Add(lines ...LogLine) int {
	shown := len(l.shown)
	if len(lines) > keptLines {
		lines = lines[len(lines)-keptLines:]
	}
	if l.lines = append(l.lines, lines...); len(l.lines) > 2*keptLines {
		l.lines = append([]LogLine{}, l.lines[len(l.lines)-keptLines:]...)
		l.choose()
		return -1
	}
	for i := len(l.lines) - len(lines); i < len(l.lines); i++ {
		if l.chosen(l.lines[i]) {
			l.shown = append(l.shown, i)
		}
	}
	return len(l.shown) - shown
}

// Clear forgets the lines and keeps what is narrowed to.
func (l *Log) Clear() { l.lines, l.shown = nil, nil }

// Narrow shows lines of a level and above that hold a text, whatever its case.
func (l *Log) Narrow(least slog.Level, text string) {
	l.least, l.text = least, strings.ToLower(text)
	l.choose()
}

func (l *Log) choose() {
	l.shown = l.shown[:0]
	for i, line := range l.lines {
		if l.chosen(line) {
			l.shown = append(l.shown, i)
		}
	}
}

func (l *Log) chosen(line LogLine) bool {
	return line.Level >= l.least && (l.text == "" || strings.Contains(strings.ToLower(line.Text), l.text))
}

// Len is how many lines are shown.
func (l *Log) Len() int { return len(l.shown) }

// Line is the i-th line that is shown.
func (l *Log) Line(i int) LogLine { return l.lines[l.shown[i]] }

// Kept is how many lines there are, shown or not.
func (l *Log) Kept() int { return len(l.lines) }
