package journal_test

import (
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"

	"pointsman/gateway/journal"
)

// TestFirstOpenedTogether opens a file that is not there yet from several sides
// at once, as `serve` and a `status` beside it do.
func TestFirstOpenedTogether(t *testing.T) {
	same := func(s string) string { return s }
	sameJSON := func(raw json.RawMessage) json.RawMessage { return raw }
	for range 40 {
		path := filepath.Join(t.TempDir(), "journal.db")
		var opened sync.WaitGroup
		for range 6 {
			opened.Go(func() {
				j, err := journal.Open(path, journal.Options{Redact: same, RedactJSON: sameJSON})
				if err != nil {
					t.Error(err)
					return
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		opened.Wait()
	}
}
