package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// record is a host's note on disk of what it has started, for the next host to
// find should this one and its guard be killed. It is two files: a lock, which
// the system gives back when the host dies, and the note.
type record struct {
	lock *flock.Flock
	note string // path
}

// noted is what a note says.
type noted struct {
	Mark   string         `json:"mark"`   // in the environment of everything the host started
	Groups map[int]string `json:"groups"` // by the pid of the leader: when that started
}

const (
	lockSuffix    = ".lock"
	recordsLock   = "records" + lockSuffix // held by who looks through the records, or adds one
	recordsWithin = 5 * time.Second        // to get that lock
)

// openRecord ends what hosts that were killed have left behind, and begins the
// record of a host with this mark. It may return both a record and an error.
func openRecord(dir, mark string) (_ *record, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	all := flock.New(filepath.Join(dir, recordsLock), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), recordsWithin)
	defer cancel()
	if _, err := all.TryLockContext(ctx, pollEvery); err != nil {
		return nil, fmt.Errorf("locking %s: %w", all.Path(), err)
	}
	left := endOrphans(dir) // what cannot be read keeps nobody from noting more
	defer func() { err = errors.Join(left, err, all.Unlock()) }()
	r := &record{
		lock: flock.New(filepath.Join(dir, mark+lockSuffix), flock.SetPermissions(0o600)),
		note: filepath.Join(dir, mark+".json"),
	}
	if ok, err := r.lock.TryLock(); err != nil || !ok {
		return nil, fmt.Errorf("locking %s: %w", r.lock.Path(), errors.Join(err, os.ErrExist))
	}
	return r, r.write(noted{Mark: mark})
}

// endOrphans ends what is noted in the records whose host has died.
func endOrphans(dir string) error {
	locks, err := filepath.Glob(filepath.Join(dir, "*"+lockSuffix)) // a malformed pattern cannot be made of this
	if err != nil {
		return err
	}
	var faults []error
	for _, path := range locks {
		if filepath.Base(path) == recordsLock {
			continue
		}
		r := &record{lock: flock.New(path), note: strings.TrimSuffix(path, lockSuffix) + ".json"}
		if ok, err := r.lock.TryLock(); err != nil || !ok {
			continue // its host lives
		}
		left, err := r.read()
		if err == nil {
			left.orphans().end(termGrace)
		}
		faults = append(faults, err, r.remove())
	}
	return errors.Join(faults...)
}

func (r *record) read() (noted, error) {
	var n noted
	data, err := os.ReadFile(r.note)
	if errors.Is(err, os.ErrNotExist) {
		return n, nil // it was killed before it started anything
	}
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		return noted{}, fmt.Errorf("reading what a killed Pointsman has left behind: %w", err)
	}
	return n, nil
}

func (r *record) write(n noted) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	temp := r.note + ".new"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, r.note)
}

// remove takes the record away.
func (r *record) remove() error {
	err := os.Remove(r.note)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(r.lock.Path()), r.lock.Unlock())
}

// markForm is how marks look. Anything else could be part of any environment.
var markForm = regexp.MustCompile(`^[A-Z2-7]{26,}$`)

// orphans returns those of the noted that are certainly still what was started:
// a pid may mean another process by now.
func (n noted) orphans() *watched {
	w := &watched{groups: map[int]string{}}
	if markForm.MatchString(n.Mark) {
		w.mark = n.Mark
	}
	for pgid, started := range n.Groups {
		if pgid > 1 && started != "" && startTime(pgid) == started {
			w.groups[pgid] = started
		}
	}
	return w
}
