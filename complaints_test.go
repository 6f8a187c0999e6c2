//go:build !headless

package main

import (
	"bytes"
	"io"
	"log"
	"testing"
)

func TestComplaints(t *testing.T) {
	for _, test := range []struct {
		name, want string
		lines      []string
	}{
		{"with a cause", "window creation error: no GLX\n", []string{"Fyne error:  window creation error", "  Cause: no GLX", "  At: /a/driver.go:147"}},
		{"without", "no such thing\n", []string{"Fyne error:  no such thing", "  At: /a/driver.go:147"}},
		{"two", "a: b\nc\n", []string{"Fyne error:  a", "  Cause: b", "  At: x:1", "Fyne error:  c", "  At: x:2"}},
		{"somebody else's", "hello\n", []string{"hello"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			complain(&out)
			defer log.SetOutput(io.Discard)
			for _, line := range test.lines {
				log.Print(line)
			}
			if out.String() != test.want {
				t.Errorf("got %q, want %q", out.String(), test.want)
			}
		})
	}
}
