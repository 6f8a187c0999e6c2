package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestCleanMappings: what the loader wrote is never given up.
func TestCleanMappings(t *testing.T) {
	const smaps = `00400000-00404000 r--p 00000000 fe:00 1 /a b/pointsman
Size:                 16 kB
Anonymous:             0 kB
Swap:                  0 kB
00404000-018d2000 r-xp 00004000 fe:00 1 /a b/pointsman
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me sd
02cd0000-02cd1000 r--p 02cd0000 fe:00 1 /a b/pointsman
Anonymous:             4 kB
Swap:                  0 kB
02cd1000-02cd2000 r--p 02cd1000 fe:00 1 /a b/pointsman
Anonymous:             0 kB
Swap:                  4 kB
02cd2000-02cd3000 rw-p 02cd2000 fe:00 1 /a b/pointsman
Anonymous:             0 kB
Swap:                  0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 2 /lib/libX11.so
Anonymous:             0 kB
Swap:                  0 kB
7f0000001000-7f0000002000 rw-s 00000000 00:01 3 /SYSV00000000 (deleted)
7f0000002000-7f0000003000 r--s 00000000 00:01 4 /dev/shm/shared
7ffe00000000-7ffe00001000 rw-p 00000000 00:00 0 [stack]
Anonymous:             4 kB
`
	own := []mapping{{0x400000, 0x404000}, {0x404000, 0x18d2000}}
	for file, want := range map[string][]mapping{
		"/a b/pointsman": own,
		"":               append(own, mapping{0x7f0000000000, 0x7f0000001000}),
		"/pointsman":     nil,
	} {
		if got := cleanMappings(strings.NewReader(smaps), file); !slices.Equal(got, want) {
			t.Errorf("of %q: got %x, want %x", file, got, want)
		}
	}
}
