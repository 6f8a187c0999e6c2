package connect

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pointsman/gateway/config"
)

// vscode reads mcp.json of the user's profile, also of the Insiders, and of the
// workspace.
func vscode() client {
	return client{name: "vscode", title: "VS Code", files: func(m Machine) []file {
		var files []file
		for _, product := range []string{"Code", "Code - Insiders"} {
			if base := m.AppData(); base != "" {
				files = append(files, file{path: filepath.Join(base, product, "User", "mcp.json"), level: User, read: readVSCode("")})
			}
		}
		if m.Folder != "" {
			files = append(files, file{path: filepath.Join(m.Folder, ".vscode", "mcp.json"), level: Workspace, read: readVSCode(m.Folder)})
		}
		return files
	}}
}

// AppData is where desktop programs keep their files; "" when it is not known.
func (m Machine) AppData() string {
	switch m.System() {
	case "windows":
		return m.Env("APPDATA")
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	}
	return cmp.Or(m.Env("XDG_CONFIG_HOME"), filepath.Join(m.Home, ".config"))
}

var vscodeRefs = regexp.MustCompile(`^\$\{(?:input:[^{}]+|env:[^{}]+|workspaceFolder|userHome)\}$`)

// readVSCode reads the servers of a file of VS Code's, with the inputs that they
// need.
func readVSCode(folder string) func(data []byte) ([]Found, error) {
	d := dialect{
		program: "VS Code", refs: vscodeRefs, strange: true, folder: folder, carries: []string{"oauthClientId"},
		lost: map[string]string{
			"envFile":        "Pointsman reads no file of variables; add them to env",
			"dev":            "it is for developing the server",
			"sandboxEnabled": "Pointsman's sandbox has other rules; set `sandbox` yourself",
			"sandbox":        "Pointsman's sandbox has other rules; set `sandbox` yourself",
			"oauth":          "only clientId is carried over",
		},
	}
	return func(data []byte) ([]Found, error) {
		o, err := parseJSON(data)
		if err != nil {
			return nil, err
		}
		inputs := vscodeInputs(o)
		return each(table(o, "servers"), func(name string, raw object) Found {
			if oauth := table(raw, "oauth"); oauth != nil {
				raw["oauthClientId"] = text(oauth, "clientId")
				if len(oauth) == 1 && text(oauth, "clientId") != "" {
					delete(raw, "oauth")
				}
			}
			f := d.read(name, raw)
			for _, id := range f.usedInputs() {
				f.need(id, inputs)
			}
			return f
		}), nil
	}
}

// need adds an input. One that the file does not declare is asked for by its id.
func (f *Found) need(id string, declared map[string]object) {
	in := Input{ID: id, Description: id, Secret: true}
	if o, ok := declared[id]; ok {
		password, _ := o["password"].(bool)
		in = Input{
			ID: id, Description: cmp.Or(text(o, "description"), id), Default: text(o, "default"),
			Options: inputOptions(o), Secret: password,
		}
		if text(o, "type") == "command" {
			f.Lost = append(f.Lost, "input "+id+": VS Code gets it from a command; you are asked for it")
		}
	}
	f.Inputs = append(f.Inputs, in)
}

// inputOptions are what a pickString offers: texts, or objects with a value.
func inputOptions(o object) []string {
	options := list(o, "options")
	values, _ := o["options"].([]any)
	for _, v := range values {
		if option, ok := v.(object); ok && text(option, "value") != "" {
			options = append(options, text(option, "value"))
		}
	}
	return options
}

func vscodeInputs(o object) map[string]object {
	declared := map[string]object{}
	inputs, _ := o["inputs"].([]any)
	for _, v := range inputs {
		if in, ok := v.(object); ok && text(in, "id") != "" {
			declared[text(in, "id")] = in
		}
	}
	return declared
}

func vscodeTarget() target {
	return target{
		title: "VS Code", carries: []string{"oauthClientId"}, own: []string{"${workspaceFolder}", "${userHome}"},
		variable: func(name string) string { return "${env:" + name + "}" },
		secret:   func(name string) string { return "${input:" + name + "}" },
		plain:    func(text string) (string, bool) { return text, !strings.HasPrefix(text, "${") },
		need: func(name, of string) string {
			return fmt.Sprintf("VS Code asks for the secret %q of server %s when it starts it", name, of)
		},
		entry: func(s config.MCPServer) object {
			o := shape(s, "stdio")
			if s.OAuthClientID != "" {
				o["oauth"] = object{"clientId": s.OAuthClientID}
			}
			return o
		},
		document: vscodeDocument,
	}
}

// vscodeDocument declares an input for each secret.
func vscodeDocument(servers object, inputs map[string]string) object {
	declared := []object{}
	for _, id := range slices.Sorted(maps.Keys(inputs)) {
		declared = append(declared, object{"type": "promptString", "id": id, "description": fmt.Sprintf("%s (for %s)", id, inputs[id]), "password": true})
	}
	return object{"inputs": declared, "servers": servers}
}
