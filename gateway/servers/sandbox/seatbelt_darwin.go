package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// seatbeltTool comes with the system; one of another place would be another one.
const seatbeltTool = "/usr/bin/sandbox-exec"

func findTool() (string, error) {
	if _, err := os.Stat(seatbeltTool); err != nil {
		return "", errors.New("its `sandbox` is enabled, and " + seatbeltTool + ", which confines servers, is not there: it is not started; set sandbox.enabled to false to run it unconfined")
	}
	return seatbeltTool, nil
}

func (b *Box) folders() (cache, tmp string) {
	return filepath.Join(b.private, "cache"), filepath.Join(b.private, "tmp")
}

// wrap makes cmd run by sandbox-exec, which becomes the command: pid and group
// are the same.
func (b *Box) wrap(s *survey, cmd *exec.Cmd) error {
	for _, path := range slices.Concat(s.write, s.hidden, s.spare, s.keep) {
		if strings.ContainsAny(path, "\x00\n") {
			return errors.New("sandbox: a path with a line break in it cannot be put into a profile of sandbox-exec")
		}
	}
	profile := Seatbelt{
		Outbound: b.rules.AllowOutbound, Write: s.write, Hidden: slices.Concat(s.hidden, s.spare), Keep: s.keep, Private: []string{b.private},
	}.Profile()
	cmd.Args = append([]string{b.tool, "-p", profile, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = b.tool
	return nil
}

// Inner returns 0: a confined command runs in the group it was started in.
func Inner(int) int { return 0 }
