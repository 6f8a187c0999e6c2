package servers

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"pointsman/gateway/servers/process"
	"pointsman/gateway/servers/sandbox"
)

// confined reports whether the server's process may only run in a sandbox.
func (s *server) confined() bool { return s.entry.Sandbox != nil && s.entry.Sandbox.Enabled }

// box returns what confines the server, or nil when its entry does not ask for
// it. dir is its working directory.
func (s *server) box(ctx context.Context, dir string) (*sandbox.Box, error) {
	if !s.confined() {
		return nil, nil
	}
	rules := sandbox.Rules{
		AllowOutbound: s.entry.Sandbox.Network.AllowOutbound,
		WriteDir:      s.entry.Cwd != "" || s.entry.WorkingDirectory != "",
	}
	var err error
	files := s.entry.Sandbox.Filesystem
	if rules.AllowWrite, err = s.paths(ctx, "allowWrite", dir, files.AllowWrite); err != nil {
		return nil, err
	}
	if rules.DenyRead, err = s.paths(ctx, "denyRead", dir, files.DenyRead); err != nil {
		return nil, err
	}
	return sandbox.New(s.host.opts.Sandbox, s.name, rules)
}

// paths expands the paths of one list of the sandbox; they are relative to dir.
func (s *server) paths(ctx context.Context, list, dir string, texts []string) ([]string, error) {
	var paths []string
	for i, text := range texts {
		what := fmt.Sprintf("sandbox.filesystem.%s[%d]", list, i)
		path, err := s.expand(ctx, what, text)
		if err != nil {
			return nil, err
		}
		if path == "" {
			return nil, fmt.Errorf("%s is empty", what)
		}
		if path = process.ExpandHome(path); !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// explainConfined adds to why a confined server has failed that it was confined,
// which it cannot know to say.
func (s *server) explainConfined(err error) error {
	if !s.confined() {
		return err
	}
	if strings.HasPrefix(s.stderr.last(), "bwrap: ") {
		return fmt.Errorf("%w (bubblewrap could not confine it, so it was not started: see that this system allows user namespaces, or set sandbox.enabled to false to run it unconfined)", err)
	}
	reach := "without network"
	if s.entry.Sandbox.Network.AllowOutbound {
		reach = "with network"
	}
	return fmt.Errorf("%w (it is confined by its `sandbox`, %s)", err, reach)
}
