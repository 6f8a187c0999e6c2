package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"pointsman/ui/theme"
)

// newLogsBench returns the logs screen of a program whose log is at a path, with
// one server.
func newLogsBench(t testing.TB, choice theme.Choice, path string) (*screenBench, *logsScreen) {
	b := newScreenBench(t, choice, -1)
	s := newLogs(b.ui, logsSource{
		path:    func(context.Context) (string, error) { return path, nil },
		servers: func(context.Context) ([]string, error) { return []string{"filesystem", "quiet", "away"}, nil },
		stderr: func(_ context.Context, server string) ([]string, error) {
			switch server {
			case "filesystem":
				return []string{"Secure MCP Filesystem Server running on stdio", "Client does not support roots"}, nil
			case "away":
				return nil, errors.New("there is no server away")
			}
			return nil, nil
		},
	})
	b.show(s)
	return b, s
}

func write(t testing.TB, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestLogsFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pointsman.log")
	write(t, path, "time=2026-03-02T09:08:07Z level=INFO msg=serving\ntime=2026-03-02T09:08:08Z level=DEBUG msg=detail\n")
	b, s := newLogsBench(t, theme.Light, path)
	shows := func(line string) func() bool {
		return func() bool { return strings.Contains(s.lines.Text(), line) }
	}
	b.until("the log was read", shows("INFO  serving"))
	if shows("detail")() {
		t.Error("a line of level debug is shown at first")
	}
	write(t, path, "level=WARN msg=\"a server ")
	write(t, path, "left\"\n")
	b.until("what came is there", shows("a server left"))
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write(t, path, "level=ERROR msg=rotated\n")
	b.until("the log was followed into the next file", shows("rotated"))
	if !shows("serving")() {
		t.Error("what stood before is gone")
	}
	s.level.SetSelected("Errors")
	if shows("serving")() || !shows("rotated")() {
		t.Errorf("of errors there is %q", s.lines.Text())
	}
	s.level.SetSelected("Everything")
	test.Type(s.text, "DETAIL")
	if got := s.lines.Text(); strings.Count(got, "\n") != 1 || !shows("detail")() {
		t.Errorf("of details there is %q", got)
	}
	s.text.SetText("nowhere")
	want(t, text(b.window.Content()), "None of the last lines")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	s.text.SetText("")
	write(t, path, "level=INFO msg=anew\n")
	b.until("it begins anew", shows("anew"))
}

func TestLogsOfServers(t *testing.T) {
	b, s := newLogsBench(t, theme.Light, "")
	b.until("it is said that there is no file", func() bool { return s.note.Visible() })
	want(t, s.note.Text, "keeps no log file")
	if !s.folder.Disabled() {
		t.Error("a folder can be opened that is not known")
	}
	b.until("the servers can be chosen", func() bool { return len(s.from.labels) == 4 })
	for _, tc := range []struct{ server, want string }{
		{"filesystem", "Client does not support roots"},
		{"quiet", "has written nothing"},
		{"away", "there is no server away"},
	} {
		s.from.pick.SetSelected(tc.server)
		b.until("it was read", func() bool { return s.lines.Text() != "" || s.note.Visible() })
		want(t, s.lines.Text()+s.note.Text, tc.want)
	}
	test.Tap(s.again)
	b.until("it was read again", func() bool { return s.note.Visible() })
}

// TestLogsOfAnySize: of a long log the end is shown.
func TestLogsOfAnySize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pointsman.log")
	var long strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&long, "level=INFO msg=\"line %d of many%s\"\n", i, strings.Repeat(" and more", 40))
	}
	write(t, path, long.String())
	b, s := newLogsBench(t, theme.Light, path)
	b.until("the log was read", func() bool { return s.log.Kept() > 0 })
	if first := s.log.Line(0).Text; !strings.HasPrefix(first, "line ") {
		t.Errorf("the first line is cut: %q", first)
	}
	if last := s.log.Line(s.log.Len() - 1).Text; !strings.HasPrefix(last, "line 5999 of many") {
		t.Errorf("the last line is %q", last)
	}
}

func TestLogsShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	for _, choice := range []theme.Choice{theme.Light, theme.Dark} {
		path := filepath.Join(t.TempDir(), string(choice)+".log")
		for i := range 12 {
			write(t, path, fmt.Sprintf("time=2026-03-02T09:08:%02dZ level=INFO msg=\"serving the OpenAI-compatible endpoint\" address=127.0.0.1:8640 servers=%d\n", i, i))
		}
		write(t, path, "time=2026-03-02T09:09:07Z level=WARN msg=\"a server left\" server=filesystem err=\"exit status 1\"\ntime=2026-03-02T09:09:08Z level=ERROR msg=\"writing the journal\" path=\""+strings.Repeat("/a/long/path", 30)+"\"\ntime=2026-03-02T09:09:09Z level=INFO msg=\"数据库 مرحبا 🚂\"\n")
		b, s := newLogsBench(t, choice, path)
		b.until("the log was read", func() bool { return s.log.Kept() > 0 })
		b.shot("logs-" + string(choice))
		b, s = newLogsBench(t, choice, "")
		b.until("it is said", func() bool { return s.note.Visible() })
		b.shot("logs-none-" + string(choice))
	}
}
