package ui

import (
	"context"
	"log/slog"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// logsSource is where the logs screen gets what it shows.
type logsSource struct {
	path    func(ctx context.Context) (string, error)   // of the program's log; "" when there is none
	servers func(ctx context.Context) ([]string, error) // their names
	stderr  func(ctx context.Context, server string) ([]string, error)
}

// logsScreen shows the end of the program's log as it grows, or what a server
// wrote to its standard error.
type logsScreen struct {
	ui     *UI
	source logsSource
	ctx    context.Context    // of enter
	stop   context.CancelFunc // ends what is read now

	log  model.Log
	path string // of the program's log, once it is known

	filters       fyne.CanvasObject
	from          *choice
	level         *widget.Select
	text          *widget.Entry
	follow        *widget.Check
	folder, again *widget.Button
	lines         *part.Lines
	note          *widget.Label
	page          *fyne.Container
}

func newLogsScreen(u *UI) screen {
	return newLogs(u, logsSource{
		path: func(ctx context.Context) (string, error) {
			settings, err := u.client.Settings(ctx)
			return settings.Log, err
		},
		servers: func(ctx context.Context) ([]string, error) {
			var status struct {
				MCP struct {
					Servers []string `json:"servers"`
				} `json:"mcp"`
			}
			err := u.client.Get(ctx, "/status", &status)
			return status.MCP.Servers, err
		},
		stderr: u.client.ServerLog,
	})
}

func newLogs(u *UI, source logsSource) *logsScreen { return &logsScreen{ui: u, source: source} }

// logLevels are what can be chosen to be seen, the least first.
func logLevels() []struct {
	name  string
	least slog.Level
} {
	return []struct {
		name  string
		least slog.Level
	}{
		{"Everything", slog.LevelDebug - 4}, {"Info and above", slog.LevelInfo},
		{"Warnings and errors", slog.LevelWarn}, {"Errors", slog.LevelError},
	}
}

func (s *logsScreen) content() fyne.CanvasObject {
	s.lines = part.NewLines()
	s.note = newNotice(widget.MediumImportance)
	s.text = newSearch("Search in these lines", s.narrow)
	var names []string
	for _, l := range logLevels() {
		names = append(names, l.name)
	}
	s.level = widget.NewSelect(names, nil)
	s.level.SetSelectedIndex(1)
	s.from = newChoice(model.Name, s.read)
	s.follow = widget.NewCheck("Follow", func(on bool) {
		if on {
			s.show()
		}
	})
	s.follow.SetChecked(true)
	s.level.OnChanged = func(string) { s.narrow() }
	s.folder = widget.NewButtonWithIcon("Open folder", theme.Icon("folder", theme.ColorMuted), s.onFolder)
	s.folder.Disable()
	s.again = widget.NewButtonWithIcon("Read again", theme.Icon("restart", theme.ColorMuted), s.read)
	title := part.Heading(screenLogs)
	title.Truncation = fyne.TextTruncateOff
	search := container.NewCenter(container.NewGridWrap(fyne.NewSize(42*theme.Step, s.text.MinSize().Height), s.text))
	head := container.NewBorder(nil, nil, title, s.folder, search)
	s.filters = container.NewBorder(nil, nil, nil, container.NewHBox(s.follow, s.again), container.NewGridWithColumns(2, s.from.pick, s.level))
	s.page = container.NewStack(part.NewSurface(theme.ColorCard, theme.ColorLine, theme.Step), part.Inset(0.5, s.lines))
	return container.NewBorder(container.NewVBox(head, s.filters, s.note), nil, nil, nil, s.page)
}

// enter follows the log until ctx ends.
func (s *logsScreen) enter(ctx context.Context) {
	s.ctx = ctx
	background(ctx, s.ui, s.source.servers, func(names []string, err error) {
		if err != nil {
			s.tell("The servers cannot be listed: " + err.Error())
			return
		}
		s.from.reset()
		for _, name := range names {
			s.from.add(model.OneLine(name), name)
		}
	})
	s.read()
}

// read shows what was chosen, from its beginning.
func (s *logsScreen) read() {
	if s.ctx == nil {
		return // content makes the choice
	}
	if s.stop != nil {
		s.stop()
	}
	ctx, stop := context.WithCancel(s.ctx)
	s.stop = stop
	s.log.Clear()
	s.tell("")
	s.show()
	server := s.from.value()
	s.again.Hidden, s.follow.Hidden = server == "", server != ""
	s.filters.Refresh()
	if server == "" {
		s.readOwn(ctx)
		return
	}
	background(ctx, s.ui, func(ctx context.Context) ([]string, error) { return s.source.stderr(ctx, server) },
		func(lines []string, err error) {
			switch {
			case err != nil:
				s.tell("What this server wrote cannot be shown: " + err.Error())
			case len(lines) == 0:
				s.tell("This server has written nothing to its standard error since it was started.")
			}
			s.add(lines, true)
		})
}

// readOwn follows the program's own log.
func (s *logsScreen) readOwn(ctx context.Context) {
	background(ctx, s.ui, s.source.path, func(path string, err error) {
		switch {
		case err != nil:
			s.tell("Where the log is cannot be told: " + err.Error())
			return
		case path == "":
			s.tell("The running Pointsman keeps no log file: it writes its log to the terminal that it was started in.")
			return
		}
		s.path = path
		s.folder.Enable()
		s.ui.work.Go(func() {
			err := followLog(ctx, path, func(lines []string, fresh bool) { s.post(ctx, func() { s.add(lines, fresh) }) })
			s.post(ctx, func() { s.tell("The log is not followed any more: " + err.Error()) })
		})
	})
}

func (s *logsScreen) post(ctx context.Context, f func()) { s.ui.postWhile(ctx, "showing the log", f) }

// add takes in lines. fresh: they stand in place of all before.
func (s *logsScreen) add(lines []string, fresh bool) {
	if fresh {
		s.log.Clear()
	}
	parsed := make([]model.LogLine, len(lines))
	for i, line := range lines {
		parsed[i] = model.ParseLogLine(line)
	}
	more := s.log.Add(parsed...)
	if s.log.Kept() == 0 && s.from.value() == "" {
		s.tell("Nothing has been logged yet. Settings has the level of what is.")
	}
	if fresh || more < 0 {
		s.show()
		return
	}
	s.lines.Add(s.shown(s.log.Len()-more), s.follow.Checked)
}

// narrow shows the lines that are wanted of those there are.
func (s *logsScreen) narrow() {
	s.log.Narrow(logLevels()[max(s.level.SelectedIndex(), 0)].least, s.text.Text)
	s.tell("")
	if s.log.Len() == 0 && s.log.Kept() > 0 {
		s.tell("None of the last lines is of this level and holds this text.")
	}
	s.show()
}

func (s *logsScreen) show() { s.lines.Replace(s.shown(0), s.follow.Checked) }

// shown are the lines from the i-th on, as they are shown.
func (s *logsScreen) shown(i int) []part.TextLine {
	var lines []part.TextLine
	for ; i < s.log.Len(); i++ {
		l := s.log.Line(i)
		text := l.Text
		if !l.Time.IsZero() {
			text = l.Time.Local().Format("15:04:05 ") + l.Level.String() + "  " + text
		}
		lines = append(lines, part.TextLine{Text: text, Color: levelColor(l.Level)})
	}
	return lines
}

func levelColor(level slog.Level) fyne.ThemeColorName {
	switch {
	case level >= slog.LevelError:
		return theme.ColorDestructive
	case level >= slog.LevelWarn:
		return theme.ColorWrite
	case level < slog.LevelInfo:
		return theme.ColorMuted
	default:
		return ""
	}
}

func (s *logsScreen) onFolder() {
	if err := s.ui.openFolder(filepath.Dir(s.path)); err != nil {
		s.tell("The folder cannot be opened: " + err.Error())
	}
}

// tell shows a line above the log; "" takes it away.
func (s *logsScreen) tell(line string) { tell(s.note, line) }
