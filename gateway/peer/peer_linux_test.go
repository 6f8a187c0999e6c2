package peer

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestOwnConnection finds our own socket in the system's table, over both
// families.
func TestOwnConnection(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "[::]:0"} {
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // no IPv6 here
			continue
		}
		_, port, err := net.SplitHostPort(ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		host := "127.0.0.1"
		if address == "[::1]:0" {
			host = "::1"
		}
		client, err := net.Dial("tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Fatal(err)
		}
		server, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if Foreign(server.LocalAddr(), server.RemoteAddr()) {
			t.Errorf("%s: our own connection is another user's", address)
		}
		local, remote := server.LocalAddr().(*net.TCPAddr).AddrPort(), server.RemoteAddr().(*net.TCPAddr).AddrPort()
		found := false
		for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			if text, err := os.ReadFile(table); err == nil {
				owner, ok := ownerIn(strings.NewReader(string(text)), remote, local)
				found = found || ok && owner == os.Getuid()
			}
		}
		if !found {
			t.Errorf("%s: the connection is in no table", address)
		}
		_, _, _ = client.Close(), server.Close(), ln.Close()
	}
}

func TestOwnerIn(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   990        0 111 1
   1: 0100007F:D431 0100007F:2CAA 01 00000000:00000000 00:00000000 00000000  1001        0 222 1
   2: 0100007F:2CAA 0100007F:D431 01 00000000:00000000 00:00000000 00000000   990        0 333 1
   3: 0000000000000000FFFF00000100007F:D432 0000000000000000FFFF00000100007F:2CAA 01 00000000:00000000 00:00000000 00000000  1002 0 444 1
   4: 00000000000000000000000001000000:D433 00000000000000000000000001000000:2CAA 01 00000000:00000000 00:00000000 00000000  1003 0 555 1
   5: 0100007F:D434 0100007F:2CAA 01 00000000:00000000 00:00000000 00000000  nobody 0 666 1
   6: cut
`
	for name, test := range map[string]struct {
		from, to string
		owner    int
		found    bool
	}{
		"theirs":          {"127.0.0.1:54321", "127.0.0.1:11434", 1001, true},
		"our end":         {"127.0.0.1:11434", "127.0.0.1:54321", 990, true},
		"mapped":          {"127.0.0.1:54322", "127.0.0.1:11434", 1002, true},
		"mapped, as such": {"[::ffff:127.0.0.1]:54322", "[::ffff:127.0.0.1]:11434", 1002, true},
		"IPv6":            {"[::1]:54323", "[::1]:11434", 1003, true},
		"no number":       {"127.0.0.1:54324", "127.0.0.1:11434", 0, false},
		"another port":    {"127.0.0.1:54321", "127.0.0.1:11435", 0, false},
		"nobody":          {"127.0.0.1:1", "127.0.0.1:11434", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			owner, found := ownerIn(strings.NewReader(table), netip.MustParseAddrPort(test.from), netip.MustParseAddrPort(test.to))
			if owner != test.owner || found != test.found {
				t.Errorf("got %d, %v", owner, found)
			}
		})
	}
}

// TestForeignUser connects as another user of this machine, which root alone can.
func TestForeignUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can connect as another user")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dialed := make(chan net.Conn, 1)
	go func() {
		defer close(dialed)
		runtime.LockOSThread() // and never unlock it: the thread ends, with its user, when this does
		const nobody = 65534
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			t.Errorf("becoming another user: %v", errno)
			return
		}
		client, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Errorf("connecting as another user: %v", err)
			return
		}
		dialed <- client
	}()
	client, ok := <-dialed
	if !ok {
		return
	}
	defer client.Close()
	server, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if !Foreign(server.LocalAddr(), server.RemoteAddr()) {
		t.Error("another user's connection is taken for our own")
	}
}
