package setup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidwall/jsonc"

	"pointsman/gateway/hooks"
	"pointsman/ui/connect/edit"
)

// copilot is the Copilot CLI. Its models come from variables of the environment,
// which can name a command for the key; providers.json can only hold the key
// itself, so it is written when it is asked for.
func (s *Setup) copilot() client {
	home := s.Machine.CopilotHome()
	file := func(name ...string) string { return filepath.Join(append([]string{home}, name...)...) }
	mcp := s.serverPart(edit.JSON{}, "mcpServers", func(o edit.Object) edit.Object {
		return append(typed("local")(o), edit.Field{Key: "tools", Value: []string{"*"}})
	}, file("mcp-config.json"))
	gate := part{name: Hooks, path: file("hooks", "pointsman.json"), whole: func() ([]byte, error) { return hooks.File(s.Gateway.Program) }}
	models := part{
		name: Models, path: s.providersPath(), format: edit.JSON{}, entries: s.copilotModels, ours: oursInProviders, secret: !s.Gateway.Open,
		asked: "the lines for the environment do the same",
	}
	for _, p := range []*part{&mcp, &gate} {
		p.after = "Copilot has it from its next session on"
	}
	if len(s.Gateway.Env) > 0 {
		gate.after += "; start Copilot with the variables of this Pointsman set, POINTSMAN_HOME for example"
	}
	models.after = fmt.Sprintf("choose one with /model, or: copilot --model %s/%s", Name, copilotID(s.Gateway.Default))
	if !s.Gateway.Open {
		models.asked = "it would hold the endpoint's key as it is, for Copilot takes no reference there; the lines for the environment name a command instead"
	}
	if s.Workspace {
		mcp.path, gate.path, models.path = "", "", ""
	}
	return client{
		name: "copilot", title: "Copilot CLI", programs: []string{"copilot"}, traces: []string{home}, parts: known(mcp, gate, models),
		snippet: s.environment(), about: "For the models, put these lines into your shell's profile, or run them before copilot:",
	}
}

// providersPath is where Copilot reads its providers.
func (s *Setup) providersPath() string {
	return cmp.Or(s.Machine.Env("COPILOT_PROVIDERS_CONFIG"), filepath.Join(s.Machine.CopilotHome(), "providers.json"))
}

// copilotID is a model's id in providers.json: a slash would end the provider's
// name.
func copilotID(model string) string { return strings.ReplaceAll(model, "/", "-") }

// copilotModels are our provider and its models in providers.json.
func (s *Setup) copilotModels(_ []byte, key string) ([]edit.Entry, []string, error) {
	provider := edit.Object{
		{Key: "name", Value: Name}, {Key: "type", Value: "openai"}, {Key: "wireApi", Value: "completions"}, {Key: "baseUrl", Value: s.Gateway.Endpoint},
	}
	if key != "" {
		provider = append(provider, edit.Field{Key: "apiKey", Value: key})
	}
	entries := []edit.Entry{{Path: []edit.Step{{Key: "providers"}, {Where: map[string]string{"name": Name}}}, Value: provider}}
	for _, m := range s.Gateway.Models {
		o := edit.Object{{Key: "id", Value: copilotID(m.ID)}, {Key: "provider", Value: Name}, {Key: "wireModel", Value: m.ID}, {Key: "name", Value: m.title()}}
		if m.Output > 0 && m.Context > m.Output {
			o = append(o, edit.Field{Key: "maxPromptTokens", Value: m.Context - m.Output}, edit.Field{Key: "maxOutputTokens", Value: m.Output})
		}
		entries = append(entries, edit.Entry{Path: copilotModelPath(copilotID(m.ID)), Value: o})
	}
	return entries, nil, nil
}

func copilotModelPath(id string) []edit.Step {
	return []edit.Step{{Key: "models"}, {Where: map[string]string{"id": id, "provider": Name}}}
}

// providersFile is what we look at in providers.json.
type providersFile struct {
	Providers []struct {
		Name    string `json:"name"`
		BaseURL string `json:"baseUrl"`
		APIKey  string `json:"apiKey"`
	} `json:"providers"`
	Models []struct {
		ID        string `json:"id"`
		Provider  string `json:"provider"`
		WireModel string `json:"wireModel"`
	} `json:"models"`
}

