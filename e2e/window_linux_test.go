package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
)

// approvalTitle begins the title of the window that asks.
const approvalTitle = "Pointsman approval"

const (
	arming = 900 * time.Millisecond // a little more than until the window takes an answer
	short  = 50 * time.Millisecond  // a click
	long   = 1100 * time.Millisecond
)

// windowed is a program with tray and windows over the real filesystem server.
func windowed(t *testing.T) (*pointsman, screen) {
	t.Helper()
	s := withFiles(t, "approvals: {timeout: 2m}\ntools: {parallel: 10}\n")
	s.door, s.env = []string{}, sessionEnv(t)
	return serve(t, s), screen{t}
}

// making is a request whose model makes a folder, which destroys nothing.
func (p *pointsman) making(name string) []byte {
	return p.fill(`{`+user(`@tool fs__create_directory {"path":"%FOLDER%/%MARK%"}`)+`}`, name)
}

// asks sends a request and waits for the window that asks.
func (p *pointsman) asks(t *testing.T, s screen, body []byte) (pane, <-chan gjson.Result) {
	t.Helper()
	s.gone(approvalTitle) // of the call before
	answer := p.sending(t, body)
	return s.await(approvalTitle), answer
}

// sending sends a request, whose answer comes later.
func (p *pointsman) sending(t *testing.T, body []byte) <-chan gjson.Result {
	t.Helper()
	answer := make(chan gjson.Result, 1)
	go func() { // ends with the test's context
		response, err := http.DefaultClient.Do(p.request(t.Context(), t, body))
		if err != nil {
			return
		}
		defer response.Body.Close()
		if said, err := io.ReadAll(response.Body); err == nil {
			answer <- gjson.ParseBytes(said)
		}
	}()
	return answer
}

func (w pane) approve(held time.Duration) { w.t.Helper(); w.click(-112, -28, held) }
func (w pane) deny()                      { w.t.Helper(); w.click(34, -28, short) }

func (p *pointsman) exists(name string) bool {
	_, err := os.Stat(filepath.Join(p.folder, name))
	return err == nil
}

// row is the newest row of the journal.
func (p *pointsman) row(t *testing.T) gjson.Result {
	t.Helper()
	rows := p.journal(t)
	if len(rows) == 0 {
		t.Fatal("the journal is empty")
	}
	return rows[0]
}

// TestApprovalWindow answers with a real mouse and keyboard.
func TestApprovalWindow(t *testing.T) {
	if !inSession(t) {
		return
	}
	p, s := windowed(t)
	t.Run("approved", func(t *testing.T) { p.testApproved(t, screen{t}) })
	t.Run("held", func(t *testing.T) { p.testHeld(t, screen{t}) })
	t.Run("denied", func(t *testing.T) { p.testDenied(t, screen{t}) })
	t.Run("escape", func(t *testing.T) { p.testEscape(t, screen{t}) })
	t.Run("closed", func(t *testing.T) { p.testClosed(t, screen{t}) })
	t.Run("early", func(t *testing.T) { p.testEarly(t, screen{t}) })
	t.Run("storm", func(t *testing.T) { p.testStorm(t, screen{t}) })
	t.Run("focus", func(t *testing.T) { p.testFocus(t, screen{t}) })
	t.Run("disconnected", func(t *testing.T) { p.testDisconnected(t, screen{t}) })
	t.Run("ten", func(t *testing.T) { p.testTen(t, screen{t}) })
	t.Run("killed", func(t *testing.T) { p.testKilled(t, screen{t}) })
	t.Run("ended", func(t *testing.T) { p.testEnded(t, screen{t}) })
	s.gone(approvalTitle)
}

func (p *pointsman) testApproved(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.making("approved"))
	time.Sleep(arming)
	window.approve(short)
	contains(t, "the answer", receive(t, "the answer", answer).String(), "Successfully created")
	s.gone(approvalTitle)
	expect(t, "the folder is there", p.exists("approved"), true)
	expect(t, "the approver", p.row(t).Get("approver").String(), "desk")
}

