// Package peer tells whose program is at the other end of a connection within this
// machine, where the system says so. It starts no goroutine and keeps nothing.
package peer

import "net"

// Foreign reports whether the system says that the other end of a loopback
// connection is another user's. local and remote are the connection's addresses as
// our end has them. Root's own programs are not held to be foreign: they may do
// everything as it is. Where the system does not tell (everywhere but on Linux),
// nobody is.
func Foreign(local, remote net.Addr) bool {
	from, ok := remote.(*net.TCPAddr)
	if !ok || !from.IP.IsLoopback() {
		return false
	}
	to, ok := local.(*net.TCPAddr)
	return ok && foreign(to.AddrPort(), from.AddrPort())
}
