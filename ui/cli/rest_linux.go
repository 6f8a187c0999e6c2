package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// dropFilePages gives up the pages of the files that the program is made of, its
// own and its libraries', code and constants, of which starting touched many that
// are not needed again; those that are come back from the file. With a window
// toolkit in it, they are most of what an idle resident would hold, and with a
// renderer in software a third of what the windows would. That it cannot be done
// costs nothing but that.
func dropFilePages() {
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, m := range cleanMappings(maps) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a part of the address space.
type mapping struct{ from, to uintptr }

// cleanMappings are those of files, read from /proc/PID/smaps, whose pages are all
// as they are in the file: nobody may write to them, and nobody has. The loader
// writes to some before it makes them read-only, and what it wrote is not in the
// file.
func cleanMappings(smaps io.Reader) []mapping {
	var clean []mapping
	ours := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		var m mapping
		var may string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &may); n == 3 {
			if ours = strings.Contains(line, " /") && (may == "r--p" || may == "r-xp"); ours {
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