// testHeld: what destroys needs the button held.
func (p *pointsman) testHeld(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.writing("held"))
	time.Sleep(arming)
	window.approve(short)
	time.Sleep(arming)
	expect(t, "the file is there after a click", p.exists("held.txt"), false)
	window.approve(long)
	contains(t, "the answer", receive(t, "the answer", answer).String(), "Successfully wrote")
	expect(t, "the file is there", p.exists("held.txt"), true)
}

func (p *pointsman) testDenied(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.making("denied"))
	time.Sleep(arming)
	window.click(150, -72, short) // the reason
	s.do("type", "not this one")
	window.deny()
	contains(t, "the answer", receive(t, "the answer", answer).String(), "not this one")
	p.denied(t, s, "denied")
}

// denied checks that the window is gone, that a call was denied, and that the
// folder which it would have made is not there.
func (p *pointsman) denied(t *testing.T, s screen, folder string) {
	t.Helper()
	s.gone(approvalTitle)
	expect(t, "the folder is there", p.exists(folder), false)
	expect(t, "the outcome", p.row(t).Get("outcome").String(), "denied")
}

func (p *pointsman) testEscape(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.making("escape"))
	window.click(200, 40, short) // gives it the keyboard
	time.Sleep(arming)
	s.do("key", "Escape")
	receive(t, "the answer", answer)
	p.denied(t, s, "escape")
}

// testClosed closes the window by its title bar.
func (p *pointsman) testClosed(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.making("closed"))
	width, _ := window.size()
	window.point(width-10, -10)
	s.do("click", "1")
	receive(t, "the answer", answer)
	p.denied(t, s, "closed")
}

// testEarly: a click that was meant for what was there before approves nothing.
func (p *pointsman) testEarly(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.making("early"))
	window.approve(short)
	window.approve(short)
	time.Sleep(2 * arming)
	expect(t, "the folder is there", p.exists("early"), false)
	expect(t, "it still waits", len(p.pending(t, 1)), 1)
	window.deny()
	receive(t, "the answer", answer)
}

// testStorm types at whatever has the keyboard while the window comes up, and at
// the window.
func (p *pointsman) testStorm(t *testing.T, s screen) {
	storm := make(chan struct{})
	var typing sync.WaitGroup
	typing.Go(func() {
		for {
			select {
			case <-storm:
				return
			default:
				_, _ = s.xdotool("key", "--delay", "2", "Return", "space", "y", "a", "Return", "KP_Enter", "space", "1", "o", "k")
			}
		}
	})
	window, answer := p.asks(t, s, p.making("storm"))
	_, height := window.size()
	time.Sleep(arming)
	window.click(200, 40, short) // gives it the keyboard
	for range 3 {
		s.do("key", "--delay", "2", "Tab", "space", "Tab", "Return", "Tab", "Tab", "space", "Return")
	}
	time.Sleep(arming)
	close(storm)
	typing.Wait()
	expect(t, "the folder is there", p.exists("storm"), false)
	// A storm may have denied, or have opened a menu that the first click closes.
	await(t, "the answer", func() bool {
		select {
		case <-answer:
			return true
		default:
		}
		_, _ = s.xdotool("mousemove", "--window", window.id, "34", strconv.Itoa(height-28), "click", "1") // fails once it is gone
		return false
	})
	expect(t, "the folder is there in the end", p.exists("storm"), false)
	expect(t, "the outcome", p.row(t).Get("outcome").String(), "denied")
}

