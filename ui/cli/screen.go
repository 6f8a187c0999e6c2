package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

const (
	clearLine = "\r\x1b[K"
	green     = "\x1b[32m"
	red       = "\x1b[31m"
	plain     = "\x1b[0m"
)

// screen keeps the answer, the progress and the prompts apart where they share
// a terminal. It is safe for concurrent use.
type screen struct {
	// fixed at creation
	out, err io.Writer
	live     bool // err is a terminal: one line of it shows the progress
	shared   bool // so is out
	coloured bool
	width    func() int

	mu     sync.Mutex // guards the fields below and the writing
	status string     // the live line that is shown, or ""
	open   bool       // the answer's last line has no end yet
}

func (a *app) screen() *screen {
	live := terminalFile(a.Stderr) != nil
	return &screen{
		out: a.Stdout, err: a.Stderr, live: live, shared: live && terminalFile(a.Stdout) != nil,
		coloured: a.coloured(a.Stderr), width: func() int { return a.widthOf(a.Stderr) },
	}
}

// Answer writes a part of the answer. A terminal gets it without what would
// control it.
func (s *screen) Answer(text string) error {
	if text == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearLocked()
	if s.shared {
		text = harmless(text)
	}
	s.open = !strings.HasSuffix(text, "\n")
	_, err := io.WriteString(s.out, text)
	return err
}

// EndAnswer ends the answer's last line.
func (s *screen) EndAnswer() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearLocked()
	if !s.open {
		return nil
	}
	s.open = false
	_, err := io.WriteString(s.out, "\n")
	return err
}

// Line writes a line for the person, which stays.
func (s *screen) Line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freshLocked()
	_, _ = fmt.Fprintf(s.err, format+"\n", args...) // that nobody reads it is no reason to fail
}

// Status shows text in the live line, on a terminal; "" clears it.
func (s *screen) Status(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live || s.shared && s.open {
		return
	}
	s.clearLocked()
	if text = fit(text, s.width()-1); text != "" {
		s.status = text
		_, _ = io.WriteString(s.err, text)
	}
}

// Write writes a prompt.
func (s *screen) Write(prompt []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freshLocked()
	return s.err.Write(prompt)
}

// paint colours a text, where colours may be used.
func (s *screen) paint(colour, text string) string {
	if !s.coloured {
		return text
	}
	return colour + text + plain
}

func (s *screen) clearLocked() {
	if s.status != "" {
		s.status = ""
		_, _ = io.WriteString(s.err, clearLine)
	}
}

// freshLocked moves to the start of an empty line.
func (s *screen) freshLocked() {
	s.clearLocked()
	if s.shared && s.open {
		s.open = false
		_, _ = io.WriteString(s.out, "\n")
	}
}

// harmless drops what controls a terminal; an answer is text.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
