package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// dropOwnPages gives up the pages of the program's file, code and constants, of
// which starting touched many that are not needed again; those that are come
// back from the file. With a window toolkit in it, they are most of what an idle
// resident would hold. That it cannot be done costs nothing but that.
func dropOwnPages() {
	if own, err := os.Readlink("/proc/self/exe"); err == nil {
		dropPages(own)
	}
}

// dropFilePages does the same for the libraries, too: a renderer in software is a
// third of what the windows would hold. No thread may load or unload one meanwhile.
func dropFilePages() { dropPages("") }

// dropPages gives up the pages of a file; of all files for "".
func dropPages(file string) {
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, m := range cleanMappings(maps, file) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a part of the address space.
type mapping struct{ from, to uintptr }

// cleanMappings are those of a file, or of all for "", read from /proc/PID/smaps,
// whose pages are all as they are in the file: nobody may write to them, and
// nobody has. The loader writes to some before it makes them read-only, and what
// it wrote is not in the file.
func cleanMappings(smaps io.Reader, file string) []mapping {
	var clean []mapping
	ours := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		var m mapping
		var may string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &may); n == 3 {
			_, of, _ := strings.Cut(line, " /")
			ours = of != "" && (file == "" || "/"+of == file) && (may == "r--p" || may == "r-xp")
			if ours {
				clean = append(clean, m)
			}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		written := (name == "Anonymous" || name == "Swap") && strings.TrimSpace(value) != "0 kB"
		if ours && written {
			clean, ours = clean[:len(clean)-1], false
		}
	}
	return clean
}
