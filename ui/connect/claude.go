package connect

import (
	"path/filepath"
	"regexp"
)

func claudeDesktop() client {
	return client{name: "claude-desktop", title: "Claude Desktop", files: func(m Machine) []file {
		base := m.AppData()
		if base == "" {
			return nil
		}
		d := dialect{program: "Claude Desktop"}
		return []file{{path: filepath.Join(base, "Claude", "claude_desktop_config.json"), level: User, read: jsonServers("mcpServers", d.read)}}
	}}
}

// bracedRefs are ${NAME} and ${NAME:-default}.
var bracedRefs = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\}$`)

// claudeCode reads what the user has for all folders, what they have for this one
// alone, and what the folder itself brings.
func claudeCode() client {
	return client{name: "claude-code", title: "Claude Code", files: func(m Machine) []file {
		d := dialect{program: "Claude Code", refs: bracedRefs}
		own := filepath.Join(m.Home, ".claude.json")
		files := []file{{path: own, level: User, read: jsonServers("mcpServers", d.read)}}
		if m.Folder != "" {
			files = append(files,
				file{path: own, level: Workspace, read: readProject(m.Folder, d)},
				file{path: filepath.Join(m.Folder, ".mcp.json"), level: Workspace, read: jsonServers("mcpServers", d.read)})
		}
		return files
	}}
}

// readProject reads the servers that the user has for one folder.
func readProject(folder string, d dialect) func(data []byte) ([]Found, error) {
	return func(data []byte) ([]Found, error) {
		o, err := parseJSON(data)
		if err != nil {
			return nil, err
		}
		return each(table(table(table(o, "projects"), folder), "mcpServers"), d.read), nil
	}
}
