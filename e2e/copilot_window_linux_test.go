package e2e

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestCopilotAtTheWindow has the real Copilot, with nothing but loopback to reach,
// take us for its model and for its MCP server at once. What the model calls
// through the server is answered with a real mouse and keyboard.
func TestCopilotAtTheWindow(t *testing.T) {
	copilotFile(t, "copilot-sdk") // or skip
	if !cutOff(t) {
		return
	}
	p, s := windowed(t)
	for name, ask := range map[string]func(t *testing.T, prompt string) <-chan string{"cli": p.throughCLI, "sdk": p.throughSDK} {
		t.Run(name+"/approved", func(t *testing.T) {
			folder := name + "-approved"
			answer := ask(t, folder)
			window := screen{t}.await(approvalTitle)
			time.Sleep(arming)
			p.until(t, func() { window.approve(short) })
			contains(t, "the answer", receive(t, "the answer", answer), "Successfully created")
			screen{t}.gone(approvalTitle)
			expect(t, "the folder is there", p.exists(folder), true)
			row := p.row(t)
			expect(t, "the door", row.Get("door").String(), "mcp")
			expect(t, "the approver", row.Get("approver").String(), "desk")
		})
		t.Run(name+"/denied", func(t *testing.T) {
			folder := name + "-denied"
			answer := ask(t, folder)
			window := screen{t}.await(approvalTitle)
			time.Sleep(arming)
			window.click(150, -72, short) // the reason
			screen{t}.do("type", "not through Copilot")
			p.until(t, window.deny)
			contains(t, "the answer", receive(t, "the answer", answer), "not through Copilot")
			p.denied(t, screen{t}, folder)
			asked := p.about("mark " + folder)
			expect(t, "requests to the provider", len(asked), 2)
			contains(t, "the model's next request", asked[len(asked)-1].body.Get("messages").Raw, "not through Copilot")
		})
	}
	s.gone(approvalTitle)
}

// until clicks until the click has counted: on a machine with other work a window
// may be seen long before it takes a click.
func (p *pointsman) until(t *testing.T, click func()) {
	t.Helper()
	await(t, "an answer at the window", func() bool {
		click()
		time.Sleep(arming)
		pending, err := p.control.Pending(t.Context())
		return err == nil && len(pending) == 0
	})
}

// through is a prompt whose model makes a folder through our MCP server.
func (p *pointsman) through(folder string) string {
	return string(p.fill("mark %MARK%\n"+`@tool pointsman-fs__create_directory {"path":"%FOLDER%/%MARK%"}`, folder))
}

// throughCLI has the Copilot CLI make a folder; its answer comes later.
func (p *pointsman) throughCLI(t *testing.T, folder string) <-chan string {
	t.Helper()
	h := hookCopilot(t, p, p.through(folder), everything, "COPILOT_PROVIDER_BASE_URL="+p.url+"/v1", "COPILOT_PROVIDER_API_KEY="+key)
	answer := make(chan string, 1)
	go func() { // ends with Copilot
		<-h.done
		answer <- h.out.String()
	}()
	return answer
}

// throughSDK has the Copilot SDK make a folder; its answer comes later.
func (p *pointsman) throughSDK(t *testing.T, folder string) <-chan string {
	t.Helper()
	servers := map[string]any{"pointsman": map[string]any{
		"type": "local", "command": os.Getenv(binaryVariable), "args": []string{"mcp"}, "tools": []string{"*"},
		"env": map[string]string{"POINTSMAN_HOME": p.home, "GATEWAY_API_KEY": key},
	}}
	prompt := p.through(folder)
	answer := make(chan string, 1)
	done := make(chan struct{})
	go func() { // a failure ends it, and the wait for its answer tells
		defer close(done)
		answer <- strings.Join(viaCopilotSDK(t, p, session{streaming: true, wire: "completions", servers: servers}, []string{prompt}), "\n")
	}()
	t.Cleanup(func() { <-done })
	return answer
}
