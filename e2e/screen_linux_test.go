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
		_ = exec.Command("import", "-silent", "-window", "root", filepath.Join(dir, name)).Run()
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

// looks is what the window shows now.
func (p pane) looks() string {
	p.t.Helper()
	out, err := exec.CommandContext(p.t.Context(), "import", "-silent", "-window", p.id, "rgb:-").Output()
	if err != nil {
		p.t.Fatalf("taking a picture: %v", err)
	}
	return string(out)
}

const (
	stillFor  = 250 * time.Millisecond // no animation of ours rests so long
	stillMost = 3 * time.Second        // a cursor that blinks never rests
)

// still waits until the window has drawn all that it has to draw.
func (p pane) still() {
	p.t.Helper()
	before, since := p.looks(), time.Now()
	for end := time.Now().Add(stillMost); time.Since(since) < stillFor && time.Now().Before(end); {
		time.Sleep(30 * time.Millisecond)
		if now := p.looks(); now != before {
			before, since = now, time.Now()
		}
	}
}

// press clicks, and waits until what comes of it is drawn.
func (p pane) press(x, y int) {
	p.t.Helper()
	p.click(x, y, short)
	p.still()
}

// enter types lines into the field at a place of the window. A field takes a
// click for its own when no second one has followed.
func (p pane) enter(x, y int, text string) {
	p.t.Helper()
	p.click(x, y, short)
	time.Sleep(doubleClick)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			p.do("key", "Return")
		}
		p.do("type", "--delay", "10", line)
	}
}

const doubleClick = 400 * time.Millisecond

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
