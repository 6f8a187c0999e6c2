package windows

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// child is one process of the windows.
type child struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  *lastWords
	started time.Time
	read    sync.WaitGroup // what it writes
	work    sync.WaitGroup // all of it
}

// startChild starts the process and greets it. told is called, on a goroutine of
// the child's, with what the process reports.
func startChild(opts Options, told func(report)) (*child, error) {
	c := &child{cmd: exec.Command(opts.Command[0], opts.Command[1:]...), stderr: &lastWords{log: opts.Logger}, started: time.Now()}
	var theirs io.Closer
	var err error
	if c.stdin, theirs, err = newLine(c.cmd); err != nil {
		return nil, err
	}
	defer theirs.Close()
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the windows: %w", err)
	}
	c.cmd.Stderr = c.stderr
	c.cmd.WaitDelay = quitPatience
	if err := c.cmd.Start(); err != nil {
		_ = c.stdin.Close()
		return nil, fmt.Errorf("starting the windows: %w", err)
	}
	c.read.Go(func() {
		decoder := json.NewDecoder(stdout)
		for {
			var r report
			if decoder.Decode(&r) != nil {
				break
			}
			told(r)
		}
		_, _ = io.Copy(io.Discard, stdout) // what is not ours to understand must not block it
	})
	if err := c.write(hello{Secret: opts.Secret}); err != nil {
		opts.Logger.Debug("greeting the windows", "error", err) // its end says why
	}
	return c, nil
}

func (c *child) write(v any) error { return json.NewEncoder(c.stdin).Encode(v) }

// wait returns how the process ended.
func (c *child) wait() ending {
	c.read.Wait() // as exec.Cmd.Wait wants it
	err := c.cmd.Wait()
	e := ending{lived: time.Since(c.started)}
	if err == nil {
		return e
	}
	e.why = cmp.Or(c.stderr.reason(), err.Error())
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		e.why = cmp.Or(c.stderr.crashed(), err.Error()) // what it said before has nothing to do with a signal
	}
	return e
}

// lastWords passes what the process complains about on to the log, and keeps the
// last line.
type lastWords struct {
	log *slog.Logger

	mu      sync.Mutex // guards the fields below
	pending []byte     // of a line that is not whole yet
	line    string
	crash   string // the line that begins Go's account of a crash, if there was one
}

// crashes are how Go begins to tell of one. What follows are stacks.
var crashes = regexp.MustCompile(`^(panic|fatal error|SIG[A-Z]+): `)

// longestLine bounds what is kept of a line, in bytes.
const longestLine = 16 << 10

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, p...)
	for {
		line, rest, whole := bytes.Cut(w.pending, []byte("\n"))
		if !whole && len(line) <= longestLine {
			return len(p), nil
		}
		w.pending = rest
		if line = bytes.TrimSpace(line[:min(len(line), longestLine)]); len(line) > 0 {
			w.line = strings.TrimPrefix(string(line), "pointsman: ")
			if w.crash == "" && crashes.Match(line) {
				w.crash = w.line
			}
			level := slog.LevelDebug
			if bytes.Contains(line, []byte(" level=ERROR ")) { // of their own log
				level = slog.LevelError
			}
			w.log.Log(context.Background(), level, "the windows say", "line", w.line)
		}
	}
}

// crashed is how Go's account of a crash begins; "" when there was none.
func (w *lastWords) crashed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crash
}

// reason is why the process ended, as far as it said.
func (w *lastWords) reason() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.crash, w.line)
}
