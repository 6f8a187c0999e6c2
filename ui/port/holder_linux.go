package port

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// listening is the state of a listening socket in /proc/net/tcp.
const listening = "0A"

// holder names the process that listens on an address's port, or returns ""
// when the system does not tell.
func holder(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return ""
	}
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		addListening(inodes, table, fmt.Sprintf(":%04X", number))
	}
	return holderOf(inodes)
}

// addListening adds the inodes of the sockets that listen on a port.
func addListening(inodes map[string]bool, table, port string) {
	file, err := os.Open(table)
	if err != nil {
		return // no IPv6, or no /proc
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && strings.HasSuffix(fields[1], port) && fields[3] == listening {
			inodes["socket:["+fields[9]+"]"] = true
		}
	}
}

// holderOf finds the process that has one of the sockets open.
func holderOf(sockets map[string]bool) string {
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return ""
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !sockets[target] {
			continue
		}
		pid := strings.Split(link, "/")[2]
		name, err := os.ReadFile("/proc/" + pid + "/comm")
		if err != nil {
			return "process " + pid
		}
		return fmt.Sprintf("process %s (%s)", pid, strings.TrimSpace(string(name)))
	}
	return ""
}
