package process

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

// Guard is our side of the guard process, which ends the servers' groups when
// we cannot: when we are killed, its stdin ends, and it knows what to do.
//
// A group is told to the guard right after its leader has started. What starts
// in the moment between is found by its mark, where the system lets the guard
// look (Linux).
type Guard struct {
	command []string // empty: no guard
	records string   // where hosts note what they have started; empty: nowhere
	mark    string
	log     *slog.Logger

	mu     sync.Mutex // guards the fields below
	stdin  io.WriteCloser
	groups map[int]string // by the pid of the leader: when that started
	record *record        // nil: nothing is noted
	closed chan struct{}
	wg     sync.WaitGroup
}

// NewGuard returns a guard that runs command, which must call RunGuard, when the
// first program is started; with an empty one there is no guard process, and what
// ignores a closed stdin outlives us when we are killed. What runs is noted in
// the directory records, which several guards may share; nothing is noted when it
// is "".
func NewGuard(command []string, records string, log *slog.Logger) *Guard {
	if !needsGuard {
		command, records = nil, ""
	}
	return &Guard{
		command: command,
		records: records,
		mark:    rand.Text(),
		log:     log,
		groups:  map[int]string{},
		closed:  make(chan struct{}),
	}
}

// Variable is what the environment of each program must have (NAME=value), by
// which what it starts is found.
func (g *Guard) Variable() string { return guardMark + "=" + g.mark }

// start makes sure that the guard process runs. Servers run without it if it
// cannot be started; that is logged.
func (g *Guard) start() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.command) == 0 || g.stdin != nil || g.isClosed() {
		return
	}
	if err := g.launchLocked(); err != nil {
		g.log.Error("starting the guard process: servers may outlive a crash of this program", "error", err)
	}
}

func (g *Guard) isClosed() bool {
	select {
	case <-g.closed:
		return true
	default:
		return false
	}
}

func (g *Guard) launchLocked() error {
	cmd := exec.Command(g.command[0], g.command[1:]...)
	cmd.Env = Inherited()
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
func (g *Guard) watch(cmd *exec.Cmd) {
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
func (g *Guard) tellLocked(format string, args ...any) {
	if g.stdin != nil {
		_, _ = fmt.Fprintf(g.stdin, format, args...)
	}
}

func (g *Guard) add(pgid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[pgid] = startTime(pgid)
	g.tellLocked("add %d\n", pgid)
	g.noteLocked()
}

func (g *Guard) remove(pgid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, pgid)
	g.tellLocked("remove %d\n", pgid)
	g.noteLocked()
}

// noteLocked notes which groups there are. The mark finds them where that fails.
func (g *Guard) noteLocked() {
	if g.record == nil {
		return
	}
	if err := g.record.write(noted{Mark: g.mark, Groups: g.groups}); err != nil {
		g.log.Warn("noting which servers run: they may not be found after a crash of this program", "error", err)
	}
}

// Sweep ends what hosts that were killed, with their guards, have left behind,
// and begins to note what this one starts.
func (g *Guard) Sweep() {
	if g.records == "" {
		return
	}
	record, err := openRecord(g.records, g.mark)
	if err != nil {
		g.log.Warn("looking for servers that were left behind by a crash", "error", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.record = record
	g.noteLocked()
}

// leftGrace is how long what left its group has between TERM and KILL when we
// stop in order.
const leftGrace = 300 * time.Millisecond

// EndLeft ends what carries our mark although every server has ended: processes
// that left their server's group. It finds them where the system lets it look
// (Linux).
func (g *Guard) EndLeft() { (&watched{mark: g.mark}).end(leftGrace) }

// Close ends the guard process. Every server must have ended before.
func (g *Guard) Close() {
	g.mu.Lock()
	close(g.closed)
	g.tellLocked("quit\n")
	if g.stdin != nil {
		_ = g.stdin.Close()
	}
	if g.record != nil {
		if err := g.record.remove(); err != nil {
			g.log.Warn("removing the note of which servers run", "error", err)
		}
		g.record = nil
	}
	g.mu.Unlock()
	g.wg.Wait()
}
