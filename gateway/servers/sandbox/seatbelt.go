package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// seatbeltBase lets a program run at all: what it needs to start, and to look at
// itself and its own children. What is not named is denied.
const seatbeltBase = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow user-preference-read)
(allow sysctl-read)
(allow mach-host*)
(allow ipc-posix-sem)
(allow ipc-posix-shm*)
(allow pseudo-tty)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.opendirectoryd.membership") (global-name "com.apple.bsd.dirhelper") (global-name "com.apple.logd") (global-name "com.apple.system.notification_center"))
(allow file-read*)
(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
`

// seatbeltNetwork is the network, and the services that look names up and check
// certificates.
const seatbeltNetwork = `(allow network-outbound (remote ip "*:*"))
(allow network-inbound (local ip "*:*"))
(allow network-bind (local ip "*:*"))
(allow system-socket)
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup (global-name "com.apple.trustd.agent") (global-name "com.apple.networkd") (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.SystemConfiguration.DNSConfiguration"))
`

// Seatbelt is what a profile of sandbox-exec is made of. All paths are absolute,
// with links followed.
type Seatbelt struct {
	Outbound bool     // the network is allowed
	Write    []string // may be written
	Hidden   []string // may be neither read nor written
	Keep     []string // may not be written
	Private  []string // may be read and written, also inside a hidden folder
}

// Profile returns the profile, in the language of macOS's sandbox, in which the
// last rule that matches counts.
func (s Seatbelt) Profile() string {
	var b strings.Builder
	b.WriteString(seatbeltBase)
	if s.Outbound {
		b.WriteString(seatbeltNetwork)
	}
	rule := func(what, filter string, paths []string) {
		for _, path := range paths {
			fmt.Fprintf(&b, "(%s (%s %s))\n", what, filter, seatbeltString(path))
		}
	}
	rule("allow file-write*", "subpath", s.Write)
	rule("deny file-read* file-write*", "subpath", s.Hidden)
	rule("deny file-write*", "subpath", s.Keep)
	rule("deny file-write-unlink", "literal", s.pins())
	for _, path := range s.Private {
		rule("allow file-read-metadata", "literal", between("/", path))
	}
	rule("allow file-read* file-write*", "subpath", s.Private)
	return b.String()
}

// pins are the folders whose renaming would put something else in the place of
// what is hidden or kept.
func (s Seatbelt) pins() []string {
	var pins []string
	for _, path := range slices.Concat(s.Hidden, s.Keep) {
		for _, w := range s.Write {
			if within(path, w) {
				pins = append(pins, between(w, path)...)
			}
		}
	}
	slices.Sort(pins)
	return slices.Compact(pins)
}

// seatbeltString quotes a path. Any byte may be in one.
func seatbeltString(path string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.ToSlash(path))
	return `"` + quoted + `"`
}
