package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// waitVariable says how long TestCopilotWaits leaves a call without an answer.
const waitVariable = "POINTSMAN_E2E_WAIT"

// TestCopilotWaits leaves a call that the real Copilot makes through our MCP server
// without an answer for much longer than Copilot would wait for a silent server:
// it still waits, and gets the result.
func TestCopilotWaits(t *testing.T) {
	t.Parallel()
	program := copilotProgram(t)
	wait := 16 * time.Second // three minutes would show the same
	if text := os.Getenv(waitVariable); text != "" {
		var err error
		if wait, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	p := serve(t, withFiles(t, "approvals: {control: true, timeout: 1h}\n"))
	home := t.TempDir()
	const silence = 7000 // milliseconds that Copilot waits for a silent server
	self := fmt.Sprintf(`{"mcpServers":{"pointsman":{"command":%q,"args":["mcp"],"tools":["*"],"timeout":%d,"env":{"POINTSMAN_HOME":%q}}}}`, os.Getenv(binaryVariable), silence, p.home)
	folder := filepath.Join(home, ".copilot")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "mcp-config.json"), []byte(self), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait+2*patience)
	defer cancel()
	prompt := string(p.fill(`@tool pointsman-fs__create_directory {"path":"%FOLDER%/%MARK%"}`, "waited"))
	cmd := exec.CommandContext(ctx, program, "-p", prompt, "-s", "--no-color", "--allow-all-tools", "--no-ask-user", "--no-auto-update", "--disable-builtin-mcps", "-C", p.folder)
	cmd.Env = offline(home, "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_BASE_URL="+p.url+"/v1", "COPILOT_PROVIDER_API_KEY="+key, "COPILOT_MODEL=scripted/test")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	asked := p.pending(t, 1)[0]
	select {
	case <-time.After(wait):
		p.decide(t, asked, true, "")
		if err := <-ended; err != nil {
			t.Errorf("Copilot ended with %v", err)
		}
	case err := <-ended:
		t.Errorf("Copilot does not wait: %v", err)
	}
	contains(t, "the answer", out.String(), "Successfully created")
	if _, err := os.Stat(filepath.Join(p.folder, "waited")); err != nil {
		t.Error(err)
	}
}
