package connect

import (
	"path/filepath"
	"regexp"
)

var cursorRefs = regexp.MustCompile(`^\$\{(?:env:[^{}]+|workspaceFolder|userHome)\}$`)

func cursor() client {
	return client{name: "cursor", title: "Cursor", files: func(m Machine) []file {
		read := func(folder string) func(data []byte) ([]Found, error) {
			d := dialect{
				program: "Cursor", refs: cursorRefs, strange: true, folder: folder,
				lost: map[string]string{"envFile": "Pointsman reads no file of variables; add them to env"},
			}
			return jsonServers("mcpServers", d.read)
		}
		files := []file{{path: filepath.Join(m.Home, ".cursor", "mcp.json"), level: User, read: read("")}}
		if m.Folder != "" {
			files = append(files, file{path: filepath.Join(m.Folder, ".cursor", "mcp.json"), level: Workspace, read: read(m.Folder)})
		}
		return files
	}}
}
