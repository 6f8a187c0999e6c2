//go:build unix

package process

import (
	"os/exec"
	"os/signal"
	"syscall"
)

const needsGuard = true

const (
	probeSignal     = syscall.Signal(0)
	terminateSignal = syscall.SIGTERM
	killSignal      = syscall.SIGKILL
)

// detach gives cmd a session of its own, out of reach of the terminal's signals.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE) }

// signal sends sig to everything that is left and reports whether there was
// anything.
func (w *watched) signal(sig syscall.Signal) bool {
	found := false
	for pgid, started := range w.groups {
		if !ours(pgid, started) {
			continue
		}
		if syscall.Kill(-pgid, sig) == nil {
			found = true
		}
	}
	for _, pid := range markedProcesses(w.mark) {
		if syscall.Kill(pid, sig) == nil {
			found = true
		}
	}
	return found
}

// ours reports whether the group pgid is still the one that was added. A pid is
// not used again while it is the id of a group, so if there is a leader and it
// is another one, our group is gone.
func ours(pgid int, started string) bool {
	now := startTime(pgid)
	return started == "" || now == "" || now == started
}
