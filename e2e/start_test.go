package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// idle is a program that has not been started.
func idle(t *testing.T) *pointsman {
	t.Helper()
	return &pointsman{home: t.TempDir()}
}

// TestStartRefused: what cannot be served is refused with a reason, and
// nothing of the user's is touched.
func TestStartRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, config string
		says         []string
	}{
		{"a tab", "gateway:\n\tlisten: 127.0.0.1:1\n", []string{"config.yaml", "2", "tab"}},
		{"a key twice", "default_model: demo\ndefault_model: demo\n", []string{"config.yaml", "2", "default_model"}},
		{"half written", "providers: {mine: {base_url: \"http://127.0", []string{"config.yaml", "1"}},
		{"an unknown key", "tools:\n  max_round: 3\n", []string{"2", "max_round", "max_rounds"}},
		{"a wrong value", "approvals: {approver: maybe}\n", []string{"approvals.approver", "maybe", "deny"}},
		{"an unknown provider", "default_provider: opnai\n", []string{"1", "opnai", "openai"}},
		{"a provider without an address", "providers: {nobody: {}}\n", []string{"providers.nobody", "base_url"}},
		{"open to other machines", "gateway: {listen: \"0.0.0.0:0\"}\n", []string{"allow_remote"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := idle(t)
			path := filepath.Join(p.home, "config.yaml")
			if err := os.WriteFile(path, []byte(test.config), 0o600); err != nil {
				t.Fatal(err)
			}
			said := p.refused(t)
			for _, part := range test.says {
				contains(t, "the reason", said, part)
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != test.config {
				t.Errorf("the file is now %q, %v", left, err)
			}
		})
	}
	t.Run("no place for its state", func(t *testing.T) {
		p := idle(t)
		if err := os.WriteFile(filepath.Join(p.home, "state"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		contains(t, "the reason", p.refused(t, "--port", "0"), "state directory")
	})
	t.Run("a named file that is absent", func(t *testing.T) {
		p := idle(t)
		path := filepath.Join(p.home, "other.yaml")
		contains(t, "the reason", p.refused(t, "--config", path), "config not found: "+path)
	})
}

// refused starts the program, which must end by itself, and returns its reason.
func (p *pointsman) refused(t *testing.T, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	said, err := p.command(ctx, append([]string{"serve"}, flags...)...).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Fatalf("it was not refused: %v, %v: %s", err, ctx.Err(), said)
	}
	return string(said)
}

// TestConfigurationWhileRunning: a broken file changes nothing, the mended one
// is taken without a restart.
func TestConfigurationWhileRunning(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{})
	path := filepath.Join(p.home, "config.yaml")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("default_model: [half\n")
	await(t, "the fault to be told", func() bool { return strings.Contains(p.stderr.String(), "the running settings stay") })
	p.chatOnce(t.Context(), t, p.fill(`{`+user("@say Still here.")+`}`, "broken"))
	write(strings.Replace(string(good), "scripted/test", "scripted/other", 1))
	await(t, "the mended file", func() bool { return p.status(t).Get("llm.model_id").String() == "scripted/other" })
	p.chatOnce(t.Context(), t, []byte(`{"messages":[{"role":"user","content":"mark mended"}]}`))
	expect(t, "the model", p.about("mark mended")[0].body.Get("model").String(), "other")
}

// TestToldToEnd: a signal ends the program soon, whatever goes on. What waits
// is withdrawn, and no stream looks complete.
func TestToldToEnd(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	stream := p.post(t.Context(), t, p.fill(`{"stream":true,`+user("@say one two\n@hold")+`}`, "stream"))
	scanner := bufio.NewScanner(stream.Body)
	scanner.Scan() // it has begun
	var client sync.WaitGroup
	client.Go(func() {
		response, err := http.DefaultClient.Do(p.request(t.Context(), t, p.writing("late")))
		if err == nil {
			response.Body.Close()
			if response.StatusCode < 500 {
				t.Errorf("the waiting request got %s", response.Status)
			}
		}
	})
	p.pending(t, 1)
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	last := ""
	for scanner.Scan() {
		if scanner.Text() != "" {
			last = scanner.Text()
		}
	}
	client.Wait()
	<-p.exited
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s to end", took)
	}
	expect(t, "the exit code", p.cmd.ProcessState.ExitCode(), 0)
	contains(t, "the stream's last line", last, `"error"`)
	if _, err := os.Stat(filepath.Join(p.folder, "late.txt")); err == nil {
		t.Error("the file was written")
	}
	rows := p.journal(t)
	expect(t, "rows", len(rows), 1)
	expect(t, "the outcome", rows[0].Get("outcome").String(), "withdrawn")
}

// TestToolTrouble: whatever a real server does, the turn goes on and the model
// is told.
func TestToolTrouble(t *testing.T) {
	t.Parallel()
	everything := npm(t, "@modelcontextprotocol/server-everything/dist/index.js")
	s := withFiles(t, "approvals: {approver: allow}\n")
	s.servers["everything"] = map[string]any{"command": "node", "args": []string{everything, "stdio"}}
	s.servers["hasty"] = map[string]any{"command": "node", "args": []string{everything, "stdio"}, "timeout": 300}
	p := serve(t, s)
	if err := os.WriteFile(filepath.Join(p.folder, "big.txt"), []byte(strings.Repeat("0123456789abcdef", 5<<16)), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, call, says, outcome string }{
		{"5 MB", `fs__read_text_file {"path":"%FOLDER%/big.txt"}`, "0123456789abcdef", "ok"},
		{"an error", `fs__read_text_file {"path":"%FOLDER%/absent.txt"}`, "ENOENT", "failed"},
		{"forbidden by the server", `fs__read_text_file {"path":"/etc/passwd"}`, "Access denied", "failed"},
		{"an image", `everything__get-tiny-image {}`, "image", "ok"},
		{"hangs", `hasty__trigger-long-running-operation {"duration":600,"steps":1}`, "300ms", "timeout"},
		{"works again", `hasty__echo {"message":"back"}`, "Echo: back", "ok"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p.chatOnce(t.Context(), t, p.fill(`{`+user("@tool "+test.call)+`}`, test.name))
			told := p.about("mark " + test.name)[1].body.Get("messages.3.content").String()
			contains(t, "what the model is told", told, test.says)
			if len(told) > 70<<10 {
				t.Errorf("the model is told %d bytes", len(told))
			}
			expect(t, "the outcome", p.journal(t)[0].Get("outcome").String(), test.outcome)
		})
	}
	t.Run("crashes", p.crash)
}

// crash kills a server in the middle of a call; the next call has it again.
func (p *pointsman) crash(t *testing.T) {
	var client sync.WaitGroup
	client.Go(func() {
		p.chatOnce(t.Context(), t, p.fill(`{`+user(`@tool everything__trigger-long-running-operation {"duration":600,"steps":1}`)+`}`, "crash"))
	})
	await(t, "the call to begin", func() bool { return p.rows(t)[0].Get("outcome").String() == "" })
	pid := int(p.status(t).Get(`mcp.inventory.#(name=="everything").live.pid`).Int())
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(fmt.Errorf("killing the server: %w", err))
	}
	client.Wait()
	expect(t, "the outcome", p.journal(t)[0].Get("outcome").String(), "unknown")
	answer := p.chatOnce(t.Context(), t, p.fill(`{`+user(`@tool everything__echo {"message":"back"}`)+`}`, "after"))
	contains(t, "the answer", answer.Get("choices.0.message.content").String(), "Echo: back")
}
