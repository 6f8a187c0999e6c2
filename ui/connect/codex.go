package connect

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"pointsman/gateway/config"
)

// codex reads [mcp_servers.NAME] of config.toml.
func codex() client {
	return client{name: "codex", title: "Codex", files: func(m Machine) []file {
		files := []file{{path: filepath.Join(m.CodexHome(), "config.toml"), level: User, read: readCodex}}
		if m.Folder != "" {
			files = append(files, file{path: filepath.Join(m.Folder, ".codex", "config.toml"), level: Workspace, read: readCodex})
		}
		return files
	}}
}

// CodexHome is the folder of Codex.
func (m Machine) CodexHome() string {
	return cmp.Or(m.Env("CODEX_HOME"), filepath.Join(m.Home, ".codex"))
}

func readCodex(data []byte) ([]Found, error) {
	var o object
	if err := toml.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("this is no TOML: %w", err)
	}
	return each(table(o, "mcp_servers"), readCodexServer), nil
}

// codexName is a name of a variable that a reference can have.
var codexName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// readCodexServer reads one server: what it says as text is text, and the
// variables that it names become references.
func readCodexServer(name string, raw object) Found {
	d := dialect{
		program: "Codex", carries: []string{"tools", "timeout", "startTimeout", "disabled"},
		lost: map[string]string{
			"disabled_tools":               "Pointsman lists what is offered, not what is left out; see `tools`",
			"default_tools_approval_mode":  "what asks is Pointsman's to judge",
			"required":                     "Pointsman goes on without a server that is away",
			"supports_parallel_tool_calls": "Pointsman calls side by side as `tools.parallel` says",
			"scopes":                       "scopes need an oauthClientId",
		},
	}
	env, headers, lost := codexVariables(raw)
	renameCodex(raw)
	f := d.read(name, raw)
	f.Lost = append(f.Lost, lost...)
	f.Entry.Env = withReferences(f.Entry.Env, env)
	f.Entry.Headers = withReferences(f.Entry.Headers, headers)
	return f
}

// renameCodex gives keys the names and units that they have here.
func renameCodex(raw object) {
	rename := func(from, to string, value func(any) any) {
		if v, ok := raw[from]; ok {
			delete(raw, from)
			if v = value(v); v != nil {
				raw[to] = v
			}
		}
	}
	same := func(v any) any { return v }
	rename("http_headers", "headers", same)
	rename("enabled_tools", "tools", same)
	rename("enabled", "disabled", func(v any) any {
		if on, ok := v.(bool); ok && !on {
			return true
		}
		return nil
	})
	rename("tool_timeout_sec", "timeout", milliseconds)
	rename("startup_timeout_sec", "startTimeout", milliseconds)
	rename("startup_timeout_ms", "startTimeout", same)
}

// milliseconds turns seconds, whole or not, into milliseconds.
func milliseconds(v any) any {
	switch v := v.(type) {
	case int64:
		return v * 1000
	case float64:
		return int64(v * 1000)
	}
	return v
}

// codexVariables takes out of a server the names of variables that it hands on,
// and returns the reference for each variable and header.
func codexVariables(raw object) (env, headers map[string]config.Secret, lost []string) {
	env, headers = map[string]config.Secret{}, map[string]config.Secret{}
	refer := func(to map[string]config.Secret, key, name, format string) {
		if !codexName.MatchString(name) {
			lost = append(lost, fmt.Sprintf("%s: %q is no name of a variable", key, name))
			return
		}
		to[key] = config.Secret(fmt.Sprintf(format, name))
	}
	names, _ := raw["env_vars"].([]any)
	for _, v := range names {
		name, _ := v.(string)
		if o, ok := v.(object); ok {
			name = text(o, "name")
		}
		refer(env, name, name, "${env:%s}")
	}
	for header, v := range table(raw, "env_http_headers") {
		name, _ := v.(string)
		refer(headers, header, name, "${env:%s}")
	}
	if name := text(raw, "bearer_token_env_var"); name != "" {
		refer(headers, "Authorization", name, "Bearer ${env:%s}")
	}
	delete(raw, "env_vars")
	delete(raw, "env_http_headers")
	delete(raw, "bearer_token_env_var")
	slices.Sort(lost)
	return env, headers, lost
}

// withReferences adds references to what is there as text, which counts.
func withReferences(values, references map[string]config.Secret) map[string]config.Secret {
	for key, ref := range references {
		if values == nil {
			values = map[string]config.Secret{}
		}
		if _, there := values[key]; !there {
			values[key] = ref
		}
	}
	return values
}
