package servers

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"

	"pointsman/gateway/servers/process"
)

// hiddenWatch watches what is hidden from a confined server only as long as
// nothing else takes its name. nil watches nothing.
type hiddenWatch struct {
	files   []string
	changes *fsnotify.Watcher
}

// exposedError says that the server was ended because it would have seen
// something that is hidden from it.
type exposedError struct{ path string }

func (e *exposedError) Error() string {
	return fmt.Sprintf("%s, which is hidden from it, is another file now: it was ended, to be confined anew", e.path)
}

func isExposed(err error) bool {
	var exposed *exposedError
	return errors.As(err, &exposed)
}

// watchHidden begins to watch. It is called before the server starts, so that
// nothing is missed.
func watchHidden(files []string) (*hiddenWatch, error) {
	if len(files) == 0 {
		return nil, nil
	}
	changes, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching what is hidden from it: %w", err)
	}
	for _, file := range files {
		err := changes.Add(filepath.Dir(file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			_ = changes.Close()
			return nil, fmt.Errorf("watching what is hidden from it: %w", err)
		}
	}
	return &hiddenWatch{files, changes}, nil
}

// run ends the server when something takes the name of what is hidden. It returns
// when the session ends.
func (w *hiddenWatch) run(sess *session, p *process.Process) {
	if w == nil {
		return
	}
	defer w.close()
	for {
		select {
		case <-sess.calls.Done():
			return
		case event := <-w.changes.Events:
			if !event.Has(fsnotify.Create) || !slices.Contains(w.files, event.Name) {
				continue
			}
			p.Kill()
			sess.fail(&exposedError{event.Name})
			return
		case err := <-w.changes.Errors: // something was missed
			p.Kill()
			sess.fail(fmt.Errorf("watching what is hidden from it: %w", err))
			return
		}
	}
}

func (w *hiddenWatch) close() {
	if w != nil {
		_ = w.changes.Close()
	}
}
