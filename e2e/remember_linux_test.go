package e2e

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnswers gives the answers in the approval window that say more than yes or
// no, with the mouse.
func TestAnswers(t *testing.T) {
	if !inSession(t) {
		return
	}
	fs := withFiles(t, "approvals: {timeout: 2m}\ntools: {safe: [trigger-long-running-operation]}\n")
	fs.servers["everything"] = map[string]any{"command": "node", "args": []string{npm(t, "@modelcontextprotocol/server-everything/dist/index.js"), "stdio"}}
	fs.door, fs.env = []string{}, sessionEnv(t)
	p := serve(t, fs)
	t.Run("remembered", func(t *testing.T) { p.testRemembered(t, screen{t}) })
	t.Run("edited", func(t *testing.T) { p.testEdited(t, screen{t}) })
	t.Run("long", func(t *testing.T) { p.testLong(t, screen{t}) })

	t.Run("stopped", func(t *testing.T) { p.testStopped(t) })
	t.Run("reopened", func(t *testing.T) { p.testReopened(t, screen{t}) })
}

// rememberAlways has the answer remembered for these arguments, always.
func (w pane) rememberAlways() {
	w.t.Helper()
	w.press(-70, -70)   // the menu
	w.press(-100, -108) // always
	w.press(-250, -108) // these exact arguments
}

// asksAgain sends a request that waits for a person, and denies it.
func (p *pointsman) asksAgain(t *testing.T, s screen, body []byte) {
	t.Helper()
	window, answer := p.asks(t, s, body)
	window.deny()
	receive(t, "the answer", answer)
	s.gone(approvalTitle)
}

// testRemembered: what is remembered is asked about no more, until it is removed
// where it is listed; nothing else is let through.
func (p *pointsman) testRemembered(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.making("again"))
	time.Sleep(arming)
	window.rememberAlways()
	window.approve(short)
	contains(t, "the answer", receive(t, "the answer", answer).String(), "Successfully created")
	await(t, "the rule in the file", func() bool { return strings.Contains(p.file("config.yaml"), "create_directory") })

	if err := os.Remove(filepath.Join(p.folder, "again")); err != nil {
		t.Fatal(err)
	}
	p.chatOnce(t.Context(), t, p.making("again"))
	expect(t, "the folder is there again", p.exists("again"), true)
	expect(t, "the approver", p.row(t).Get("approver").String(), "rule")
	p.asksAgain(t, s, p.making("another"))

	list := p.opened(t)
	list.turnTo("approvals")
	list.picture()
	list.press(-90, 145) // remove
	await(t, "the rule to go", func() bool { return !strings.Contains(p.file("config.yaml"), "create_directory") })
	list.closeWindow()
	s.gone("Pointsman$")
	p.asksAgain(t, s, p.making("again"))
}

// testEdited: the arguments that a person has made of the model's are those that
// run, and everybody is told.
func (p *pointsman) testEdited(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.writing("edited"))
	time.Sleep(arming)
	window.press(-32, 173) // edit
	p.until(t, func() {
		window.click(200, 300, short)
		time.Sleep(doubleClick)
		s.do("key", "ctrl+a")
		s.do("type", "--delay", "10", `{"path":"`+p.folder+`/edited.txt","content":"by a person"}`)
		window.approve(long)
	})
	answered := receive(t, "the answer", answer)
	text, err := os.ReadFile(filepath.Join(p.folder, "edited.txt"))
	expect(t, "the file", string(text), "by a person")
	if err != nil {
		t.Error(err)
	}
	row := p.row(t)
	expect(t, "the journal says that they were edited", row.Get("edited").Bool(), true)
	expect(t, "the arguments in the journal", row.Get("arguments.content").String(), "by a person")
	contains(t, "what the model is told", answered.String(), "edited")
}

// testLong: names of 300 characters in many scripts are shown, approved, and used
// as they are.
func (p *pointsman) testLong(t *testing.T, s screen) {
	var path []string
	for _, part := range []string{"汉字很长的名字", "ملف عربي طويل", "🎉🚂🚦"} {
		for range 2 { // a name has 255 bytes at most
			path = append(path, firstRunes(strings.Repeat(part, 60), 51))
		}
	}
	long := filepath.Join(path...)
	if n := len([]rune(long)); n < 300 {
		t.Fatalf("the path has %d characters", n)
	}
	body := p.fill(`{`+user(`@tool fs__create_directory {"path":"%FOLDER%/`+long+`"}`)+`}`, "long")
	window, answer := p.asks(t, s, body)
	time.Sleep(arming)
	window.still()
	window.picture()
	await(t, "the approval to count", func() bool {
		if window.visible(approvalTitle) == "" {
			return true
		}
		window.approve(short) // so much text takes a while before it can be answered
		return false
	})
	contains(t, "the answer", receive(t, "the answer", answer).String(), "Successfully created")
	expect(t, "the folder is there", p.exists(long), true)
}

func firstRunes(text string, n int) string { return string([]rune(text)[:n]) }

// testStopped: a run that is stopped in the window ends, and says so.
func (p *pointsman) testStopped(t *testing.T) {
	list := p.opened(t)
	ended := make(chan error, 1)
	body := p.fill(`{`+user(`@tool everything__trigger-long-running-operation {"duration":600,"steps":2}`)+`}`, "stopped")
	go func() { // ends with the test's context
		response, err := http.DefaultClient.Do(p.request(t.Context(), t, body))
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				err = errors.New("the client was told that all is well")
			} else {
				err = nil
			}
		}
		ended <- err
	}()
	await(t, "the call to begin", func() bool { return p.inFlight(t) == 1 })
	list.turnTo("activity")
	list.press(-60, 150) // stop
	if err := receive(t, "the end of the request", ended); err != nil {
		t.Error(err)
	}
	await(t, "the journal to say so", func() bool { return p.row(t).Get("outcome").String() == "cancelled" })
	list.picture()
	list.closeWindow()
	list.gone("Pointsman$")
}

// testReopened: closing the main window keeps the program; starting it again
// brings the window back.
func (p *pointsman) testReopened(t *testing.T, s screen) {
	p.opened(t).closeWindow()
	s.gone("Pointsman$")
	expect(t, "it still serves", p.healthy(), true)
	p.opened(t).closeWindow()
	s.gone("Pointsman$")
}
