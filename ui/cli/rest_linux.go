package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// dropOwnPages gives up the pages of the program's file, code and constants, of
// which starting touched many that are not needed again; those that are come
// back from the file. With a window toolkit in it, they are most of what an idle
// resident would hold. That it cannot be done costs nothing but that.
func dropOwnPages() {
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uintptr
		var may string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &may); err != nil {
			continue
		}
		if strings.HasSuffix(lines.Text(), " "+own) && !strings.Contains(may, "w") {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED)
		}
	}
}
