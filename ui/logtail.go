package ui

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// tailBytes is how much of the end of a log is read at once.
const tailBytes = 1 << 20

// logTail reads the end of a file that grows, and that another may take the place
// of. It is used by one goroutine.
type logTail struct {
	path string
	info os.FileInfo // of the file that was read last; nil: none yet
	at   int64       // up to where
	half []byte      // a line that has not ended yet
}

// followLog reports the last lines of a file, and those that come, until ctx
// ends. fresh says that they stand in place of all before. The folder must be
// there.
func followLog(ctx context.Context, path string, report func(lines []string, fresh bool)) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching the log: %w", err)
	}
	defer watcher.Close()
	// The folder and not the file: when the log is rotated another file takes its place.
	if err := watcher.Add(filepath.Dir(path)); err != nil {
		return fmt.Errorf("watching the log's folder: %w", err)
	}
	tail := logTail{path: path}
	for {
		lines, fresh, err := tail.read()
		if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
		if fresh || len(lines) > 0 {
			report(lines, fresh)
		}
		if err := changed(ctx, watcher, path); err != nil {
			return err
		}
	}
}

// changed waits until something has happened to the file.
func changed(ctx context.Context, watcher *fsnotify.Watcher, path string) error {
	for {
		select {
		case e := <-watcher.Events:
			if filepath.Base(e.Name) == filepath.Base(path) && !e.Has(fsnotify.Chmod) {
				return nil
			}
		case err := <-watcher.Errors:
			return fmt.Errorf("watching the log: %w", err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read returns the lines that came since the last time. A file that is not there
// has none.
func (t *logTail) read() (lines []string, fresh bool, err error) {
	file, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	fresh = t.info == nil || os.SameFile(t.info, info) && info.Size() < t.at
	if fresh || !os.SameFile(t.info, info) { // another in its place goes on where it ended
		t.at, t.half = 0, nil
	}
	t.info = info
	skipped := info.Size()-t.at > tailBytes
	if skipped {
		t.at, t.half, fresh = info.Size()-tailBytes, nil, true
	}
	if lines, err = t.readFrom(file); skipped && len(lines) > 0 {
		lines = lines[1:] // its beginning was not read
	}
	return lines, fresh, err
}

func (t *logTail) readFrom(file *os.File) (lines []string, err error) {
	if _, err := file.Seek(t.at, io.SeekStart); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(bufio.NewReader(io.LimitReader(file, 2*tailBytes)))
	if err != nil {
		return nil, err
	}
	t.at += int64(len(data))
	data = append(t.half, data...)
	end := bytes.LastIndexByte(data, '\n')
	t.half = bytes.Clone(data[end+1:])
	if len(t.half) > tailBytes {
		t.half = nil // no line is as long
	}
	if end < 0 {
		return nil, nil
	}
	for line := range strings.SplitSeq(string(data[:end]), "\n") {
		lines = append(lines, strings.TrimSuffix(line, "\r"))
	}
	return lines, nil
}
