package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
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

// screen keeps the answer, the progress, the log and the questions apart where
// they share a terminal: everything that a command writes there goes through
// it. A question that is asked stays the last thing on it. It is safe for
// concurrent use.
type screen struct {
	// fixed at creation
	out, err    io.Writer
	live        bool // err is a terminal: one line of it shows the progress
	terminalOut bool // out is one: what goes there is made harmless
	shared      bool // both are
	merged      bool // neither is a terminal, and both are the same file
	coloured    bool
	width       func() int

	mu       sync.Mutex      // guards the fields below and the writing
	status   string          // the live line that is shown, or ""
	open     bool            // the answer's last line has no end yet
	question string          // what is asked, or ""
	held     strings.Builder // of the answer, until the question is over
}

// screen is the command's one screen, made when it is first asked for.
func (a *app) screen() *screen {
	if a.shown == nil {
		live, terminalOut := terminalFile(a.Stderr) != nil, terminalFile(a.Stdout) != nil
		a.shown = &screen{
			out: a.Stdout, err: a.Stderr, live: live, terminalOut: terminalOut, shared: live && terminalOut,
			merged: !live && !terminalOut && sameFile(a.out.to, a.Stderr), coloured: a.coloured(a.Stderr),
			width: func() int { return a.widthOf(a.Stderr) },
		}
	}
	return a.shown
}

// sameFile reports whether two streams certainly end in the same place.
func sameFile(a, b io.Writer) bool {
	x, ok := a.(*os.File)
	y, too := b.(*os.File)
	if !ok || !too {
		return false
	}
	one, err := x.Stat()
	if err != nil {
		return false
	}
	other, err := y.Stat()
	return err == nil && os.SameFile(one, other)
}

// Answer writes a part of the answer. A terminal gets it without what would
// control it, and not in the middle of a question.
func (s *screen) Answer(text string) error {
	if text == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared && s.question != "" {
		s.held.WriteString(text)
		return nil
	}
	return s.answerLocked(text)
}

func (s *screen) answerLocked(text string) error {
	s.clearLocked()
	if s.terminalOut {
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
	err := s.releaseLocked()
	s.clearLocked()
	if !s.open {
		return err
	}
	s.open = false
	_, failed := io.WriteString(s.out, "\n")
	return errors.Join(err, failed)
}

// releaseLocked writes what was held of the answer.
func (s *screen) releaseLocked() error {
	if s.held.Len() == 0 {
		return nil
	}
	text := s.held.String()
	s.held.Reset()
	return s.answerLocked(text)
}

// Line writes a line for the person, which stays.
func (s *screen) Line(format string, args ...any) {
	_, _ = fmt.Fprintf(s, format+"\n", args...) // that nobody reads it is no reason to fail
}

// Question shows a question and keeps it the last thing on the screen until it
// is called with "".
func (s *screen) Question(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" {
		s.question = ""
		return s.releaseLocked()
	}
	s.freshLocked()
	s.question = text
	_, err := io.WriteString(s.err, text)
	return err
}

// Status shows text in the live line, on a terminal; "" clears it. There is no
// such line while a question is asked.
func (s *screen) Status(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live || s.question != "" || s.shared && s.open {
		return
	}
	s.clearLocked()
	if text = fit(text, s.width()-1); text != "" {
		s.status = text
		_, _ = io.WriteString(s.err, text)
	}
}

// Write writes whole lines: of the log, or what a question is about. They go
// above a question that is asked.
func (s *screen) Write(lines []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freshLocked()
	if s.question == "" {
		return s.err.Write(lines)
	}
	before := clearLine
	if !s.live {
		before = "\n"
	}
	if _, err := io.WriteString(s.err, before+string(lines)+s.question); err != nil {
		return 0, err
	}
	return len(lines), nil
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
	switch {
	case !s.open:
	case s.shared:
		s.open = false
		_, _ = io.WriteString(s.out, "\n")
	case s.merged: // the answer itself stays as the model gave it
		s.open = false
		_, _ = io.WriteString(s.err, "\n")
	}
}

// harmless drops what controls a terminal, turns text around or cannot be seen;
// an answer is text.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		return r
	}, text)
}
