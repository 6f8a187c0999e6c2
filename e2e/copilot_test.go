package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// copilot sends prompts, one after the other in one session, through the real
// Copilot CLI or SDK, and returns what it answers to each.
type copilot struct {
	name string
	ask  func(t *testing.T, p *pointsman, prompts ...string) []string
}

func copilots() []copilot {
	return []copilot{
		{"cli", viaCLI("completions")},
		{"cli, responses", viaCLI("responses")},
		{"sdk", func(t *testing.T, p *pointsman, prompts ...string) []string {
			return viaCopilotSDK(t, p, session{streaming: true, wire: "completions"}, prompts)
		}},
		{"sdk, responses, not streamed", func(t *testing.T, p *pointsman, prompts ...string) []string {
			return viaCopilotSDK(t, p, session{wire: "responses"}, prompts)
		}},
		{"sdk, not streamed", func(t *testing.T, p *pointsman, prompts ...string) []string {
			return viaCopilotSDK(t, p, session{wire: "completions"}, prompts)
		}},
	}
}

// copilotFile returns a file of a package that `make copilot` installs.
func copilotFile(t *testing.T, file string) string {
	t.Helper()
	return installed(t, filepath.Join("..", "test", "copilot", "node_modules", "@github", file), "make copilot")
}

// offline is an environment in which Copilot reaches nothing but us.
func offline(home string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "TERM=dumb", "COPILOT_HOME=" + filepath.Join(home, ".copilot"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"), "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "NO_PROXY=127.0.0.1,localhost",
	}, more...)
}

// copilotProgram returns the path of the real Copilot CLI.
func copilotProgram(t *testing.T) string {
	t.Helper()
	arch := strings.ReplaceAll(runtime.GOARCH, "amd64", "x64")
	return copilotFile(t, fmt.Sprintf("copilot-%s-%s/copilot", strings.ReplaceAll(runtime.GOOS, "windows", "win32"), arch))
}

func viaCLI(wire string) func(t *testing.T, p *pointsman, prompts ...string) []string {
	return func(t *testing.T, p *pointsman, prompts ...string) []string {
		t.Helper()
		home := t.TempDir()
		var answers []string
		for i, prompt := range prompts {
			var more []string
			if i > 0 {
				more = append(more, "--continue")
			}
			answers = append(answers, askCLI(t, p, offline(home, "COPILOT_MODEL=scripted/test", "COPILOT_PROVIDER_WIRE_API="+wire), prompt, more...))
		}
		return answers
	}
}

// askCLI sends one prompt through the CLI. The environment names the model.
func askCLI(t *testing.T, p *pointsman, env []string, prompt string, more ...string) string {
	t.Helper()
	args := append([]string{"-p", prompt, "-s", "--no-color", "--allow-all-tools", "--no-ask-user", "--no-auto-update", "--disable-builtin-mcps", "-C", p.folder}, more...)
	env = append(env, "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_BASE_URL="+p.url+"/v1", "COPILOT_PROVIDER_API_KEY="+key)
	return strings.TrimSpace(runCopilot(t, nil, copilotProgram(t), args, env))
}

// session is how the SDK is used.
type session struct {
	streaming bool
	wire      string         // completions or responses
	servers   map[string]any // MCP servers, as the SDK takes them; nil: none
}

func viaCopilotSDK(t *testing.T, p *pointsman, s session, prompts []string) []string {
	t.Helper()
	folder := filepath.Dir(filepath.Dir(filepath.Dir(copilotFile(t, "copilot-sdk"))))
	home := t.TempDir()
	input, err := json.Marshal(map[string]any{
		"baseURL": p.url + "/v1", "apiKey": key, "model": "scripted/test", "home": home, "work": p.folder, "prompts": prompts,
		"streaming": s.streaming, "wire": s.wire, "mcpServers": s.servers,
	})
	if err != nil {
		t.Fatal(err)
	}
	out := runCopilot(t, input, "node", []string{filepath.Join("testdata", "copilot.mjs"), folder}, offline(home))
	var answers []string
	if err := json.Unmarshal([]byte(out), &answers); err != nil {
		t.Fatalf("the SDK printed %q: %v", out, err)
	}
	return answers
}

func runCopilot(t *testing.T, input []byte, program string, args, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdin = env, bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("Copilot: %v\n%s%s", err, out, stderr.String())
	}
	return string(out)
}

// TestCopilot has the real Copilot, offline, talk to the program.
func TestCopilot(t *testing.T) {
	t.Parallel()
	copilotFile(t, "copilot-sdk") // or skip
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	tests := []struct {
		name, prompt string
		deny         string // the reason that a person gives
		says         []string
		requests     int
	}{
		{name: "plain", prompt: "@say Hello, Copilot.", says: []string{"Hello, Copilot."}, requests: 1},
		{name: "tool of ours", prompt: `@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}`, says: []string{"roses are red"}, requests: 2},
		{name: "denied", prompt: `@tool fs__write_file {"path":"%FOLDER%/%MARK%.txt","content":"x"}`, deny: "not today, Copilot", says: []string{"not today, Copilot"}, requests: 2},
		{name: "tool of Copilot's", prompt: `@tool view {"path":"%FOLDER%/poem.txt"}`, says: []string{"roses are red"}, requests: 2},
		{
			name: "both in one turn", prompt: `@tool fs__list_directory {"path":"%FOLDER%"}` + "\n" + `@tool view {"path":"%FOLDER%/poem.txt"}`,
			says: []string{"[FILE] poem.txt", "roses are red"}, requests: 2,
		},
	}
	for i, c := range copilots() {
		for j, test := range tests {
			t.Run(c.name+"/"+test.name, func(t *testing.T) {
				mark := fmt.Sprintf("copilot-%d-%d", i, j)
				var person sync.WaitGroup
				defer person.Wait()
				if test.deny != "" {
					person.Go(func() { p.decide(t, p.pending(t, 1)[0], false, test.deny) })
				}
				answer := c.ask(t, p, string(p.fill("mark %MARK%\n"+test.prompt, mark)))[0]
				for _, part := range test.says {
					contains(t, "the answer", answer, part)
				}
				expect(t, "requests to the provider", len(p.about("mark "+mark)), test.requests)
				if _, err := os.Stat(filepath.Join(p.folder, mark+".txt")); err == nil {
					t.Error("a denied call ran")
				}
			})
		}
	}
}

// TestCopilotSession: what was said and done stays in the session's history,
// with our own hidden calls in it.
func TestCopilotSession(t *testing.T) {
	t.Parallel()
	copilotFile(t, "copilot-sdk") // or skip
	p := serve(t, withFiles(t, ""))
	for i, c := range copilots() {
		t.Run(c.name, func(t *testing.T) {
			mark := fmt.Sprintf("session-%d", i)
			first := `@tool fs__list_directory {"path":"%FOLDER%"}` + "\n" + `@tool view {"path":"%FOLDER%/poem.txt"}`
			answers := c.ask(t, p, string(p.fill("mark %MARK%\n"+first, mark)), "second prompt\n@say And goodbye.")
			contains(t, "the first answer", answers[0], "roses are red")
			expect(t, "the second answer", answers[1], "And goodbye.")
			asked := p.about("mark " + mark)
			expect(t, "requests", len(asked), 3)
			names := asked[2].body.Get("messages.#.tool_calls.#.function.name").Raw
			contains(t, "the calls in the last request", names, `["fs__list_directory","view"]`)
		})
	}
}
