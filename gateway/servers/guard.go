package servers

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"sync"
	"time"
)

// guardMark is the environment variable that marks the processes of a host, and
// what they start, for its guard.
const guardMark = "POINTSMAN_GUARD"

const guardRestartDelay = time.Second

// guard is our side of the guard process, which ends the servers' groups when
// we cannot: when we are killed, its stdin ends, and it knows what to do.
//
// A group is told to the guard right after its leader has started. What starts
// in the moment between is found by its mark, where the system lets the guard
// look (Linux).
type guard struct {
	command []string // empty: no guard
	mark    string
	log     *slog.Logger

	mu     sync.Mutex // guards the fields below
	stdin  io.WriteCloser
	groups map[int]struct{}
	closed chan struct{}
	wg     sync.WaitGroup
}

func newGuard(command []string, log *slog.Logger) *guard {
	if !needsGuard {
		command = nil
	}
	return &guard{
		command: command,
		mark:    rand.Text(),
		log:     log,
		groups:  map[int]struct{}{},
		closed:  make(chan struct{}),
	}
}

// start makes sure that the guard process runs. Servers run without it if it
// cannot be started; that is logged.
func (g *guard) start() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.command) == 0 || g.stdin != nil || g.isClosed() {
		return
	}
	if err := g.launchLocked(); err != nil {
		g.log.Error("starting the guard process: servers may outlive a crash of this program", "error", err)
	}
}

func (g *guard) isClosed() bool {
	select {
	case <-g.closed:
		return true
	default:
		return false
	}
}

func (g *guard) launchLocked() error {
	cmd := exec.Command(g.command[0], g.command[1:]...)
	cmd.Env = inherited()
	detach(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.stdin = stdin
	g.tellLocked("mark %s\n", g.mark)
	for pgid := range g.groups {
		g.tellLocked("add %d\n", pgid)
	}
	g.wg.Go(func() { g.watch(cmd) })
	return nil
}

// watch waits for the guard to end, and starts another one if it was not us who
// ended it.
func (g *guard) watch(cmd *exec.Cmd) {
	err := cmd.Wait()
	g.mu.Lock()
	g.stdin = nil
	g.mu.Unlock()
	select {
	case <-g.closed:
		return
	case <-time.After(guardRestartDelay):
	}
	g.log.Warn("the guard process ended, starting another", "error", err)
	g.start()
}

// tellLocked writes a line to the guard. An error needs no care here: the guard
// is gone, and watch starts another one, which is told everything.
func (g *guard) tellLocked(format string, args ...any) {
	if g.stdin != nil {
		_, _ = fmt.Fprintf(g.stdin, format, args...)
	}
}

func (g *guard) add(pgid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[pgid] = struct{}{}
	g.tellLocked("add %d\n", pgid)
}

func (g *guard) remove(pgid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, pgid)
	g.tellLocked("remove %d\n", pgid)
}

// leftGrace is how long what left its group has between TERM and KILL when we
// stop in order.
const leftGrace = 500 * time.Millisecond

// endLeft ends what carries our mark although every server has ended: processes
// that left their server's group. It finds them where the system lets it look
// (Linux).
func (g *guard) endLeft() { (&watched{mark: g.mark}).end(leftGrace) }

// close ends the guard process. Every server must have ended before.
func (g *guard) close() {
	g.mu.Lock()
	close(g.closed)
	g.tellLocked("quit\n")
	if g.stdin != nil {
		_ = g.stdin.Close()
	}
	g.mu.Unlock()
	g.wg.Wait()
}
