// Package windows is how the resident and the process of the windows work
// together: the resident starts `pointsman window`, hands it the right to answer
// over its standard input, says there what is to be shown, and starts it again
// when it dies with something to show.
//
// Process is the resident's side, Parent the windows'. Process.Run owns every
// goroutine of the one; Parent starts none.
package windows

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"pointsman/ui/model"
)

// hello is the first line that the windows read.
type hello struct {
	Secret string `json:"secret"` // gives the right to answer approvals
}

// Command is something the resident wants shown. A Show of "" wants the process
// to be there, and no more.
type Command struct {
	ID   int          `json:"id"`
	Show model.Action `json:"show"`
	// Failed says why an earlier process of the windows has ended, when this one
	// takes its place; else "".
	Failed string `json:"failed,omitempty"`
}

// report is a line that the windows write: that the command with that ID is done,
// or, without one, whether the main window is open.
type report struct {
	ID   int  `json:"id,omitempty"`
	Open bool `json:"open"`
}

// Parent is the resident, as its windows see it.
type Parent struct {
	// Secret gives the right to answer approvals.
	Secret string

	lines *bufio.Reader

	mu  sync.Mutex // guards the field below
	out io.Writer
}

// errNoParent is what somebody gets who starts the windows by hand.
var errNoParent = errors.New("the windows are started by the running Pointsman; start `pointsman`, or choose Open in its tray")

// Meet reads the resident's greeting from in, and answers on out.
func Meet(in io.Reader, out io.Writer) (*Parent, error) {
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return nil, errNoParent
	}
	var h hello
	if err := json.Unmarshal(line, &h); err != nil || h.Secret == "" {
		return nil, errNoParent
	}
	return &Parent{Secret: h.Secret, lines: lines, out: out}, nil
}

// Commands calls obey with each command, until the resident hangs up (nil) or a
// command cannot be read. It blocks in a read that only the end of the input
// ends.
func (p *Parent) Commands(obey func(Command)) error {
	decoder := json.NewDecoder(p.lines)
	for {
		var c Command
		switch err := decoder.Decode(&c); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading what is to be shown: %w", err)
		}
		obey(c)
	}
}

// Shown tells the resident that a command is done.
func (p *Parent) Shown(c Command) { p.write(report{ID: c.ID}) }

// Open tells the resident whether the main window is open: if the process dies
// with it, the next one opens it again.
func (p *Parent) Open(open bool) { p.write(report{Open: open}) }

// write tells the resident something. That it has gone is seen by Commands.
func (p *Parent) write(r report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = json.NewEncoder(p.out).Encode(r)
}
