package servers

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots; four of the servers in use ask for them all the same.

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// announceRoots says that we have roots, when there are any.
func announceRoots(caps *mcp.ClientCapabilities, dirs []string) {
	if len(dirs) > 0 {
		caps.RootsV2 = &mcp.RootCapabilities{}
	}
}

// addRoots makes the client answer with the directories when a server asks.
func addRoots(client *mcp.Client, dirs []string) {
	client.AddRoots(rootsOf(dirs)...)
}

func rootsOf(dirs []string) []*mcp.Root {
	var roots []*mcp.Root
	for _, dir := range dirs {
		path := filepath.ToSlash(dir)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // C:/… is /C:/… in a URL
		}
		roots = append(roots, &mcp.Root{Name: filepath.Base(dir), URI: (&url.URL{Scheme: "file", Path: path}).String()})
	}
	return roots
}
