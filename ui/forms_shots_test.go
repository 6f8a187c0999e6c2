package ui

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"pointsman/gateway/models"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

const shownServers = `default_model: gpt-6-sol
providers:
  deepseek: {api_key: "keychain:deepseek"}
  openai: {api_key: "os.environ/OPENAI_API_KEY"}
  ollama: {}
  公司内部的一个名字很长很长的服务商: {base_url: "https://models.example.com/a/very/long/path/that/goes/on/v1", api_key: "keychain:none"}
mcpServers:
  scratch: {type: builtin}
  github: {command: /nonexistent/npx, args: ["-y", "@modelcontextprotocol/server-github"], env: {GITHUB_TOKEN: "keychain:github_GITHUB_TOKEN", LOG_LEVEL: debug}}
  remote: {url: "http://127.0.0.1:9/mcp", headers: {Authorization: "Bearer ${keychain:remote_Authorization}"}}
  off: {command: sleep, args: ["60"], disabled: true}
  خادم-الملفات-الطويل-جدا: {command: "false"}
`

func TestFormShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	for _, face := range []theme.Choice{theme.Light, theme.Dark} {
		shootServers(t, face)
		shootModels(t, face)
	}
}

func shootServers(t *testing.T, face theme.Choice) {
	long := strings.Repeat("名前が長い🙂", 50)
	b := newFormsBench(t, gatewaySetup{yaml: shownServers + "  " + long + ": {command: 'false'}\n", tools: 500, face: face})
	shot := func(name string) { b.arranged(name + "-" + string(face)) }
	s := b.servers()
	b.until("the servers have settled", func() bool {
		for _, status := range s.view.status {
			if status.Enabled && status.Live.Status == servers.Pending {
				return false
			}
		}
		return len(s.view.tools) == 500
	})
	shot("servers-list")
	s.open("scratch")
	shot("servers-tools")
	s.page.search.SetText("nothing of this")
	shot("servers-tools-none")
	b.tap("Why is “nothing of this” missing?")
	b.sees("is not there:")
	shot("servers-tools-why")
	s.diagnose("scratch")
	shot("servers-diagnostics-off")
	s.notes.onKeep("trace")
	b.until("records are kept", func() bool { return s.notes.stop != nil })
	if _, err := s.ui.client.RestartServer(t.Context(), "scratch"); err != nil {
		t.Fatal(err)
	}
	b.until("it is seen", func() bool { return strings.Contains(s.notes.lines.Text(), "connected") })
	shot("servers-diagnostics")
	s.diagnose(long)
	s.notes.take(diagnostics.Page{DroppedCount: 12, Level: diagnostics.Trace, Entries: []diagnostics.Entry{{Level: diagnostics.Error, Category: diagnostics.Stderr, Message: long}}}, nil)
	shot("servers-diagnostics-long")
	s.notes.take(diagnostics.Page{}, errors.New("the running Pointsman went away: EOF"))
	shot("servers-diagnostics-fault")
	s.notes.onKeep("off")
	b.until("nothing is kept", func() bool { return s.notes.level == diagnostics.Off })
	s.open("github")
	shot("servers-failed")
	b.tap("Edit")
	shot("servers-edit")
	b.tap("Test")
	b.until("it was tried", func() bool { return !strings.Contains(b.words(), "asking for its tools") })
	shot("servers-edit-test")
	s.edit(model.ServerForm{Name: "github", Remote: true, Timeout: "-5", Headers: []model.Pair{{Key: "Authorization", Secret: true}, {Value: "x"}}})
	b.tap("Save")
	shot("servers-faults")
	s.edit(model.ServerForm{})
	shot("servers-add")
	s.edit(model.ServerForm{Name: "files", Command: "npx", Sandbox: model.SandboxOn, Network: true, Write: "${workspaceFolder}\n~/" + long, Deny: "~/private"})
	s.form.scroll.ScrollToBottom()
	shot("servers-sandbox")
	s.onPaste()
	shot("servers-paste")
	s.back()
	s.onPaste()
	b.entry(pasteExample).SetText(`{"mcpServers": {"a": {"command": "npx", "args": ["-y", "server-a"]}, "github": {"command": "x"}, "c": {"url": "https://c.example/mcp", "headers": {"Authorization": "Bearer <TOKEN>"}}, "d": {"command":"uvx","env":{"API_KEY":"abcdefgh1234567"}}}}`)
	b.tap("Next")
	shot("servers-paste-several")
	s.back()
	otherPrograms(t, importedFiles())
	s.onImport()
	b.sees("this is no TOML")
	shot("servers-import")
	for _, c := range s.imports.candidates {
		s.imports.ticks[c.As] = true
	}
	s.imports.plan()
	shot("servers-import-chosen")
	s.back()
	s.onExport()
	shot("servers-export")
	b.tap("Close")
	s.remove("off")
	b.sees("Removed")
	shot("servers-removed")
	empty := newFormsBench(t, gatewaySetup{face: face})
	empty.servers()
	empty.arranged("servers-empty-" + string(face))
}

