package setup

import (
	"maps"
	"path/filepath"
	"slices"

	"pointsman/ui/connect/edit"
)

// mcpPart is a file with our MCP server in it, which the program starts. path is
// the user's own file, inWorkspace that of a workspace: none when empty.
func (s *Setup) mcpPart(format edit.Format, key string, path string, inWorkspace ...string) part {
	return s.serverPart(format, key, nil, path, inWorkspace...)
}

// serverPart is mcpPart with further fields, before and after those of every
// entry.
func (s *Setup) serverPart(format edit.Format, key string, more func(edit.Object) edit.Object, path string, inWorkspace ...string) part {
	if s.Workspace {
		path = ""
		if s.Machine.Folder != "" && len(inWorkspace) > 0 {
			path = filepath.Join(append([]string{s.Machine.Folder}, inWorkspace...)...)
		}
	}
	place := edit.Keys(key, Name)
	return part{name: MCP, path: path, format: format, ours: at(format, place), entries: func([]byte, string) ([]edit.Entry, []string, error) {
		o := edit.Object{{Key: "command", Value: s.Gateway.Program}, {Key: "args", Value: []string{"mcp"}}}
		if len(s.Gateway.Env) > 0 {
			o = append(o, edit.Field{Key: "env", Value: s.Gateway.Env})
		}
		if more != nil {
			o = more(o)
		}
		var notes []string
		if s.Workspace {
			notes = []string{"the file belongs to the folder, and names the program as it is on this machine; think before you share it"}
		}
		// What makes a server of it that is reached over HTTP has to go.
		return []edit.Entry{{Path: place, Value: o, Drop: []string{"url", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"}}}, notes, nil
	}}
}

// typed puts a type before the other fields.
func typed(name string) func(edit.Object) edit.Object {
	return func(o edit.Object) edit.Object {
		return append(edit.Object{{Key: "type", Value: name}}, o...)
	}
}

func (s *Setup) claudeCode() client {
	file := filepath.Join(s.Machine.Home, ".claude.json")
	p := s.serverPart(edit.JSON{}, "mcpServers", typed("stdio"), file, ".mcp.json")
	p.after = "Claude Code has it from its next start on"
	return client{name: "claude-code", title: "Claude Code", programs: []string{"claude"}, traces: []string{file, filepath.Join(s.Machine.Home, ".claude")}, parts: known(p)}
}

func (s *Setup) claudeDesktop() client {
	folder := userFile(s.Machine.AppData(), "Claude")
	p := s.mcpPart(edit.JSON{}, "mcpServers", userFile(folder, "claude_desktop_config.json"))
	p.after = "quit Claude Desktop and start it again"
	return client{name: "claude-desktop", title: "Claude Desktop", traces: []string{folder}, parts: known(p)}
}

func (s *Setup) cursor() client {
	folder := filepath.Join(s.Machine.Home, ".cursor")
	p := s.mcpPart(edit.JSON{}, "mcpServers", filepath.Join(folder, "mcp.json"), ".cursor", "mcp.json")
	p.after = "switch it on in Cursor's settings, under MCP, if it is not"
	return client{name: "cursor", title: "Cursor", programs: []string{"cursor", "cursor-agent"}, traces: []string{folder}, parts: known(p)}
}

// codexPatience is how long Codex waits for a call, in seconds: longer than a
// person may take.
const codexPatience = 3600

func (s *Setup) codex() client {
	more := func(o edit.Object) edit.Object {
		return append(o, edit.Field{Key: "tool_timeout_sec", Value: codexPatience})
	}
	p := s.serverPart(edit.TOML{}, "mcp_servers", more, filepath.Join(s.Machine.CodexHome(), "config.toml"), ".codex", "config.toml")
	p.after = "Codex has it from its next session on"
	return client{name: "codex", title: "Codex", programs: []string{"codex"}, traces: []string{s.Machine.CodexHome()}, parts: known(p)}
}

// envText are the variables in order.
func envText(env map[string]string, write func(name, value string)) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		write(name, env[name])
	}
}