// testFocus: who types goes on typing where they were.
func (p *pointsman) testFocus(t *testing.T, s screen) {
	if _, err := exec.LookPath("xev"); err != nil {
		t.Skipf("%v", err)
	}
	editor := exec.CommandContext(t.Context(), "xev", "-event", "keyboard", "-name", "editor")
	var typed lockedBuffer
	editor.Stdout = &typed
	if err := editor.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = editor.Process.Kill(); _ = editor.Wait() }()
	there := s.await("editor")
	there.click(20, 20, short)
	await(t, "the editor to have the keyboard", func() bool { id, _ := s.xdotool("getwindowfocus"); return id == there.id })
	const keys = 30
	var typing sync.WaitGroup
	typing.Go(func() {
		for range keys {
			_, _ = s.xdotool("key", "x")
			time.Sleep(20 * time.Millisecond)
		}
	})
	_, answer := p.asks(t, s, p.making("focus"))
	typing.Wait()
	await(t, "every key to reach the editor", func() bool { return strings.Count(typed.String(), "KeyPress event") >= keys })
	id, _ := s.xdotool("getwindowfocus")
	expect(t, "the editor still has the keyboard", id, there.id)
	s.await(approvalTitle).deny()
	receive(t, "the answer", answer)
}

// testDisconnected: a call whose client has gone leaves the screen.
func (p *pointsman) testDisconnected(t *testing.T, s screen) {
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		response, err := http.DefaultClient.Do(p.request(ctx, t, p.making("disconnected")))
		if err == nil {
			response.Body.Close()
		}
		gone <- err
	}()
	s.await(approvalTitle)
	leave()
	if err := receive(t, "the end of the request", gone); err == nil {
		t.Error("the request was answered")
	}
	s.gone(approvalTitle)
	expect(t, "the folder is there", p.exists("disconnected"), false)
}

// testTen: each of ten answers reaches its own call.
func (p *pointsman) testTen(t *testing.T, s screen) {
	var script []string
	for i := range 10 {
		script = append(script, fmt.Sprintf(`@tool fs__create_directory {"path":"%%FOLDER%%/ten-%d"}`, i))
	}
	window, answer := p.asks(t, s, p.fill(`{`+user(strings.Join(script, "\n"))+`}`, "ten"))
	waiting := p.pending(t, 10)
	approved := map[string]bool{} // by path
	for i := range 10 {
		time.Sleep(arming)
		if i%2 == 0 {
			window.approve(short)
		} else {
			window.deny()
		}
		left := p.pending(t, len(waiting)-1)
		for _, req := range waiting {
			if !slices.ContainsFunc(left, func(r approvals.Request) bool { return r.ID == req.ID }) {
				approved[gjson.GetBytes(req.Arguments, "path").String()] = i%2 == 0
			}
		}
		waiting = left
	}
	receive(t, "the answer", answer)
	expect(t, "answers", len(approved), 10)
	for path, yes := range approved {
		_, err := os.Stat(path)
		expect(t, path+" is there", err == nil, yes)
	}
}

// testKilled: killing the windows approves nothing, and they are back soon.
func (p *pointsman) testKilled(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.making("killed"))
	pid, err := strconv.Atoi(s.do("getwindowpid", window.id))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var again pane
	await(t, "the window of another process", func() bool {
		again = pane{s, s.visible(approvalTitle)}
		other, err := s.xdotool("getwindowpid", again.id) // the killed one's may go just now
		return err == nil && other != strconv.Itoa(pid)
	})
	expect(t, "the folder is there", p.exists("killed"), false)
	time.Sleep(arming)
	again.approve(short)
	contains(t, "the answer", receive(t, "the answer", answer).String(), "Successfully created")
}

// testEnded: the windows end without a fault when they are told to.
func (p *pointsman) testEnded(t *testing.T, s screen) {
	window, answer := p.asks(t, s, p.making("ended"))
	pid, err := strconv.Atoi(s.do("getwindowpid", window.id))
	if err != nil {
		t.Fatal(err)
	}
	window.deny()
	receive(t, "the answer", answer)
	s.gone(approvalTitle)
	const fault = "the windows have ended"
	faults := strings.Count(p.stderr.String(), fault)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	await(t, "the windows to end", func() bool { return syscall.Kill(pid, 0) != nil })
	expect(t, "faults", strings.Count(p.stderr.String(), fault), faults)
}
