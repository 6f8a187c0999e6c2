package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shotsVariable names the folder that TestShots writes to; `make shots` sets it.
const shotsVariable = "POINTSMAN_E2E_SHOTS"

// TestShots takes a picture of every screen, light and dark: with data, with
// nothing yet, and with a fault.
func TestShots(t *testing.T) {
	folder := os.Getenv(shotsVariable)
	if folder == "" {
		t.Skipf("%s names no folder; `make shots` does", shotsVariable)
	}
	if !inSession(t) {
		return
	}
	newBus(t) // in the place of notifications that would cover the windows
	for _, theme := range []string{"light", "dark"} {
		for name, take := range map[string]func(*testing.T, func(pane, string), string){"data": shootData, "empty": shootEmpty, "fault": shootFault} {
			t.Run(theme+"-"+name, func(t *testing.T) {
				take(t, func(w pane, what string) {
					time.Sleep(700 * time.Millisecond) // what comes late is drawn, too
					path := filepath.Join(folder, strings.Join([]string{what, name, theme}, "-")+".png")
					if said, err := exec.CommandContext(t.Context(), "import", "-window", w.id, path).CombinedOutput(); err != nil {
						t.Errorf("%s: %v: %s", path, err, said)
					}
				}, theme)
			})
		}
	}
}

// themed is a program with a theme, and some more settings.
func themed(t *testing.T, theme, extra string, servers map[string]any) *pointsman {
	t.Helper()
	return serve(t, setup{
		servers: servers, door: []string{}, env: sessionEnv(t), loose: true,
		extra: "desktop: {theme: " + theme + "}\n" + extra,
	})
}

// tour takes a picture of every screen.
func (w pane) tour(shoot func(pane, string)) {
	for i, name := range entries {
		w.click(90, 84+40*i, short)
		w.point(600, 20) // nothing is pointed at
		shoot(w, name)
	}
}

func shootData(t *testing.T, shoot func(pane, string), theme string) {
	fs := withFiles(t, "").servers["fs"]
	p := themed(t, theme, "tools: {parallel: 10}\n", map[string]any{"filesystem": fs, "scratch": map[string]any{"type": "builtin"},
		"github": map[string]any{"type": "http", "url": "https://api.githubcopilot.com/mcp/", "disabled": true}})
	await(t, "the tools", func() bool { return p.status(t).Get("mcp.tools").Int() > 10 })
	s := screen{t}
	for i, name := range []string{"notes", "plans"} {
		window, answer := p.asks(t, s, p.fill(`{`+user(`@tool filesystem__create_directory {"path":"%FOLDER%/%MARK%"}`)+`}`, name))
		time.Sleep(arming)
		if i == 0 {
			window.approve(short)
		} else {
			window.deny()
		}
		receive(t, "the answer", answer)
	}
	p.chatOnce(t.Context(), t, p.reading("list"))
	s.gone(approvalTitle)
	planned := `@tool update_plan {"steps":[{"description":"Read the release notes","status":"completed"},{"description":"Write the summary","status":"in_progress"},{"description":"Tell the team","status":"pending"}]}` +
		"\n@then\n" + `@tool filesystem__write_file {"path":"%FOLDER%/poem.txt","content":"roses are red\nviolets are blue\n日本語 العربية 🎉\n"}` +
		"\n" + `@tool filesystem__create_directory {"path":"%FOLDER%/summary"}`
	go func() { // ends with the test
		if response, err := http.DefaultClient.Do(p.request(t.Context(), t, p.fill(`{`+user(planned)+`}`, "plan"))); err == nil {
			response.Body.Close()
		}
	}()
	shoot(s.await(approvalTitle), "approval")
	p.opened(t).tour(shoot)
}

func shootEmpty(t *testing.T, shoot func(pane, string), theme string) {
	s := setup{bare: true, door: []string{}, env: sessionEnv(t)}
	if theme == "light" { // a bare program has the system's, which is dark here
		s.env = append(s.env, "FYNE_THEME=light")
	}
	window := serve(t, s).opened(t)
	shoot(window, "first-model")
	window.click(-42, -34, short) // skip
	shoot(window, "first-tools")
	window.click(-42, -34, short)
	shoot(window, "first-copilot")
	window.tour(shoot)
}

func shootFault(t *testing.T, shoot func(pane, string), theme string) {
	p := themed(t, theme, "", map[string]any{
		"a server with a very long name " + strings.Repeat("x", 120): map[string]any{"command": "/no/such/program"},
		"服务器": map[string]any{"type": "http", "url": "http://127.0.0.1:1/mcp"}})
	path := filepath.Join(p.home, "config.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "tools: {max_round: 3}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	p.opened(t).tour(shoot)
}
