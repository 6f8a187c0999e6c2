// Package lines reads the messages of an MCP stream, one a line, of bounded
// length.
package lines

import (
	"bufio"
	"errors"
	"io"
	"slices"
)

// ErrTooLong is the error of a line that is longer than the bound. Nothing of it is
// kept, and the lines behind it can be read.
var ErrTooLong = errors.New("the line is too long")

// Reader reads lines. It is used by one goroutine at a time.
type Reader struct {
	in   *bufio.Reader
	most int
}

// NewReader returns a reader of lines of at most that many bytes, their ends
// included.
func NewReader(from io.Reader, most int) *Reader {
	return &Reader{in: bufio.NewReaderSize(from, 64<<10), most: most}
}

// Next returns the next line with its end; at the end of the input, what there is,
// and the error. It is valid until the next one is read.
func (r *Reader) Next() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err == nil && len(line) <= r.most {
		return line, nil
	}
	whole := slices.Clone(line)
	for long := false; ; {
		if long = long || len(whole) > r.most; long {
			whole = nil
		}
		switch {
		case long && err == nil:
			return nil, ErrTooLong
		case err != bufio.ErrBufferFull:
			return whole, err
		}
		line, err = r.in.ReadSlice('\n')
		whole = append(whole, line...)
	}
}
