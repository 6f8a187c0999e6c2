package hooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// DoorNames returns the names under which Copilot starts our own MCP door: those
// of the user's own configuration of it, in Copilot's home folder, whose command
// is this program. A session has one server of a name: where another file gives a
// name to another program, our door is not started for it, and does not attach.
func DoorNames(home, program string) []string {
	data, err := os.ReadFile(filepath.Join(home, "mcp-config.json"))
	if err != nil {
		return nil // none is set up
	}
	var file struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if json.Unmarshal(data, &file) != nil {
		return nil // what cannot be read names nobody
	}
	var names []string
	for name, server := range file.Servers {
		if slices.Contains(server.Args, "mcp") && isProgram(server.Command, program) {
			names = append(names, name)
		}
	}
	return names
}

// isProgram reports whether a command starts the program.
func isProgram(command, program string) bool {
	found, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	one, err := os.Stat(found)
	if err != nil {
		return false
	}
	other, err := os.Stat(program)
	return err == nil && os.SameFile(one, other)
}

// DoorTool returns the tool that a server of that name serves when Copilot calls
// it tool. It reports false when that is not certain: with a dash in the tool's
// own name it could be one of another server.
func DoorTool(server, tool string) (string, bool) {
	own, ok := strings.CutPrefix(tool, plainName(server)+"-")
	return own, ok && own != "" && !strings.Contains(own, "-") && len(tool) < longestTool
}
