package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/jsonc"
)

// maxPasted bounds a pasted text, in bytes.
const maxPasted = 1 << 20

// maxPastedDepth bounds how deeply a pasted text is nested: far more than any
// entry is.
const maxPastedDepth = 64

// ParseServers reads the MCP servers of a text as READMEs publish them:
// {"mcpServers": …}, VS Code's {"servers": …} and {"mcp": {"servers": …}}, a
// single entry with its name or without (its name is then ""), also without the
// outer braces, with comments and trailing commas, and in a Markdown code block.
// Keys of other programs are left out. The entries may still be at fault: see
// ServerProblems.
func ParseServers(text string) (map[string]MCPServer, error) {
	if len(text) > maxPasted {
		return nil, fmt.Errorf("reading the pasted servers: the text is larger than %d bytes", maxPasted)
	}
	pasted, err := parsePasted(text)
	if err != nil {
		return nil, fmt.Errorf("reading the pasted servers: %w", err)
	}
	servers := map[string]MCPServer{}
	for _, name := range slices.Sorted(maps.Keys(pasted)) {
		entry, ok := pasted[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("reading the pasted servers: %q is no entry of a server, which has a command or a url", name)
		}
		server, err := entryOf(entry)
		if err != nil {
			return nil, fmt.Errorf("reading the pasted server %q: %w", name, err)
		}
		servers[name] = server
	}
	if len(servers) == 0 {
		return nil, errors.New("reading the pasted servers: the text holds none")
	}
	return servers, nil
}

// ServerProblems returns what is wrong, or worth a warning, with one server.
// Their paths begin with "mcpServers.NAME".
func ServerProblems(name string, entry MCPServer) []Problem {
	only := Default()
	only.MCPServers = map[string]MCPServer{name: entry}
	return only.Problems()
}

// parsePasted returns the entries of a pasted text by name.
func parsePasted(text string) (map[string]any, error) {
	var object map[string]any
	data := jsonc.ToJSON([]byte(unfenced(text)))
	if trimmed := strings.TrimSpace(string(data)); !strings.HasPrefix(trimmed, "{") {
		data = jsonc.ToJSON([]byte("{" + strings.TrimRight(trimmed, ", \t\r\n") + "}"))
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("this is no JSON: %w; paste the whole block, with its braces", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text follows the block; paste one block")
	}
	if depthOf(object) > maxPastedDepth {
		return nil, errors.New("the block is nested too deeply")
	}
	return entriesIn(object), nil
}

// unfenced takes a Markdown code block's fences away.
func unfenced(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if !strings.HasPrefix(text, "```") {
		return text
	}
	_, text, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(strings.TrimSpace(text), "```")
}

func depthOf(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			deepest = max(deepest, depthOf(inner))
		}
	case []any:
		for _, inner := range v {
			deepest = max(deepest, depthOf(inner))
		}
	default:
		return 0
	}
	return deepest + 1
}

// entriesIn finds the servers in what programs wrap around them.
func entriesIn(object map[string]any) map[string]any {
	if isEntry(object) {
		return map[string]any{"": object}
	}
	for _, key := range []string{"mcpServers", "servers", "mcp"} {
		inner, ok := object[key].(map[string]any)
		if ok && !isEntry(inner) {
			return entriesIn(inner)
		}
	}
	return object
}

// addressKeys are the names that programs give an entry's url.
var addressKeys = []string{"url", "serverUrl", "httpUrl"}

// isEntry reports whether an object is a server's entry, rather than holds some.
func isEntry(object map[string]any) bool {
	for _, key := range append([]string{"command"}, addressKeys...) {
		if _, ok := object[key].(string); ok {
			return true
		}
	}
	return false
}

// entryOf reads one entry.
func entryOf(entry map[string]any) (MCPServer, error) {
	var server MCPServer
	entry = maps.Clone(entry)
	for _, key := range addressKeys[1:] {
		if _, has := entry["url"]; !has && entry[key] != nil {
			entry["url"] = entry[key]
		}
	}
	text, err := Encode(entry)
	if err != nil {
		return server, err
	}
	err = Decode(text, &server)
	return server, err
}
