package peer

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// foreign looks for the other end's socket in the tables of /proc/net, where it
// stands with the addresses the other way round.
func foreign(local, remote netip.AddrPort) bool {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue // no IPv6, or no /proc
		}
		owner, found := ownerIn(file, remote, local)
		_ = file.Close() // it was read
		if found {
			return owner != 0 && owner != os.Getuid()
		}
	}
	return false
}

// The columns of a socket's line in /proc/net/tcp and tcp6; see proc_net_tcp.rst
// of the kernel's documentation.
const (
	localColumn  = 1
	remoteColumn = 2
	ownerColumn  = 7
)

// ownerIn returns the user id of the socket between two addresses.
func ownerIn(table io.Reader, local, remote netip.AddrPort) (owner int, found bool) {
	ours, theirs := spellings(local), spellings(remote)
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) <= ownerColumn || !ours[fields[localColumn]] || !theirs[fields[remoteColumn]] {
			continue
		}
		id, err := strconv.ParseUint(fields[ownerColumn], 10, 31)
		return int(id), err == nil
	}
	return 0, false
}

// spellings are the ways in which the kernel writes an address: as words in the
// machine's own order, an IPv4 address also as an IPv6 one.
func spellings(a netip.AddrPort) map[string]bool {
	port := fmt.Sprintf(":%04X", a.Port())
	mapped := a.Addr().As16()
	all := map[string]bool{words(mapped[:]) + port: true}
	if addr := a.Addr().Unmap(); addr.Is4() {
		four := addr.As4()
		all[words(four[:])+port] = true
	}
	return all
}

func words(address []byte) string {
	var text strings.Builder
	for ; len(address) > 0; address = address[4:] {
		fmt.Fprintf(&text, "%08X", binary.NativeEndian.Uint32(address))
	}
	return text.String()
}
