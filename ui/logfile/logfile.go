// Package logfile is a log file that begins anew when it has grown to its limit;
// the last few are kept beside it. The libraries for this keep a goroutine for
// the rest of the program's life; a few renames need none.
package logfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Options say how much is kept.
type Options struct {
	Limit int64 // bytes of one file; zero: 5 MiB
	Kept  int   // older files, with .1, .2 … after their name; zero: 3
}

// File is a log file. It is safe for concurrent use.
type File struct {
	path string
	opts Options

	mu   sync.Mutex // guards the fields below
	file *os.File   // nil: it could not be opened, or is closed
	size int64
}

// Open opens the file at path, which only its user can read, to append to it;
// opts may be nil. The File is never nil: with an error, what is written is lost.
func Open(path string, opts *Options) (*File, error) {
	l := &File{path: path}
	if opts != nil {
		l.opts = *opts
	}
	l.opts.Limit, l.opts.Kept = cmp.Or(l.opts.Limit, 5<<20), cmp.Or(l.opts.Kept, 3)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return l, fmt.Errorf("making the folder of the log: %w", err)
	}
	return l, l.openLocked()
}

func (l *File) openLocked() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	info, err := file.Stat()
	if err == nil {
		err = file.Chmod(0o600)
	}
	if err != nil {
		return fmt.Errorf("opening the log: %w", errors.Join(err, file.Close()))
	}
	l.file, l.size = file, info.Size()
	return nil
}

// Write appends one record, to a new file when this one would grow too large.
func (l *File) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return 0, os.ErrClosed
	}
	if l.size > 0 && l.size+int64(len(record)) > l.opts.Limit {
		if err := l.turnLocked(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(record)
	l.size += int64(n)
	return n, err
}

// turnLocked begins a new file. An older one that cannot be moved is lost, the
// log goes on.
func (l *File) turnLocked() error {
	_ = l.file.Close() // before the rename, for Windows; what was written is written
	l.file = nil
	for i := l.opts.Kept; i > 1; i-- {
		_ = os.Rename(l.older(i-1), l.older(i))
	}
	if os.Rename(l.path, l.older(1)) != nil {
		_ = os.Truncate(l.path, 0) // somebody holds it: its room is needed all the same
	}
	return l.openLocked()
}

func (l *File) older(i int) string { return fmt.Sprintf("%s.%d", l.path, i) }

// Close ends the file; what is written later is lost. It may be called more than
// once.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
