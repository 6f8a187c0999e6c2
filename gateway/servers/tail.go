package servers

import (
	"bufio"
	"io"
	"strings"
	"sync"
)

// tail keeps the last lines of what a server writes to stderr.
type tail struct {
	clean func(string) string // applied to each line

	mu   sync.Mutex // guards the fields below
	ring []string
	next int
	full bool
}

const maxTailLine = 4096 // bytes

func newTail(lines int, clean func(string) string) *tail {
	return &tail{clean: clean, ring: make([]string, lines)}
}

func (t *tail) add(line string) {
	line = t.clean(line)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring[t.next] = line
	t.next = (t.next + 1) % len(t.ring)
	t.full = t.full || t.next == 0
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.full {
		return append([]string(nil), t.ring[:t.next]...)
	}
	return append(append([]string(nil), t.ring[t.next:]...), t.ring[:t.next]...)
}

// last returns the last line that is not empty, or "".
func (t *tail) last() string {
	lines := t.lines()
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.TrimSpace(lines[i]) != "" {
			return lines[i]
		}
	}
	return ""
}

// follow adds the lines of r, the long ones cut, until it ends. also gets each
// line, as it came.
func (t *tail) follow(r io.Reader, also func(line string)) {
	br := bufio.NewReaderSize(r, maxTailLine)
	for {
		line, more, err := br.ReadLine()
		if err != nil {
			return
		}
		t.add(string(line))
		also(string(line))
		for more && err == nil {
			_, more, err = br.ReadLine()
		}
	}
}
