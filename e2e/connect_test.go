package e2e

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// TestConnectCopilot: the real Copilot reads what `connect apply` has written, as
// its models, as one of its MCP servers and as the gate before its tools; and
// nothing of it is left after `connect undo`.
func TestConnectCopilot(t *testing.T) {
	t.Parallel()
	program := copilotProgram(t) // or skip
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	crowded := "{\r\n\t\"mcpServers\": {\r\n\t\t\"off\": {\"type\": \"local\", \"command\": \"false\", \"args\": [], \"tools\": []}\r\n\t}\r\n}\r\n"
	file := filepath.Join(p.home, ".copilot", "mcp-config.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(crowded), 0o600); err != nil {
		t.Fatal(err)
	}
	_, code := p.cli(t, "connect", "apply", "copilot", "--yes", "--parts", "mcp,hooks,models")
	expect(t, "apply ends with", code, 0)
	checks, code := p.cli(t, "connect", "verify", "copilot", "--json")
	expect(t, "verify ends with", code, 0)
	expect(t, "what was tried", gjson.Get(checks, "#.part").Raw, `["mcp","hooks","models"]`)

	ask := func(mark, prompt string, args ...string) string {
		args = append([]string{"-p", string(p.fill("mark %MARK%\n"+prompt, mark)), "-s", "--no-color", "--allow-all-tools", "--no-ask-user", "--no-auto-update", "--disable-builtin-mcps", "-C", p.folder}, args...)
		lines, code := p.cli(t, "connect", "snippet", "copilot")
		expect(t, "snippet ends with", code, 0)
		name, env := program, offline(p.home, "POINTSMAN_HOME="+p.home, "GATEWAY_API_KEY="+key, "GORACE=atexit_sleep_ms=0")
		if mark == "lines" {
			name, args = "sh", append([]string{"-c", lines + `exec "$0" "$@"`, program}, args...)
		}
		return runCopilot(t, nil, name, args, env)
	}
	var person sync.WaitGroup
	person.Go(func() { p.decide(t, p.pending(t, 1)[0], true, "") })
	ask("providers", `@tool pointsman-fs__write_file {"path":"%FOLDER%/%MARK%.txt","content":"x"}`, "--model", "pointsman/scripted-test")
	person.Wait()
	if _, err := os.Stat(filepath.Join(p.folder, "providers.txt")); err != nil {
		t.Errorf("the approved call did not run: %v", err)
	}
	person.Go(func() { p.decide(t, p.pending(t, 1)[0], false, "not by hand") })
	answer := ask("gate", `@tool create {"path":"%FOLDER%/%MARK%.txt","file_text":"x"}`, "--model", "pointsman/scripted-test")
	person.Wait()
	contains(t, "the answer", answer, "not by hand")

	_, code = p.cli(t, "connect", "undo", "copilot")
	expect(t, "undo ends with", code, 0)
	text, err := os.ReadFile(file)
	if err != nil || string(text) != crowded {
		t.Errorf("undo left %q, %v", text, err)
	}
	for _, gone := range []string{"providers.json", filepath.Join("hooks", "pointsman.json")} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(file), gone)); err == nil {
			t.Errorf("undo left %s", gone)
		}
	}
	if runtime.GOOS != "windows" {
		contains(t, "by the lines of the environment", ask("lines", "@say Hello from the lines."), "Hello from the lines.")
	}
}
