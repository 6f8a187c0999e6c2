//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// group is a process group, by the pid of its leader.
type group struct{ pgid int }

// keepFiles sees to it that what we start gets none of our open files but those it
// is given. Go's own are kept from it in any case. Those that we were started with
// are not, and a folder or a socket among them would lead out of a sandbox.
func keepFiles() error {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return fmt.Errorf("keeping our open files from it: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("keeping our open files from it: %w", err)
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// startGroup starts cmd as the leader of a new group.
func startGroup(cmd *exec.Cmd) (group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return group{}, err
	}
	return group{pgid: cmd.Process.Pid}, nil
}

// alive reports whether the group has a process. The leader must have been
// waited for, or it counts as one.
func (g group) alive() bool { return syscall.Kill(-g.pgid, 0) != syscall.ESRCH }

func (g group) terminate() { _ = syscall.Kill(-g.pgid, syscall.SIGTERM) }

func (g group) kill() { _ = syscall.Kill(-g.pgid, syscall.SIGKILL) }

func (g group) close() {}

// terminateGroup asks the group with this leader to end.
func terminateGroup(leader int) { group{pgid: leader}.terminate() }
