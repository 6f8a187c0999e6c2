package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"pointsman/gateway/config"
)

// record is what was there before we changed a file.
type record struct {
	Client  string   `json:"client"`
	Part    string   `json:"part"`
	Path    string   `json:"path"`
	Existed bool     `json:"existed"`           // else undoing removes the file
	Wrote   string   `json:"wrote"`             // hash of the text that we left
	Folders []string `json:"folders,omitempty"` // that were made for it, the innermost first

	base []byte // the text as it was, which is beside the record
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// lockWait bounds how long a change waits for another process's.
const lockWait = 5 * time.Second

// locked runs a change while no other process makes one.
func (s *Setup) locked(ctx context.Context, change func() error) error {
	if err := os.MkdirAll(s.State, 0o700); err != nil {
		return fmt.Errorf("making the folder for backups: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock := flock.New(filepath.Join(s.State, ".lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return fmt.Errorf("waiting for another change: %w", err)
	}
	defer lock.Close() // which releases it; nothing was written
	return change()
}

// recordFile is where the record of a file is; the text as it was is beside it.
func (s *Setup) recordFile(target string) (record, base string) {
	name := filepath.Join(s.State, hashOf([]byte(target))[:16])
	return name + ".json", name + ".before"
}

// load reads the record of a file; nil when there is none. One whose backup is
// gone or damaged is an error.
func (s *Setup) load(target string) (*record, error) {
	name, base := s.recordFile(target)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r record
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && r.Existed {
		r.base, err = os.ReadFile(base)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was noted of %s in %s: %w", target, s.State, err)
	}
	return &r, nil
}

// save keeps a record, the backup first.
func (s *Setup) save(target string, r *record) error {
	name, base := s.recordFile(target)
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = config.WriteFile(base, r.base, 0o600, nil)
	}
	if err == nil {
		err = config.WriteFile(name, append(data, '\n'), 0o600, nil)
	}
	if err != nil {
		return fmt.Errorf("keeping a backup of %s: %w", target, err)
	}
	return nil
}

// forget removes a record and its backup.
func (s *Setup) forget(target string) error {
	name, base := s.recordFile(target)
	for _, path := range []string{name, base} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the backup of %s: %w", target, err)
		}
	}
	return nil
}
