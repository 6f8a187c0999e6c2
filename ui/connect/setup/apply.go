package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"pointsman/gateway/config"
	"pointsman/ui/connect/edit"
)

// ErrChanged says that a file is no longer the one that the plan was made of.
var ErrChanged = errors.New("it was changed since the preview; look at the preview again")

// Apply makes the changes of a plan, each file in one step, and keeps what was
// there. A file that is no longer as the plan has it stays as it is, and so do
// those after it: the error is ErrChanged. It returns the paths that were written.
func (s *Setup) Apply(ctx context.Context, p Plan) (written []string, err error) {
	err = s.locked(ctx, func() error {
		for _, c := range p.Changes {
			if !c.changed() {
				continue
			}
			if err := s.apply(p.Client, c); err != nil {
				return err
			}
			written = append(written, c.Path)
		}
		return nil
	})
	return written, err
}

func (s *Setup) apply(client string, c Change) error {
	if err := c.unchanged(); err != nil {
		return err
	}
	r, err := s.load(c.state.target)
	if err != nil {
		return err
	}
	switch {
	case r == nil:
		r = &record{Client: client, Part: c.Part, Path: c.Path, Existed: c.state.exists, base: c.state.text}
	case c.state.exists && hashOf(c.state.text) != r.Wrote: // somebody changed it: what they wrote is to stay
		if r.base, r.Existed, err = c.part.strip(c.state.text, r); err != nil {
			return fmt.Errorf("changing %s: %w; it was left as it is", c.Path, err)
		}
	case !c.state.exists:
		r.Existed, r.base = false, nil
	}
	r.Wrote = hashOf(c.after)
	r.Folders = append(missing(filepath.Dir(c.state.target)), r.Folders...)
	if err := s.save(c.state.target, r); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.state.target), 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", c.Path, err)
	}
	if err := config.WriteFile(c.state.target, c.after, c.state.mode, c.unchanged); err != nil {
		return fmt.Errorf("writing %s: %w", c.Path, err)
	}
	return nil
}

// unchanged reports ErrChanged for a file that is no longer as it was.
func (c Change) unchanged() error {
	now, err := readState(c.Path)
	if err != nil {
		return err
	}
	if !c.state.same(now) {
		return fmt.Errorf("%s: %w", c.Path, ErrChanged)
	}
	return nil
}

// missing are the folders of a path that are not there, the innermost first.
func missing(folder string) []string {
	var all []string
	for {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) || folder == filepath.Dir(folder) {
			return all
		}
		all = append(all, folder)
		folder = filepath.Dir(folder)
	}
}

// strip takes what is ours out of a text that somebody else has changed, and puts
// back what stood in its place before. exists is false when there was no file and
// none is to stay.
func (p part) strip(text []byte, r *record) (out []byte, exists bool, err error) {
	if p.format == nil {
		if r == nil {
			return nil, false, nil
		}
		return r.base, r.Existed, nil
	}
	entries, err := p.ours(text)
	if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		if text, err = p.format.Remove(text, e); err != nil {
			return nil, false, err
		}
		if text, err = p.putBack(text, e, r); err != nil {
			return nil, false, err
		}
	}
	return text, true, nil
}

// putBack writes what stood in an entry's place before it was ours.
func (p part) putBack(text []byte, e edit.Entry, r *record) ([]byte, error) {
	if r == nil || !r.Existed {
		return text, nil
	}
	was, found, err := p.format.Get(r.base, e)
	if err != nil || !found {
		return text, err
	}
	e.Value = nil
	for _, key := range sortedKeys(was) {
		e.Value = append(e.Value, edit.Field{Key: key, Value: was[key]})
	}
	return p.format.Set(text, e)
}

// among reports whether entries have one of the same place.
func among(entries []edit.Entry, e edit.Entry) bool {
	return slices.ContainsFunc(entries, func(other edit.Entry) bool { return reflect.DeepEqual(other.Path, e.Path) })
}