func shootModels(t *testing.T, face theme.Choice) {
	b := newFormsBench(t, gatewaySetup{yaml: shownServers, face: face})
	if err := b.keychain.Set(t.Context(), "deepseek", "sk-shot"); err != nil {
		t.Fatal(err)
	}
	shot := func(name string) { b.arranged(name + "-" + string(face)) }
	s := b.modelsScreen()
	s.last["openai"] = model.ProviderAnswer{Message: "The provider refused the key."}
	s.set(s.view, nil)
	shot("models-providers")
	tabs := s.front.(*fyne.Container).Objects[0]
	b.tabs(tabs, 1)
	shot("models-choices")
	b.tabs(tabs, 2)
	shot("models-catalogue")
	at := time.Now().Add(time.Minute)
	long := strings.Repeat("provider openai failed (503): 名前が長い overloaded ", 8)
	s.view.health = append(s.view.health,
		models.DeploymentHealth{Group: "coding", Deployment: "openai/gpt-6-sol", BaseURL: "https://api.openai.com/v1/", State: models.Cooling, Until: &at, Requests: 1204, Failures: 4, Share: 0.75, LastError: &models.Failure{Code: models.UpstreamError, Message: long, Time: at}},
		models.DeploymentHealth{Group: "coding", Deployment: "corp/" + strings.Repeat("a-long-model-name-", 8), BaseURL: "https://models.example.com/a/very/long/path/v1/", State: models.Healthy, Requests: 40, InFlight: 2, Share: 0.25},
		models.DeploymentHealth{Group: "gpt-6-luna", Deployment: "openai/gpt-6-luna", BaseURL: "https://api.openai.com/v1/", State: models.Limited, Until: &at, Requests: 3, Failures: 1, Share: 1, LastError: &models.Failure{Message: "provider openai limits our rate: slow down", Time: at}},
		models.DeploymentHealth{Group: "glm-4.6", Deployment: "zai/glm-4.6", BaseURL: "https://api.z.ai/api/paas/v4/", State: models.KeyRefused, Until: &at, Requests: 1, Failures: 1, Share: 1, LastError: &models.Failure{Message: "provider zai refused our key (401): no", Time: at}},
		models.DeploymentHealth{Group: "gpt-6-astra", Deployment: "openai/gpt-6-astra", BaseURL: "https://api.openai.com/v1/", State: models.Trying, InFlight: 1, Requests: 9, Share: 1})
	s.set(s.view, nil)
	shot("models-catalogue-health")
	b.tabs(tabs, 3)
	shot("models-health")
	s.open("deepseek")
	shot("models-edit")
	s.edit(model.ProviderForm{})
	b.tap("Save")
	shot("models-add")
	empty := newFormsBench(t, gatewaySetup{face: face})
	empty.modelsScreen()
	empty.arranged("models-empty-" + string(face))
}
