package httpapi

import (
	"bytes"
	"io"
)

// readSized reads r to its end. A size that was announced saves growing the
// buffer; it is believed only up to 1 MiB before bytes have come.
func readSized(r io.Reader, announced int64) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(announced, 512), 1<<20)) + bytes.MinRead)
	_, err := buf.ReadFrom(r)
	return buf.Bytes(), err
}
