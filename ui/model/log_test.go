package model_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pointsman/ui/model"
)

func TestParseLogLine(t *testing.T) {
	when := time.Date(2026, 3, 2, 9, 8, 7, 0, time.UTC)
	for _, tc := range []struct {
		name, line string
		want       model.LogLine
	}{
		{"as slog writes it", `time=2026-03-02T09:08:07.000Z level=WARN msg="a server left" server=fs`, model.LogLine{Time: when, Level: slog.LevelWarn, Text: "a server left  server=fs"}},
		{"one word", `time=2026-03-02T09:08:07.000Z level=ERROR msg=gone`, model.LogLine{Time: when, Level: slog.LevelError, Text: "gone"}},
		{"a level between", `level=DEBUG+2 msg=x`, model.LogLine{Level: slog.LevelDebug + 2, Text: "x"}},
		{"plain text", "panic: oh", model.LogLine{Text: "panic: oh"}},
		{"no time", "time=soon level=INFO", model.LogLine{Text: "time=soon level=INFO"}},
		{"a quote that does not end", `msg="half`, model.LogLine{Text: `"half`}},
		{"nothing hides", "msg=\"a\u202eb\\x1b[2J\"", model.LogLine{Text: "a<U+202E>b<U+001B>[2J"}},
		{"nothing", "", model.LogLine{}},
	} {
		if got := model.ParseLogLine(tc.line); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func FuzzParseLogLine(f *testing.F) {
	f.Add(`time=2026-03-02T09:08:07.000Z level=WARN msg="a \"b\"" c=d`)
	f.Add(strings.Repeat("\xff", 20<<10))
	f.Fuzz(func(t *testing.T, line string) {
		if got := model.ParseLogLine(line); strings.ContainsAny(got.Text, "\n\x1b\u202e") {
			t.Errorf("%q is not fit to be shown", got.Text)
		}
	})
}

func TestLog(t *testing.T) {
	var l model.Log
	shown := func() string {
		var said []string
		for i := range l.Len() {
			said = append(said, l.Line(i).Text)
		}
		return strings.Join(said, " ")
	}
	if n := l.Add(model.LogLine{Level: slog.LevelDebug, Text: "d1"}, model.LogLine{Text: "i1"}, model.LogLine{Level: slog.LevelError, Text: "E1"}); n != 2 {
		t.Errorf("%d more are shown", n)
	}
	if got := shown(); got != "i1 E1" {
		t.Errorf("at first %q", got)
	}
	l.Narrow(slog.LevelWarn, "")
	l.Add(model.LogLine{Text: "i2"}, model.LogLine{Level: slog.LevelError, Text: "e2"})
	if got := shown(); got != "E1 e2" {
		t.Errorf("warnings and worse: %q", got)
	}
	l.Narrow(slog.LevelDebug, "E")
	if got := shown(); got != "E1 e2" {
		t.Errorf("with a text: %q", got)
	}
	l.Narrow(slog.LevelDebug, "")
	for i := range 20_000 {
		l.Add(model.LogLine{Text: fmt.Sprint(i)})
	}
	if l.Kept() > 10_000 || l.Kept() < 5_000 || l.Line(l.Len()-1).Text != "19999" || l.Len() != l.Kept() {
		t.Errorf("%d kept, %d shown", l.Kept(), l.Len())
	}
	if n := l.Add(make([]model.LogLine, 12_000)...); n != -1 {
		t.Errorf("after many at once %d more are shown", n)
	}
	if l.Kept() > 10_000 {
		t.Errorf("%d kept after many at once", l.Kept())
	}
	l.Clear()
	if l.Len() != 0 || l.Kept() != 0 {
		t.Error("not cleared")
	}
}
