package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/ui/model"
)

// entries are the lines of the main window's navigation, from above.
var entries = []string{"activity", "approvals", "servers", "models", "usage", "connect", "settings", "logs"}

// opened is the program's main window.
func (p *pointsman) opened(t *testing.T) pane {
	t.Helper()
	p.cli(t)
	return mainWindow(t)
}

// mainWindow is the main window, once it has come up, at the size for which the
// places in these tests are true.
func mainWindow(t *testing.T) pane {
	t.Helper()
	window := screen{t}.await("Pointsman$")
	t.Cleanup(func() {
		if t.Failed() {
			window.picture()
		}
	})
	window.do("windowsize", "--sync", window.id, "1080", "700")
	window.still()
	return window
}

// turnTo chooses a screen in the navigation.
func (w pane) turnTo(name string) {
	w.t.Helper()
	w.press(90, 84+40*slices.Index(entries, name))
}

// closeWindow closes a window as its title bar does.
func (w pane) closeWindow() {
	w.t.Helper()
	width, _ := w.size()
	w.point(width-10, -10)
	w.do("click", "1")
}

// state is what the windows and the tray show of the program.
func (p *pointsman) state(t *testing.T) model.State {
	t.Helper()
	var state model.State
	if err := p.control.Get(t.Context(), "/state", &state); err != nil {
		t.Fatal(err)
	}
	return state
}

// file is the text of one of the program's files; "" where there is none.
func (p *pointsman) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.home, name))
	return string(text)
}

// serverNames are the servers that there are.
func (p *pointsman) serverNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, server := range p.status(t).Get("mcp.inventory").Array() {
		names = append(names, server.Get("name").String())
	}
	slices.Sort(names)
	return names
}

// TestFirstStart takes the first steps with the mouse: what is chosen there works.
func TestFirstStart(t *testing.T) {
	if !inSession(t) {
		return
	}
	t.Run("chosen", func(t *testing.T) {
		p := serve(t, setup{bare: true, door: []string{"--show"}, env: sessionEnv(t)})
		window := mainWindow(t)
		await(t, "the demo model", func() bool { // the steps come when the window has seen that nothing is configured
			window.press(314, 394)
			return strings.Contains(p.file("config.yaml"), "default_model: demo")
		})
		window.press(-42, -34) // next
		window.press(314, 294) // the scratch server
		p.awaitServers(t, 1)
		window.still()
		window.press(-42, -34)
		window.press(-42, -34)
		await(t, "the note that the steps were taken", func() bool {
			return exists(filepath.Join(p.home, "state", "welcomed"))
		})

		body := []byte(`{"model":"demo","messages":[{"role":"user","content":"Show me what you can do."}]}`)
		asking, answer := p.asks(t, screen{t}, body)
		time.Sleep(arming)
		asking.approve(long)
		contains(t, "the answer", receive(t, "the answer", answer).String(), "waited until you approved it")
	})
	t.Run("skipped", func(t *testing.T) {
		p := serve(t, setup{bare: true, door: []string{"--show"}, env: sessionEnv(t)})
		window := mainWindow(t)
		await(t, "the note that the steps were shown", func() bool {
			window.press(-42, -34) // skip this step
			return exists(filepath.Join(p.home, "state", "welcomed"))
		})
		expect(t, "servers", len(p.serverNames(t)), 0)
		if text := p.file("config.yaml"); strings.Contains(text, "default_model:") {
			t.Errorf("skipping has configured a model:\n%s", text)
		}
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// planted is a secret that only the keychain may hold.
const planted = "s3cr3t-of-the-form"

// TestServerForm adds a real server through the form, and removes it.
func TestServerForm(t *testing.T) {
	if !inSession(t) {
		return
	}
	script := npm(t, "@modelcontextprotocol/server-everything/dist/index.js")
	s := setup{door: []string{}, env: sessionEnv(t), extra: "log: {level: debug}\n"}
	p := serve(t, s)
	window := p.opened(t)
	window.turnTo("servers")
	window.press(-74, 43) // add a server
	window.enter(550, 95, "everything")
	window.enter(550, 197, "node")
	window.enter(550, 250, script+"\nstdio")
	window.press(415, 344) // add a variable
	window.enter(450, 344, "E2E_TOKEN")
	window.enter(700, 344, planted)
	window.press(-40, -35) // save
	p.awaitServers(t, 1)
	var tools []gjson.Result
	await(t, "its tools", func() bool { tools = p.tools(t); return len(tools) > 5 })
	expect(t, "a tool's server", tools[0].Get("server").String(), "everything")

	t.Run("secret", func(t *testing.T) { p.testSecretKept(t) })
	t.Run("removed", func(t *testing.T) { p.testRemoved(t, pane{screen{t}, window.id}) })
}

// tools are the tools that are offered.
func (p *pointsman) tools(t *testing.T) []gjson.Result {
	t.Helper()
	out, code := p.cli(t, "tools", "--json")
	expect(t, "the exit code of pointsman tools", code, 0)
	return gjson.Parse(out).Array()
}

// testSecretKept: the server has the secret, and else the keychain alone.
func (p *pointsman) testSecretKept(t *testing.T) {
	if len(marked(t, "E2E_TOKEN="+planted)) == 0 {
		t.Error("the server does not have the secret")
	}
	out, err := exec.CommandContext(t.Context(), "secret-tool", "lookup", "service", "pointsman", "username", "everything_E2E_TOKEN").Output()
	if err != nil {
		t.Fatalf("secret-tool: %v", err)
	}
	expect(t, "the keychain's entry", string(out), planted)
	contains(t, "the configuration", p.file("config.yaml"), "E2E_TOKEN: keychain:everything_E2E_TOKEN")
	err = filepath.WalkDir(p.home, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), planted) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if strings.Contains(p.stderr.String(), planted) {
		t.Error("the program has said the secret")
	}
}

// testRemoved: a removed server is gone, and comes back whole.
func (p *pointsman) testRemoved(t *testing.T, window pane) {
	saved := p.file("config.yaml")
	window.press(-38, 42)  // what was saved has been read
	window.press(550, 100) // the server's line
	window.press(781, 128) // remove
	await(t, "the server to go", func() bool { return len(p.serverNames(t)) == 0 })
	await(t, "its process to end", func() bool { return len(marked(t, "E2E_TOKEN="+planted)) == 0 })
	window.still()
	window.press(-86, 42) // undo
	p.awaitServersNamed(t, "everything")
	expect(t, "the configuration", words(p.file("config.yaml")), words(saved))
	await(t, "its process", func() bool { return len(marked(t, "E2E_TOKEN="+planted)) > 0 })
}

// words are those of a text, whatever stands between them.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// awaitServersNamed waits until the configuration names these servers, and they
// are connected.
func (p *pointsman) awaitServersNamed(t *testing.T, names ...string) {
	t.Helper()
	await(t, "the servers "+strings.Join(names, ", "), func() bool { return slices.Equal(p.serverNames(t), names) })
	p.awaitServers(t, len(names))
}
