package ui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"pointsman/gateway/journal"
)

// journalFile is the record, read where it lies. It is opened when it is first
// looked into, for there may be none yet. It is safe for concurrent use.
type journalFile struct {
	path string

	mu     sync.Mutex // guards the field below
	reader *journal.Reader
}

// open returns the reader; nil, without an error, when nothing was recorded yet.
func (f *journalFile) open() (*journal.Reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader != nil {
		return f.reader, nil
	}
	reader, err := journal.OpenReader(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.reader = reader
	return reader, nil
}

func (f *journalFile) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader == nil {
		return nil
	}
	err := f.reader.Close()
	f.reader = nil
	if err != nil {
		return fmt.Errorf("closing the journal: %w", err)
	}
	return nil
}

// journalPage reads with the journal off the UI goroutine; without a journal
// what is read is empty.
func journalPage[T any](ctx context.Context, u *UI, read func(context.Context, *journal.Reader) (T, error), done func(T, error)) {
	background(ctx, u, func(ctx context.Context) (T, error) {
		var none T
		reader, err := u.journal.open()
		if err != nil || reader == nil {
			return none, err
		}
		return read(ctx, reader)
	}, done)
}
