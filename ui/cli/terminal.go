package cli

import (
	"cmp"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// terminalFile returns stream as a terminal, or nil when it is none.
func terminalFile(stream any) *os.File {
	if out, ok := stream.(*output); ok {
		stream = out.to
	}
	if file, ok := stream.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// interactive reports whether a person can be asked: they see the questions and
// can type the answers.
func (a *app) interactive() bool {
	return terminalFile(a.Stdin) != nil && terminalFile(a.Stderr) != nil
}

// widthOf is the number of columns of a stream, zero when there is no bound.
func (a *app) widthOf(stream io.Writer) int {
	file := terminalFile(stream)
	if file == nil {
		return 0
	}
	if columns, err := strconv.Atoi(a.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 80
	}
	return cmp.Or(width, 80)
}

// coloured reports whether colours may go to a stream.
func (a *app) coloured(stream io.Writer) bool {
	return terminalFile(stream) != nil && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}

// flusher returns a function that forgets what was typed and not yet read.
func (a *app) flusher() func() {
	file := terminalFile(a.Stdin)
	return func() {
		if file != nil {
			flushInput(file)
		}
	}
}
