package config_test

import (
	"reflect"
	"strings"
	"testing"

	"pointsman/gateway/config"
)

func TestParseServers(t *testing.T) {
	files := config.MCPServer{Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/src"}}
	const filesJSON = `{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/src"]}`
	github := config.MCPServer{Type: "http", URL: "https://api.example.com/mcp/", Headers: map[string]config.Secret{"Authorization": "Bearer ${keychain:github}"}}
	const githubJSON = `{"type": "http", "url": "https://api.example.com/mcp/", "headers": {"Authorization": "Bearer ${keychain:github}"}}`
	for name, test := range map[string]struct {
		text string
		want map[string]config.MCPServer
	}{
		"mcpServers":          {`{"mcpServers": {"files": ` + filesJSON + `, "github": ` + githubJSON + `}}`, map[string]config.MCPServer{"files": files, "github": github}},
		"VS Code's file":      {`{"inputs": [], "servers": {"files": ` + filesJSON + `}}`, map[string]config.MCPServer{"files": files}},
		"VS Code's settings":  {`{"editor.tabSize": 4, "mcp": {"servers": {"files": ` + filesJSON + `}}}`, map[string]config.MCPServer{"files": files}},
		"named entry":         {`{"files": ` + filesJSON + `}`, map[string]config.MCPServer{"files": files}},
		"bare entry":          {filesJSON, map[string]config.MCPServer{"": files}},
		"without braces":      {`"files": ` + filesJSON, map[string]config.MCPServer{"files": files}},
		"braces and a comma":  {`"files": ` + filesJSON + ",\n", map[string]config.MCPServer{"files": files}},
		"wrapper, no braces":  {`"mcpServers": {"files": ` + filesJSON + `}`, map[string]config.MCPServer{"files": files}},
		"bare entry's inside": {strings.Trim(filesJSON, "{}"), map[string]config.MCPServer{"": files}},
		"comments and commas": {"// put this\n{/* here */ \"files\": {\"command\": \"npx\", // run\n\"args\": [\"-y\", \"@modelcontextprotocol/server-filesystem\", \"/src\",],},}", map[string]config.MCPServer{"files": files}},
		"slashes in a text":   {`{"a": {"url": "http://x.example//y"}}`, map[string]config.MCPServer{"a": {URL: "http://x.example//y"}}},
		"code block":          {"```json\n{\"files\": " + filesJSON + "}\n```", map[string]config.MCPServer{"files": files}},
		"another's url key":   {`{"a": {"serverUrl": "https://x.example/mcp"}}`, map[string]config.MCPServer{"a": {URL: "https://x.example/mcp"}}},
		"unknown keys":        {`{"a": {"command": "x", "autoApprove": ["y"], "gallery": true}}`, map[string]config.MCPServer{"a": {Command: "x"}}},
		"server named mcp":    {`{"mcp": {"command": "x"}}`, map[string]config.MCPServer{"mcp": {Command: "x"}}},
		"other languages":     {`{"文件 📁": {"command": "x", "env": {"K": "\ud83d\ude00"}}}`, map[string]config.MCPServer{"文件 📁": {Command: "x", Env: map[string]config.Secret{"K": "😀"}}}},
		"time-outs":           {`{"a": {"command": "x", "timeout": 30000, "disabled": true}}`, map[string]config.MCPServer{"a": {Command: "x", Timeout: 30000, Disabled: true}}},
		"at fault, but read":  {`{"a": {"command": "x", "url": "y"}}`, map[string]config.MCPServer{"a": {Command: "x", URL: "y"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.ParseServers(test.text)
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, %v", got, err)
			}
		})
	}
}

func TestParseServersRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"nothing":         {"", "holds none"},
		"words":           {"npx -y server", "no JSON"},
		"cut":             {`{"files": {"command": "np`, "no JSON"},
		"no servers":      {`{"mcpServers": {}}`, "holds none"},
		"other settings":  {`{"editor.tabSize": 4}`, "editor.tabSize"},
		"two blocks":      {`{"a": {"command": "x"}} {"b": {"command": "y"}}`, "one block"},
		"list":            {`[{"command": "x"}]`, "no JSON"},
		"args are a text": {`{"a": {"command": "x", "args": "y"}}`, "args"},
		"deep":            {`{"a": {"command": "x", "env": ` + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100) + `}}`, "deeply"},
		"large":           {strings.Repeat(" ", 2<<20), "larger"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.ParseServers(test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func FuzzParseServers(f *testing.F) {
	for _, seed := range []string{
		`{"mcpServers": {"a": {"command": "x", "args": ["y"]}}}`, `"a": {"url": "http://x",},`, `{"command": 1}`, "```\n{}\n```", `{"mcp":{"servers":{"mcp":{"mcp":{}}}}}`, `// x`, `/*`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		servers, err := config.ParseServers(text)
		if (err == nil) != (len(servers) > 0) {
			t.Fatalf("%d servers, error %v", len(servers), err)
		}
		for name, server := range servers {
			config.ServerProblems(name, server) // whatever it is, it can be judged
			text, err := config.Encode(server)
			if err != nil {
				t.Fatalf("server %q cannot be written: %v", name, err)
			}
			var again config.MCPServer
			if err := config.Decode(text, &again); err != nil {
				t.Fatalf("server %q cannot be read again: %v\n%s", name, err, text)
			}
		}
	})
}
