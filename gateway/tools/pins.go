package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// pinsVersion is the version of the pins file.
const pinsVersion = 1

// Pins remember each tool's definition as it was when first seen, or as last
// accepted by a person, so that a server cannot change a tool behind a consent.
// They may be used from many goroutines at once.
type Pins struct {
	path string // fixed at creation

	saving sync.Mutex // held while the file is written; taken before mu

	mu     sync.Mutex // guards the fields below
	pins   map[pinKey]pin
	lost   bool   // earlier pins could not be read: a tool without a pin counts as changed
	unread []byte // what the file held when it could not be understood; nil once kept
	dirty  bool   // there is something to save
}

type pinKey struct{ server, tool string }

// pin is one definition as saved. Text is what a person sees of it in a diff.
type pin struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Hash   string `json:"hash"`
	Text   string `json:"text"`
}

// pinsFile is the file's content.
type pinsFile struct {
	Version int   `json:"version"`
	Lost    bool  `json:"lost,omitempty"` // see Pins.lost
	Pins    []pin `json:"pins"`
}

// Change says how a definition stands to its pin.
type Change struct {
	New     bool   // seen for the first time, and pinned now
	Changed bool   // not what was pinned; stays so until Accept
	Diff    string // from the pinned definition to this one, in unified format; "" unless Changed
}

// OpenPins reads the pins of a state directory's file. A file that does not
// exist is no error. When the file cannot be read or understood, the returned
// Pins are usable beside the error: they report every tool as changed until it
// is accepted, also after a restart, and the first Save keeps the unreadable file
// under its name with ".bak" added.
func OpenPins(path string) (*Pins, error) {
	p := &Pins{path: path, pins: map[pinKey]pin{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = p.load(data)
	}
	if err != nil {
		p.pins, p.lost, p.unread = map[pinKey]pin{}, true, data
		return p, fmt.Errorf("reading the pinned tool definitions %q: %w; each tool counts as changed until it is approved again", path, err)
	}
	return p, nil
}

func (p *Pins) load(data []byte) error {
	var file pinsFile
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	if file.Version != pinsVersion {
		return fmt.Errorf("version %d is not known, only %d", file.Version, pinsVersion)
	}
	p.lost = file.Lost
	for _, pin := range file.Pins {
		p.pins[pinKey{pin.Server, pin.Tool}] = pin
	}
	return nil
}

// Check compares a definition with its pin, and pins it when there is none. It
// touches no file: call Save from time to time.
func (p *Pins) Check(def Definition) Change {
	key := pinKey{def.Server, def.Name}
	p.mu.Lock()
	defer p.mu.Unlock()
	old, pinned := p.pins[key]
	switch {
	case pinned && old.Hash == def.Hash:
		return Change{}
	case !pinned && !p.lost:
		p.setLocked(def)
		return Change{New: true}
	}
	return Change{Changed: true, Diff: unifiedDiff(old.Text, readable(&def))}
}

// Accept pins a definition after a person approved a call of it.
func (p *Pins) Accept(def Definition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pins[pinKey{def.Server, def.Name}].Hash != def.Hash {
		p.setLocked(def)
	}
}

func (p *Pins) setLocked(def Definition) {
	p.pins[pinKey{def.Server, def.Name}] = pin{def.Server, def.Name, def.Hash, readable(&def)}
	p.dirty = true
}

// Save writes the pins when something changed since the last Save. The file is
// replaced whole or not at all, and is readable by its owner alone.
func (p *Pins) Save() error {
	p.saving.Lock()
	defer p.saving.Unlock()
	data, unread, err := p.takeDirty()
	if data == nil || err != nil {
		return err
	}
	if len(unread) > 0 {
		err = replaceFile(p.path+".bak", unread)
	}
	if err == nil {
		err = replaceFile(p.path, data)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.dirty = true
		return fmt.Errorf("saving the pinned tool definitions %q: %w", p.path, err)
	}
	p.unread = nil
	return nil
}

// takeDirty returns what to write, or nil when nothing changed, and what the
// file held that must be kept beside it.
func (p *Pins) takeDirty() (data, unread []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dirty {
		return nil, nil, nil
	}
	file := pinsFile{Version: pinsVersion, Lost: p.lost, Pins: sortedPins(p.pins)}
	if data, err = json.MarshalIndent(file, "", " "); err != nil {
		return nil, nil, fmt.Errorf("encoding the pinned tool definitions: %w", err)
	}
	p.dirty = false
	return data, p.unread, nil
}

func sortedPins(pins map[pinKey]pin) []pin {
	return slices.SortedFunc(maps.Values(pins), func(a, b pin) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
}

// replaceFile writes a temporary file, syncs it and renames it over path.
func replaceFile(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
