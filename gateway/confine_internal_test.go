package gateway

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
)

func TestSandboxHidesOurs(t *testing.T) {
	top := t.TempDir()
	long := filepath.Join(top, strings.Repeat("long", 25)) // too long for a socket
	for _, test := range []struct {
		name   string
		home   config.Home
		config string
		want   []string
	}{
		{"the usual", config.Home{Config: top + "/c", State: top + "/s", Runtime: top + "/r"}, top + "/c/config.yaml", []string{top + "/c", top + "/s", top + "/r"}},
		{
			"a configuration elsewhere", config.Home{Config: top + "/c", State: top + "/s", Runtime: top + "/r"}, top + "/cc/config.yaml",
			[]string{top + "/c", top + "/s", top + "/r", top + "/cc/config.yaml", top + "/cc/config.yaml.bak"},
		},
		{
			"a socket elsewhere", config.Home{Config: top + "/c", State: top + "/s", Runtime: long}, top + "/c/config.yaml",
			[]string{top + "/c", top + "/s", long, control.SocketFolder(config.Home{Runtime: long})},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := sandboxOf(test.home, test.config)
			if !slices.Equal(got.Own, test.want) {
				t.Errorf("hidden are %q, want %q", got.Own, test.want)
			}
			for _, dir := range got.Own[:3] {
				if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("%s: %v, %v", dir, info, err)
				}
			}
			if program, err := os.Executable(); err != nil || !slices.Equal(got.Keep, []string{program}) {
				t.Errorf("kept is %q, want %q", got.Keep, program)
			}
			if filepath.Dir(got.Dir) != test.home.State {
				t.Errorf("the servers' folders are in %s", got.Dir)
			}
		})
	}
}
