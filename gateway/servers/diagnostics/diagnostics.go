// Package diagnostics keeps in memory what happened between us and the MCP
// servers, for a person who wants to know why one does not work: of each server
// the last records, bounded in number and in size. It is off until it is turned
// on, and exports nothing unasked.
//
// Records are read by pages. Each page comes with a cursor, which is where the
// next one begins; a reader that is too slow is told how many it has missed.
//
// The package starts no goroutine.
package diagnostics

import (
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Level is how much is kept: records of this level and the graver ones.
type Level string

// The levels, gravest first.
const (
	Off     Level = "off"
	Error   Level = "error"
	Warning Level = "warning"
	Info    Level = "info"
	Debug   Level = "debug"
	Trace   Level = "trace"
)

var levels = [...]Level{Off, Error, Warning, Info, Debug, Trace}

// Levels returns the levels, gravest first.
func Levels() []Level { return slices.Clone(levels[:]) }

// covers reports whether what is kept at level l includes records of other.
func (l Level) covers(other Level) bool {
	return other != Off && slices.Index(levels[:], other) <= slices.Index(levels[:], l)
}

// Category is what a record is about.
type Category string

// The categories.
const (
	Lifecycle Category = "lifecycle" // attempts to connect, and their ends
	Protocol  Category = "protocol"  // messages of MCP
	HTTP      Category = "http"      // requests to a remote server
	Stderr    Category = "stderr"    // lines of a local server
)

// Entry is one record.
type Entry struct {
	Time         time.Time `json:"time"`
	Server       string    `json:"server"`
	ConnectionID string    `json:"connectionId"` // of the attempt to connect; "" when there is none
	Level        Level     `json:"level"`
	Category     Category  `json:"category"`
	Message      string    `json:"message"`
	Truncated    bool      `json:"truncated,omitempty"` // Message was cut
}

// The bounds of what is kept of each server.
const (
	maxRecords = 1024
	maxBytes   = 4 << 20
	maxMessage = 16 << 10
	overhead   = 256 // bytes that a record takes besides its message, about
)

// Log keeps the records of all servers. Its zero value is off; it is safe for
// concurrent use.
type Log struct {
	level atomic.Value // Level; written with mu held

	mu         sync.Mutex // guards the fields below
	generation int        // counts how often it was turned off
	rings      map[string]*ring
}

// ring is what is kept of one server.
type ring struct {
	id      string // tells its cursors from those of another run of the program
	first   int64  // the number of the oldest record
	entries []Entry
	bytes   int
	wake    chan struct{} // closed when there is something new; nil: nobody waits
}

// Level returns how much is kept.
func (l *Log) Level() Level {
	level, ok := l.level.Load().(Level)
	if !ok {
		return Off
	}
	return level
}

// SetLevel sets how much is kept from now on. Off clears everything, and wakes
// who waits; an unknown level means Off.
func (l *Log) SetLevel(level Level) {
	if !slices.Contains(levels[:], level) {
		level = Off
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level.Store(level)
	if level != Off {
		return
	}
	l.generation++
	for _, r := range l.rings {
		r.clear()
	}
}

// Retain forgets the servers that keep does not report.
func (l *Log) Retain(keep func(server string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, r := range l.rings {
		if !keep(name) {
			r.clear()
			delete(l.rings, name)
		}
	}
}

// Writer writes records of one level. A nil Writer writes nothing. What it was made
// for is dropped when the Log was turned off meanwhile, even if it is on again.
type Writer struct {
	log        *Log
	level      Level
	generation int
}

// Writer returns a writer of records of a level, or nil when they are not kept: then
// there is no need to make them.
func (l *Log) Writer(level Level) *Writer {
	if !l.Level().covers(level) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Writer{log: l, level: level, generation: l.generation}
}

// Write keeps a record. Its level and, if that is zero, its time are filled in.
// It must hold no credentials: see Scrub.
func (w *Writer) Write(e Entry) {
	if w == nil {
		return
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Level = w.level
	if len(e.Message) > maxMessage {
		e.Message, e.Truncated = cut(e.Message, maxMessage), true
	}
	l := w.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.generation == l.generation && l.Level().covers(w.level) {
		l.ringLocked(e.Server).add(e)
	}
}

// cut returns the beginning of text, at most max bytes of whole characters, in
// memory of its own.
func cut(text string, max int) string {
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return string([]byte(text[:max]))
}

func (l *Log) ringLocked(server string) *ring {
	if l.rings == nil {
		l.rings = map[string]*ring{}
	}
	if l.rings[server] == nil {
		l.rings[server] = &ring{id: rand.Text()}
	}
	return l.rings[server]
}

func (r *ring) add(e Entry) {
	r.entries = append(r.entries, e)
	r.bytes += len(e.Message) + overhead
	drop := 0
	for len(r.entries)-drop > maxRecords || r.bytes > maxBytes {
		r.bytes -= len(r.entries[drop].Message) + overhead
		drop++
	}
	if drop > 0 {
		clear(r.entries[:drop]) // their texts go with them
		r.entries = r.entries[drop:]
		r.first += int64(drop)
	}
	r.wakeReaders()
}

// clear forgets the records and wakes who waits. Numbers go on: a cursor then
// shows that something is missing.
func (r *ring) clear() {
	r.first += int64(len(r.entries))
	r.entries, r.bytes = nil, 0
	r.wakeReaders()
}

func (r *ring) wakeReaders() {
	if r.wake != nil {
		close(r.wake)
		r.wake = nil
	}
}

// end is the number of the next record.
func (r *ring) end() int64 { return r.first + int64(len(r.entries)) }
