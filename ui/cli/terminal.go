package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// terminalFile returns stream as a terminal, or nil when it is none.
func terminalFile(stream any) *os.File {
	if out, ok := stream.(*output); ok {
		stream = out.to
	}
	file, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	isTerminal := false
	withDescriptor(file, func(fd int) { isTerminal = term.IsTerminal(fd) })
	if !isTerminal {
		return nil
	}
	return file
}

// withDescriptor calls use with a file's descriptor. File.Fd would put the file
// into blocking mode, in which a read of it cannot be interrupted. A closed file
// has none, and use is not called.
func withDescriptor(file *os.File, use func(fd int)) {
	if conn, err := file.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { use(int(fd)) })
	}
}

// interactive reports whether a person can be asked: they see the questions and
// can type the answers.
func (a *app) interactive() bool {
	return terminalFile(a.Stdin) != nil && terminalFile(a.Stderr) != nil
}

// confirm asks the person at the terminal for a clear yes.
func (a *app) confirm(in *bufio.Reader, question string) (bool, error) {
	answer, err := a.line(in, question)
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))), err
}

// line asks the person at the terminal for a line of text.
func (a *app) line(in *bufio.Reader, question string) (string, error) {
	_, _ = fmt.Fprint(a.Stderr, question)
	line, err := in.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
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
	width := 0
	withDescriptor(file, func(fd int) {
		if columns, _, err := term.GetSize(fd); err == nil {
			width = columns
		}
	})
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
			withDescriptor(file, flushInput)
		}
	}
}
