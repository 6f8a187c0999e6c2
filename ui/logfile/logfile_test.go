package logfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pointsman/ui/logfile"
)

func open(t *testing.T, path string, opts *logfile.Options) *logfile.File {
	t.Helper()
	l, err := logfile.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "x.log")
	l := open(t, path, &logfile.Options{Limit: 10, Kept: 2})
	for i := range 7 {
		if _, err := fmt.Fprintf(l, "line%d\n", i); err != nil { // 6 bytes: one to a file
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{path: "line6\n", path + ".1": "line5\n", path + ".2": "line4\n"} {
		if got := read(t, name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 3 {
		t.Errorf("left: %v, %v", files, err)
	}
}

func TestGoesOnWhereItEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	for _, text := range []string{"one\n", "two\n", "three\n"} {
		l := open(t, path, &logfile.Options{Limit: 10})
		if _, err := l.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if now, before := read(t, path), read(t, path+".1"); now != "three\n" || before != "one\ntwo\n" {
		t.Errorf("got %q after %q", now, before)
	}
}

func TestIsItsUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes there")
	}
	path := filepath.Join(t.TempDir(), "x.log")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, path, nil)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestALargeRecordIsKeptWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	l := open(t, path, &logfile.Options{Limit: 10})
	large := strings.Repeat("x", 100)
	if _, err := l.Write([]byte(large)); err != nil || read(t, path) != large {
		t.Errorf("got %q, %v", read(t, path), err)
	}
}

func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	l := open(t, path, &logfile.Options{Limit: 100, Kept: 1000})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				if _, err := fmt.Fprintf(l, "%d %02d\n", i, j); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range names {
		lines += strings.Count(read(t, name), "\n")
	}
	if lines != 200 {
		t.Errorf("%d lines in %d files", lines, len(names))
	}
}

func TestWithoutAFile(t *testing.T) {
	folder := t.TempDir() // no file can be opened at the path of a folder
	l, err := logfile.Open(folder, nil)
	if err == nil || l == nil {
		t.Fatalf("got %v, %v", l, err)
	}
	if _, err := l.Write([]byte("x")); err == nil {
		t.Error("what nobody keeps was taken")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
