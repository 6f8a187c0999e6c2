package cli

import (
	"log/slog"
	"path/filepath"

	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
	"pointsman/ui/logfile"
)

// logName is the resident's log in the state directory.
const logName = "pointsman.log"

// residentLog is the resident's log: to its standard error, and to a file.
type residentLog struct {
	logger   *slog.Logger
	level    *slog.LevelVar // may be changed at any time
	redactor *secrets.Redactor
	path     string // of the file; "" when there is none
	close    func() error
}

// openLog opens the resident's log. Without a file it goes on, and says so: a
// log is no reason not to serve.
func (a *app) openLog(home config.Home, level string) residentLog {
	l := residentLog{level: &slog.LevelVar{}, redactor: &secrets.Redactor{}, path: filepath.Join(home.State, logName)}
	_ = l.level.UnmarshalText([]byte(level)) // the configuration was checked; what it does not change is info
	opts := &slog.HandlerOptions{Level: l.level}
	file, err := logfile.Open(l.path, nil)
	handler := slog.NewMultiHandler(slog.NewTextHandler(a.lines(), opts), slog.NewTextHandler(file, opts))
	l.close = file.Close
	l.logger = slog.New(secrets.NewHandler(handler, l.redactor))
	if err != nil {
		l.path = ""
		l.logger.Warn("the log is not kept in a file", "error", err)
	}
	return l
}
