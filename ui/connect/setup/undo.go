package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"pointsman/gateway/config"
)

// Undone is what undoing has done to one file.
type Undone struct {
	Part, Path string
	Changed    bool // else there was nothing to undo
	// Exact says that the file is, byte for byte, what it was before, or gone where
	// there was none.
	Exact bool
	Words string // for a person
}

// Undo takes a program's setup back. A file that is as we left it becomes what it
// was, byte for byte. In one that was changed since, only our entries go. parts
// chooses among the parts; without any it is all.
func (s *Setup) Undo(ctx context.Context, name string, parts ...string) ([]Undone, error) {
	c, err := s.client(name)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		for _, p := range c.parts {
			parts = append(parts, p.name)
		}
	}
	chosen, err := c.chosen(parts)
	if err != nil {
		return nil, err
	}
	var all []Undone
	err = s.locked(ctx, func() error {
		for _, p := range chosen {
			u, err := s.undo(p)
			if err != nil {
				return err
			}
			all = append(all, u)
		}
		return nil
	})
	return all, err
}

func (s *Setup) undo(p part) (Undone, error) {
	u := Undone{Part: p.name, Path: p.path}
	now, err := readState(p.path)
	if err != nil {
		return u, err
	}
	r, err := s.load(now.target)
	if err != nil {
		return u, err
	}
	switch {
	case !now.exists && r == nil:
		u.Words = "there is nothing of ours"
		return u, nil
	case !now.exists:
		u.Words = "the file is gone already"
		return u, s.forget(now.target)
	case r != nil && hashOf(now.text) == r.Wrote:
		u.Changed, u.Exact, u.Words = true, true, "restored as it was"
		if !r.Existed {
			u.Words = "removed, as there was none"
		}
		err = s.restore(now, r.base, r.Existed)
	default:
		u, err = s.undoChanged(p, u, now, r)
	}
	if err != nil {
		return u, fmt.Errorf("undoing the change to %s: %w; it was left as it is", p.path, err)
	}
	if r == nil {
		return u, nil
	}
	for _, folder := range r.Folders {
		_ = os.Remove(folder) // one that others use now is not empty, and stays
	}
	return u, s.forget(now.target)
}

// undoChanged takes our entries out of a file that somebody else has changed.
func (s *Setup) undoChanged(p part, u Undone, now file, r *record) (Undone, error) {
	if p.format == nil {
		return s.undoWhole(p, u, now, r)
	}
	text, _, err := p.strip(now.text, r)
	if err != nil {
		return u, err
	}
	if string(text) == string(now.text) {
		u.Words = "there is nothing of ours"
		return u, nil
	}
	u.Changed, u.Words = true, "it was changed since: only our entries were removed"
	if r == nil {
		u.Words = "there is no backup of it: only our entries were removed"
	}
	return u, s.restore(now, text, true)
}

// undoWhole removes a file that is ours as a whole, and keeps what somebody else
// has made of it.
func (s *Setup) undoWhole(p part, u Undone, now file, r *record) (Undone, error) {
	if ours, err := p.whole(); err != nil || r == nil && string(ours) != string(now.text) {
		u.Words = "it is not as Pointsman writes it, and was left as it is"
		return u, err
	}
	u.Changed, u.Words = true, "there was no backup of it; it was removed"
	if r != nil {
		aside := filepath.Join(s.State, "changed-"+filepath.Base(now.target))
		if err := config.WriteFile(aside, now.text, 0o600, nil); err != nil {
			return u, fmt.Errorf("keeping the changed file: %w", err)
		}
		u.Words = "it was changed since; what it was is in " + aside
	}
	base, exists, err := p.strip(now.text, r)
	if err != nil {
		return u, err
	}
	return u, s.restore(now, base, exists)
}

// restore writes a file that is still as it was when it was looked at, or removes
// it.
func (s *Setup) restore(was file, text []byte, exists bool) error {
	unchanged := func() error {
		now, err := readState(was.target)
		if err == nil && (!now.exists || string(now.text) != string(was.text)) {
			err = errors.New("it is being changed by another program; try again")
		}
		return err
	}
	if exists {
		return config.WriteFile(was.target, text, was.mode, unchanged)
	}
	if err := unchanged(); err != nil {
		return err
	}
	if err := os.Remove(was.target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func sortedKeys(o map[string]any) []string { return slices.Sorted(maps.Keys(o)) }
