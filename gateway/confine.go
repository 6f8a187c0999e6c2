package gateway

import (
	"os"
	"path/filepath"
	"strings"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/servers/sandbox"
)

// sandboxOf returns what all confined servers have in common: none of them sees
// our folders or the configuration, or changes our program. Our folders are made,
// as only what is there can be hidden where a server may write.
func sandboxOf(home config.Home, configFile string) sandbox.Options {
	opts := sandbox.Options{Dir: filepath.Join(home.State, "sandbox")}
	for _, dir := range []string{home.Config, home.State, home.Runtime} {
		_ = os.MkdirAll(dir, 0o700) // else a server that could put one there does not start
		opts.Own = append(opts.Own, dir)
	}
	if dir := control.SocketFolder(home); dir != home.Runtime {
		opts.Own = append(opts.Own, dir)
	}
	if !strings.HasPrefix(configFile, home.Config+string(filepath.Separator)) {
		opts.Own = append(opts.Own, configFile, configFile+".bak")
	}
	if program, err := os.Executable(); err == nil {
		opts.Keep = []string{program}
	}
	return opts
}
