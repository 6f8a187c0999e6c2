package setup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"pointsman/gateway/config"
)

// Plan is what setting a program up would change.
type Plan struct {
	Client, Title string
	Changes       []Change
	// Revision names this very plan: files with this content, and these changes.
	Revision string
	// LeftOut are parts that have to be asked for by name, each with the reason.
	LeftOut []string
	Snippet string // lines for the user to copy; "" for none
	About   string // what to do with Snippet
}

// Change is what would change in one file.
type Change struct {
	Part  string
	Path  string
	Diff  string   // unified, with every secret masked; "" when nothing changes
	Notes []string // what is to be known of it, in sentences
	After string   // what has to be done in the program afterwards; "" for nothing

	part  part
	state file
	after []byte
}

// file is a file as it is now.
type file struct {
	target string // what path leads to
	text   []byte
	exists bool
	mode   fs.FileMode
}

// maxFile bounds a file that is changed, in bytes: Claude Code keeps far more than
// servers in its own.
const maxFile = 32 << 20

// readState reads a file that may not be there.
func readState(path string) (file, error) {
	target, err := config.LinkTarget(path)
	if err != nil {
		return file{}, fmt.Errorf("reading %s: %w", path, err)
	}
	f := file{target: target, mode: 0o600}
	info, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("reading %s: %w", path, err)
	}
	switch {
	case !info.Mode().IsRegular():
		return f, fmt.Errorf("reading %s: it is no regular file", path)
	case info.Size() > maxFile:
		return f, fmt.Errorf("reading %s: it is larger than %d MB", path, maxFile>>20)
	}
	f.exists, f.mode = true, info.Mode().Perm()
	if f.text, err = os.ReadFile(target); err != nil {
		return f, fmt.Errorf("reading %s: %w", path, err)
	}
	return f, nil
}

// same reports whether a file is still as it was.
func (f file) same(now file) bool {
	return f.exists == now.exists && f.target == now.target && bytes.Equal(f.text, now.text)
}

// present reports whether there is something at a path.
func present(path string) bool {
	if path == "" {
		return false
	}
	_, err := os.Stat(path)
	return err == nil
}

// Plan says what setting a program up would change. parts chooses among its
// parts; without any it is all but those that have to be asked for. A file that
// cannot be read with certainty is the error.
func (s *Setup) Plan(ctx context.Context, name string, parts ...string) (Plan, error) {
	c, err := s.client(name)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Client: c.name, Title: c.title, Snippet: c.snippet, About: c.about}
	if len(c.parts) == 0 && len(parts) == 0 && c.snippet != "" && !s.Workspace {
		return p, nil
	}
	chosen, err := c.chosen(parts)
	if err != nil {
		return Plan{}, err
	}
	if slices.Contains(parts, Models) {
		p.Snippet = "" // the file says what the lines would
	}
	for _, part := range chosen {
		change, err := s.change(ctx, part)
		if err != nil {
			return Plan{}, err
		}
		p.Changes = append(p.Changes, change)
	}
	for _, part := range c.parts {
		if part.asked != "" && len(parts) == 0 {
			p.LeftOut = append(p.LeftOut, fmt.Sprintf("%s (%s): %s", part.name, part.path, part.asked))
		}
	}
	p.Revision = p.revision()
	return p, nil
}

// Snippet is what a program's user copies, for what it has no file for, and what
// to do with it.
func (s *Setup) Snippet(name string) (text, about string, err error) {
	c, err := s.client(name)
	if err == nil && c.snippet == "" {
		err = fmt.Errorf("printing the lines for %s: it needs none; apply it", c.title)
	}
	return c.snippet, c.about, err
}

// revision is a hash of all that makes up the plan.
func (p Plan) revision() string {
	h := sha256.New()
	for _, c := range p.Changes {
		for _, text := range [][]byte{[]byte(p.Client), []byte(c.Path), []byte(c.state.target), fmt.Append(nil, c.state.exists), c.state.text, c.after} {
			_, _ = fmt.Fprintf(h, "%d:", len(text)) // a hash cannot fail
			_, _ = h.Write(text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Changed reports whether any file would change.
func (p Plan) Changed() bool {
	for _, c := range p.Changes {
		if c.changed() {
			return true
		}
	}
	return false
}

func (c Change) changed() bool { return !c.state.exists || !bytes.Equal(c.state.text, c.after) }

// change is what would become of a part's file.
func (s *Setup) change(ctx context.Context, p part) (Change, error) {
	c := Change{Part: p.name, Path: p.path, After: p.after, part: p}
	var err error
	if c.state, err = readState(p.path); err != nil {
		return c, err
	}
	key := ""
	if p.secret {
		if key, err = s.key(ctx); err != nil {
			return c, err
		}
		c.Notes = append(c.Notes, "it will hold the endpoint's key as it is")
		if c.state.exists && c.state.mode&0o077 != 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("others on this machine can read it (mode %#o); chmod 600 it first", c.state.mode))
		}
	}
	var notes []string
	if c.after, notes, err = p.wanted(c.state.text, key); err != nil {
		return c, fmt.Errorf("changing %s: %w; it was left as it is", p.path, err)
	}
	c.Notes = append(c.Notes, notes...)
	c.Diff, err = c.diff(key)
	return c, err
}

// key is the endpoint's key.
func (s *Setup) key(ctx context.Context) (string, error) {
	if s.Gateway.Open || s.Gateway.Key == nil {
		return "", nil
	}
	return s.Gateway.Key(ctx)
}

// wanted is a text as it is to be.
func (p part) wanted(text []byte, key string) (after []byte, notes []string, err error) {
	if p.format == nil {
		after, err = p.whole()
		return after, nil, err
	}
	entries, notes, err := p.entries(text, key)
	if err != nil {
		return nil, nil, err
	}
	after = text
	stale, err := p.ours(text)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range stale {
		if among(entries, e) {
			continue
		}
		if after, err = p.format.Remove(after, e); err != nil {
			return nil, nil, err
		}
	}
	for _, e := range entries {
		if after, err = p.format.Set(after, e); err != nil {
			return nil, nil, err
		}
	}
	return after, notes, nil
}

// diff is the change for a person.
func (c Change) diff(key string) (string, error) {
	if !c.changed() {
		return "", nil
	}
	before, err := mask(c.part.format, c.state.text, key)
	if err != nil {
		return "", fmt.Errorf("showing the change to %s: %w", c.Path, err)
	}
	after, err := mask(c.part.format, c.after, key)
	if err != nil {
		return "", fmt.Errorf("showing the change to %s: %w", c.Path, err)
	}
	was := c.Path
	if !c.state.exists {
		was = os.DevNull
	}
	text := string(diff.Diff(was, []byte(before), c.Path, []byte(after)))
	_, text, _ = strings.Cut(text, "\n") // its first line names the files once more
	return text, nil
}