// readProviders reads providers.json; an empty text is an empty file.
func readProviders(text []byte) (providersFile, error) {
	var f providersFile
	text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
	if strings.TrimSpace(string(text)) == "" {
		return f, nil
	}
	err := json.Unmarshal(jsonc.ToJSON(text), &f)
	return f, err
}

// oursInProviders are our provider and all models of it, also those that the
// gateway no longer has.
func oursInProviders(text []byte) ([]edit.Entry, error) {
	f, err := readProviders(text)
	if err != nil {
		return nil, fmt.Errorf("this is no list of providers: %w", err)
	}
	var entries []edit.Entry
	for _, p := range f.Providers {
		if p.Name == Name {
			entries = append(entries, edit.Entry{Path: []edit.Step{{Key: "providers"}, {Where: map[string]string{"name": Name}}}})
		}
	}
	for _, m := range f.Models {
		if m.Provider == Name {
			entries = append(entries, edit.Entry{Path: copilotModelPath(m.ID)})
		}
	}
	return entries, nil
}

// environment are the lines that have a Copilot CLI use our models.
func (s *Setup) environment() string {
	var b strings.Builder
	line := func(name, value string) {
		if s.Machine.System() == "windows" {
			fmt.Fprintf(&b, "$env:%s = '%s'\n", name, strings.ReplaceAll(value, "'", "''"))
			return
		}
		fmt.Fprintf(&b, "export %s=%s\n", name, shellQuote(value))
	}
	line("COPILOT_PROVIDER_TYPE", "openai")
	line("COPILOT_PROVIDER_BASE_URL", s.Gateway.Endpoint)
	if !s.Gateway.Open {
		line("COPILOT_PROVIDER_API_KEY_COMMAND", s.keyCommand())
	}
	line("COPILOT_MODEL", s.Gateway.Default)
	for _, m := range s.Gateway.Models {
		if m.ID == s.Gateway.Default && m.Output > 0 && m.Context > m.Output {
			line("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", strconv.FormatInt(m.Context-m.Output, 10))
			line("COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", strconv.FormatInt(m.Output, 10))
		}
	}
	if s.Machine.System() == "windows" {
		line("NO_PROXY", strings.TrimPrefix(s.Machine.Env("NO_PROXY")+",127.0.0.1,localhost", ","))
	} else {
		b.WriteString("export NO_PROXY=\"${NO_PROXY:+$NO_PROXY,}127.0.0.1,localhost\"\n")
	}
	return b.String()
}

// keyCommand is the command that prints the endpoint's key, for a shell.
func (s *Setup) keyCommand() string {
	if s.Machine.System() == "windows" {
		return `"` + s.Gateway.Program + `" connect key`
	}
	command := ""
	envText(s.Gateway.Env, func(name, value string) { command += name + "=" + shellQuote(value) + " " })
	return command + shellQuote(s.Gateway.Program) + " connect key"
}

// shellQuote writes a word as a shell takes it.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,@%+", r)
	}
	if text != "" && strings.TrimLeftFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// copilotSDK has no file of its own: a program that uses the SDK takes a snippet.
func (s *Setup) copilotSDK() client {
	quote := func(text string) string { b, _ := json.Marshal(text); return string(b) } // a text cannot fail
	env, key := "", ""
	envText(s.Gateway.Env, func(name, value string) { env += fmt.Sprintf("%s: %s, ", quote(name), quote(value)) })
	if env != "" {
		env = ", env: {" + strings.TrimSuffix(env, ", ") + "}"
	}
	if !s.Gateway.Open {
		key = fmt.Sprintf("\n    apiKey: execFileSync(%s, [\"connect\", \"key\"], {encoding: \"utf8\"}).trim(),", quote(s.Gateway.Program))
	}
	return client{
		name: "copilot-sdk", title: "Copilot SDK", about: "Give this to createSession of @github/copilot-sdk:",
		snippet: fmt.Sprintf(`import { execFileSync } from "node:child_process";

const session = await client.createSession({
  model: %s,
  streaming: true,
  provider: {
    type: "openai",
    wireApi: "completions",
    baseUrl: %s,%s
  },
  mcpServers: {
    pointsman: {type: "local", command: %s, args: ["mcp"], tools: ["*"]%s},
  },
});
`, quote(cmp.Or(s.Gateway.Default, "gpt-6-sol")), quote(s.Gateway.Endpoint), key, quote(s.Gateway.Program), env),
	}
}
