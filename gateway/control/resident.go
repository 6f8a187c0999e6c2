package control

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"pointsman/gateway/config"
)

// Info is what a resident tells of itself in its runtime directory.
type Info struct {
	PID    int       `json:"pid"`
	Socket string    `json:"socket"`
	Listen string    `json:"listen"`
	Config string    `json:"config"` // path of the configuration file; "" when not told
	Since  time.Time `json:"since"`
}

// maxSocketPath is the longest path of a socket that every platform takes.
const maxSocketPath = 100

// Resident is the right to be the user's one resident. Release gives it back.
type Resident struct {
	lock     *flock.Flock
	infoPath string
	info     Info
}

// RunningError says that there is a resident already.
type RunningError struct{ Info Info }

func (e *RunningError) Error() string {
	if e.Info.PID == 0 {
		return "another Pointsman is just starting"
	}
	return fmt.Sprintf("Pointsman is already running (process %d, serving %s)", e.Info.PID, e.Info.Listen)
}

// elsewhere is the advice when the runtime directory cannot be used.
const elsewhere = "set POINTSMAN_HOME to a directory of yours that can be written"

// Claim makes this process the resident, or returns a *RunningError.
func Claim(home config.Home) (*Resident, error) {
	if err := os.MkdirAll(home.Runtime, 0o700); err != nil {
		return nil, fmt.Errorf("making the runtime directory: %w; %s", err, elsewhere)
	}
	r := &Resident{lock: flock.New(filepath.Join(home.Runtime, "resident.lock"), flock.SetPermissions(0o600)), infoPath: infoPath(home)}
	ok, err := r.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w; %s", r.lock.Path(), err, elsewhere)
	}
	if !ok {
		info, err := readInfo(home)
		if errors.Is(err, os.ErrNotExist) {
			return nil, &RunningError{} // it has only just begun
		}
		if err != nil {
			return nil, fmt.Errorf("another Pointsman holds %s: %w", r.lock.Path(), err)
		}
		return nil, &RunningError{Info: info}
	}
	r.info = Info{PID: os.Getpid(), Since: time.Now()}
	if r.info.Socket, err = socketPath(home); err != nil {
		return nil, errors.Join(err, r.lock.Unlock())
	}
	return r, nil
}

// Listen opens the control socket and tells where it is. listen is the HTTP
// door's address, file the configuration's path.
func (r *Resident) Listen(listen, file string) (net.Listener, error) {
	r.info.Listen, r.info.Config = listen, file
	if err := os.Remove(r.info.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("removing an old control socket: %w", err)
	}
	ln, err := net.Listen("unix", r.info.Socket)
	if err != nil {
		return nil, fmt.Errorf("opening the control socket %s: %w", r.info.Socket, err)
	}
	if err := os.Chmod(r.info.Socket, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protecting the control socket: %w", err), ln.Close())
	}
	data, err := json.Marshal(r.info)
	if err == nil {
		err = writeFile(r.infoPath, data)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("telling where the control socket is: %w", err), ln.Close())
	}
	return ln, nil
}

// Release gives up being the resident.
func (r *Resident) Release() error {
	err := os.Remove(r.infoPath)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, r.lock.Unlock())
}

func infoPath(home config.Home) string { return filepath.Join(home.Runtime, "resident.json") }

func readInfo(home config.Home) (Info, error) {
	var info Info
	data, err := os.ReadFile(infoPath(home))
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("reading %s: %w", infoPath(home), err)
	}
	return info, nil
}

// writeFile replaces a file whole.
func writeFile(path string, data []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// socketPath is where the control socket goes: the runtime directory, or a
// short folder of ours when that path is too long for a socket.
func socketPath(home config.Home) (string, error) {
	dir := SocketFolder(home)
	path := filepath.Join(dir, "control.sock")
	if dir == home.Runtime {
		return path, nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("making a folder for the control socket: %w", err)
	}
	if err := ownPrivate(dir); err != nil {
		return "", err
	}
	return path, nil
}

// SocketFolder returns the folder of the control socket, which may not be there.
func SocketFolder(home config.Home) string {
	if len(filepath.Join(home.Runtime, "control.sock")) <= maxSocketPath {
		return home.Runtime
	}
	sum := sha256.Sum256([]byte(home.Runtime))
	return filepath.Join(os.TempDir(), fmt.Sprintf("pointsman-%x", sum[:6]))
}

// Dial returns a client of the running resident, or ErrNoResident.
func Dial(ctx context.Context, home config.Home) (*Client, error) {
	info, err := readInfo(home)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNoResident
	}
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, elsewhere)
	}
	client := newClient(info, func(ctx context.Context) (net.Conn, error) {
		dialer := net.Dialer{Timeout: 2 * time.Second}
		return dialer.DialContext(ctx, "unix", info.Socket)
	})
	conn, err := client.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w (its control socket does not answer)", ErrNoResident)
	}
	_ = conn.Close() // it was a knock on the door
	return client, nil
}
