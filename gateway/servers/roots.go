package servers

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots; four of the servers in use ask for them all the same.

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// announceRoots says that we have roots, and that they may change.
func announceRoots(caps *mcp.ClientCapabilities) {
	caps.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
}

// SetRoots changes the directories told to servers. Those that are connected are
// told that they have changed; none is restarted. ${workspaceFolder} stands for
// the new first one where a server is started from now on.
func (h *Host) SetRoots(dirs []string) {
	h.mu.Lock()
	h.dirs = slices.Clone(dirs)
	h.mu.Unlock()
	for _, s := range h.list() {
		select {
		case s.moved <- struct{}{}:
		default: // it is about to look
		}
	}
}

// roots returns the directories told to servers now.
func (h *Host) roots() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dirs
}

// setRoots makes the SDK's client answer with the directories when a server asks,
// and tells the server if they have changed. A stateless server asks as part of
// its results, and is not told. Only the server's goroutine may call it.
func (sess *session) setRoots(dirs []string) {
	if sess.cs != nil && sess.stateless() || slices.Equal(dirs, sess.roots) {
		return
	}
	gone := slices.DeleteFunc(slices.Clone(sess.roots), func(dir string) bool { return slices.Contains(dirs, dir) })
	sess.roots = dirs
	uris := []string{}
	for _, root := range rootsOf(gone) {
		uris = append(uris, root.URI)
	}
	sess.client.RemoveRoots(uris...)
	sess.client.AddRoots(rootsOf(dirs)...)
}

func rootsOf(dirs []string) []*mcp.Root {
	roots := []*mcp.Root{}
	for _, dir := range dirs {
		path := filepath.ToSlash(dir)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // C:/… is /C:/… in a URL
		}
		roots = append(roots, &mcp.Root{Name: filepath.Base(dir), URI: (&url.URL{Scheme: "file", Path: path}).String()})
	}
	return roots
}
