package connect

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"pointsman/gateway/config"
)

// copilot reads mcp-config.json of the Copilot CLI, and the workspace's files.
// .mcp.json of a workspace is Claude Code's as well.
func copilot() client {
	return client{name: "copilot", title: "Copilot CLI", files: func(m Machine) []file {
		home := m.CopilotHome()
		read := jsonServers("mcpServers", copilotDialect().read)
		files := []file{{path: filepath.Join(home, "mcp-config.json"), level: User, read: read}}
		if m.Folder != "" {
			files = append(files,
				file{path: filepath.Join(m.Folder, ".mcp.json"), level: Workspace, read: read},
				file{path: filepath.Join(m.Folder, ".github", "mcp.json"), level: Workspace, read: read})
		}
		return files
	}}
}

// CopilotHome is the folder of the Copilot CLI.
func (m Machine) CopilotHome() string {
	return cmp.Or(m.Env("COPILOT_HOME"), filepath.Join(m.Home, ".copilot"))
}

var shellRefs = regexp.MustCompile(`^\$(?:\{[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\}|[A-Za-z_][A-Za-z0-9_]*)$`)

func copilotDialect() dialect {
	const loading = "it says how Copilot shows and loads tools"
	return dialect{
		program: "Copilot", refs: shellRefs,
		carries: []string{"workingDirectory", "tools", "timeout", "oauthClientId", "oauthScopes", "oauthPublicClient", "oauthGrantType"},
		lost: map[string]string{
			"deferTools": loading, "disableToolCache": loading, "slowConnectionThresholdMs": loading,
			"filterMapping": "Pointsman gives results to models as they are", "oidc": "Pointsman signs in with OAuth",
		},
	}
}

// notInVariable is what a name of an environment variable cannot hold.
var notInVariable = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// variableName is the environment variable that a secret is expected in.
func variableName(secret string) string {
	name := strings.ToUpper(notInVariable.ReplaceAllString(secret, "_"))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

func copilotTarget() target {
	variable := func(name string) string { return "${" + name + "}" }
	return target{
		title: "Copilot", carries: []string{"tools", "timeout", "oauthClientId", "oauthScopes", "oauthPublicClient", "oauthGrantType"},
		variable: variable,
		secret:   func(name string) string { return variable(variableName(name)) },
		plain:    func(string) (string, bool) { return "", false },
		need: func(name, of string) string {
			return fmt.Sprintf("set the environment variable %s before Copilot starts: the secret %q of server %s", variableName(name), name, of)
		},
		entry:    copilotEntry,
		document: func(servers object, _ map[string]string) object { return object{"mcpServers": servers} },
	}
}

func copilotEntry(s config.MCPServer) object {
	o := shape(s, "local")
	o["tools"] = []string{"*"}
	if s.Tools != nil {
		o["tools"] = s.Tools
	}
	put := func(key string, value any, there bool) {
		if there {
			o[key] = value
		}
	}
	put("timeout", s.Timeout, s.Timeout != 0)
	put("oauthClientId", s.OAuthClientID, s.OAuthClientID != "")
	put("oauthScopes", s.OAuthScopes, len(s.OAuthScopes) > 0)
	put("oauthPublicClient", true, s.OAuthPublicClient)
	put("oauthGrantType", s.OAuthGrantType, s.OAuthGrantType != "")
	return o
}
