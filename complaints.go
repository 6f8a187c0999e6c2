//go:build !headless

package main

import (
	"bytes"
	"io"
	"log"
)

// complain has what Fyne complains about written to w in lines that can be shown:
// what was being done and why it failed, in one, without the place in Fyne's
// source that it adds.
func complain(w io.Writer) {
	log.SetFlags(0)
	log.SetOutput(&complaints{to: w})
}

type complaints struct {
	to    io.Writer
	doing []byte // "Fyne error: …", until its cause is known
}

// Write takes one line of the standard log.
func (c *complaints) Write(line []byte) (int, error) {
	text := bytes.TrimSpace(line)
	if doing, ok := bytes.CutPrefix(text, []byte("Fyne error:")); ok {
		c.doing = bytes.Clone(bytes.TrimSpace(doing)) // the log writes its next line there
		return len(line), nil
	}
	if bytes.HasPrefix(text, []byte("At:")) {
		text = nil
	}
	cause, caused := bytes.CutPrefix(text, []byte("Cause:"))
	switch {
	case c.doing != nil && caused:
		text = append(append(c.doing, ": "...), bytes.TrimSpace(cause)...)
	case c.doing != nil && text == nil:
		text = c.doing
	}
	c.doing = nil
	if text == nil {
		return len(line), nil
	}
	if _, err := c.to.Write(append(text, '\n')); err != nil {
		return 0, err
	}
	return len(line), nil
}
