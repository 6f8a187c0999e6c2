package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// screen is the session's, as a person at it sees and touches it.
type screen struct{ t *testing.T }

// xdotool does something, and returns what it says. It fails where there is
// nothing to do it to.
func (s screen) xdotool(args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), "xdotool", args...)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func (s screen) do(args ...string) string {
	s.t.Helper()
	out, err := s.xdotool(args...)
	if err != nil {
		s.picture()
		s.t.Fatalf("xdotool %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// picture keeps a picture of the screen, where somebody wants one.
func (s screen) picture() {
	if dir := os.Getenv("POINTSMAN_E2E_PICTURES"); dir != "" {
		name := strings.ReplaceAll(s.t.Name(), "/", "-") + ".png"
		_ = exec.CommandContext(s.t.Context(), "import", "-window", "root", filepath.Join(dir, name)).Run()
	}
}

// pane is a window on the screen.
type pane struct {
	screen
	id string
}

// visible returns the id of the window whose title begins so, or "".
func (s screen) visible(title string) string {
	out, _ := s.xdotool("search", "--onlyvisible", "--name", "^"+title) // it fails when there is none
	id, _, _ := strings.Cut(out, "\n")
	return id
}

// await waits for a window whose title begins so.
func (s screen) await(title string) pane {
	s.t.Helper()
	p := pane{screen: s}
	deadline := time.Now().Add(patience)
	for p.id = s.visible(title); p.id == ""; p.id = s.visible(title) {
		if time.Now().After(deadline) {
			s.picture()
			s.t.Fatalf("no window %q came up", title)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return p
}

// gone waits until no window has a title that begins so.
func (s screen) gone(title string) {
	s.t.Helper()
	await(s.t, "the window "+title+" to go", func() bool { return s.visible(title) == "" })
}

// size is the window's size, without its frame, in pixels.
func (p pane) size() (width, height int) {
	p.t.Helper()
	values := map[string]int{}
	for line := range strings.Lines(p.do("getwindowgeometry", "--shell", p.id)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name], _ = strconv.Atoi(value)
	}
	return values["WIDTH"], values["HEIGHT"]
}

// point moves the pointer to a place of the window.
func (p pane) point(x, y int) {
	p.t.Helper()
	p.do("mousemove", "--window", p.id, strconv.Itoa(x), strconv.Itoa(y))
}

// click presses the mouse's button at a place of the window for so long. Negative
// distances count from the right and the bottom.
func (p pane) click(x, y int, held time.Duration) {
	p.t.Helper()
	width, height := p.size()
	if x < 0 {
		x += width
	}
	if y < 0 {
		y += height
	}
	p.point(x, y)
	p.do("mousedown", "1")
	time.Sleep(held)
	p.do("mouseup", "1")
}
